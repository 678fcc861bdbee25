import { assert, IcebergError, parseJson } from '../base/index.ts';
import {
  fieldIdOf,
  identityPartitionValues,
  type OpenedColumns,
  openColumns,
  readColumns,
} from '../datafile/index.ts';
import {
  createSchema,
  type ManifestEntry,
  type MappedField,
  type NestedField,
  parseNameMapping,
  parseSchema,
  type Schema,
  specById,
  type TableMetadata,
  tableProperty,
} from '../iceberg/index.ts';
import { readParquetFooter, type SchemaLeaf } from '../parquet/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { KeyBatch } from './key-batch.ts';
import { hasField, keyFields, keySchemas, mergeFields } from './key-fields.ts';
import { KeyTable } from './key-table.ts';
import { mapDeleteFiles } from './map-delete-files.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { PositionCollector } from './position-collector.ts';

/** The key under which Iceberg Java keeps the schema in a file's footer. */
const SCHEMA_KEY = 'iceberg.schema';

export interface EqualityDeletesOptions {
  readonly store: ObjectStore;
  readonly metadata: TableMetadata;
  /** Live entries of one partition and of global scope, each once. */
  readonly entries: readonly ManifestEntry[];
  readonly budget: MemoryBudget;
  /** Whose deletes they are, for error messages. */
  readonly subject: string;
}

/** The keys of delete files that delete by the same columns. */
interface KeySet {
  /** Ascending, each once. */
  readonly fieldIds: readonly number[];
  readonly fields: readonly NestedField[];
  readonly table: KeyTable;
}

/** Keys of equality delete files, in memory. */
export interface EqualityDeletes {
  /**
   * Positions of the rows of a data file that a delete file with a greater data sequence number deletes. Reads the
   * key columns and nothing else; nothing at all where no deletes are given. Memory: a few pages of each.
   *
   * @param deletes all that apply to the data file, among those that were read
   * @throws invalid-data, unsupported — as `openColumns` and `readColumns`
   */
  matchingRows(dataEntry: ManifestEntry, deletes: readonly ManifestEntry[]): Promise<RoaringBitmap>;
}

/**
 * Reads the key columns of equality delete files. Null is a value like any other; a column is found by its id, and
 * compared in its present type, or in its last one where it was dropped. Memory: the distinct keys.
 *
 * @throws invalid-data — when a file is broken, differs from its manifest entry, or lacks a column it deletes by
 * @throws unsupported — as `keyFields`, for files that are not Parquet, and beyond the memory allowed
 * @see Iceberg spec, "Equality Delete Files"
 */
export async function readEqualityDeletes(
  options: EqualityDeletesOptions,
): Promise<EqualityDeletes> {
  const reader = new EqualityDeletesReader(options);
  await mapDeleteFiles(options.entries, (entry) => reader.readFile(entry));
  return reader;
}

class EqualityDeletesReader implements EqualityDeletes {
  readonly #options: EqualityDeletesOptions;
  readonly #schemas: readonly Schema[];
  readonly #nameMapping: readonly MappedField[] | undefined;
  readonly #keySets = new Map<string, KeySet>();

  constructor(options: EqualityDeletesOptions) {
    const { metadata } = options;
    const mapping = tableProperty(metadata.properties, 'schema.name-mapping.default');
    this.#options = options;
    this.#nameMapping = mapping === undefined ? undefined : parseNameMapping(mapping);
    this.#schemas = keySchemas(metadata);
  }

  async readFile(entry: ManifestEntry): Promise<void> {
    const { store, metadata } = this.#options;
    const { dataFile, dataSequenceNumber } = entry;
    const { filePath } = dataFile;
    const { fieldIds, fields, table } = await this.#keySetOf(entry);
    const opened = await openColumns(
      { dataFile, reader: store.openRanged(filePath, dataFile.fileSizeBytes) },
      {
        fields,
        formatVersion: metadata.formatVersion,
        partitionValues: new Map(),
        nameMapping: this.#nameMapping,
      },
    );
    for (const fieldId of opened.missingFieldIds) {
      throw new IcebergError(
        'invalid-data',
        `${filePath}: an equality delete file without column ${fieldId} that it deletes by`,
      );
    }
    const leaves = keyLeaves(opened, fieldIds);
    for await (const batch of readColumns(opened)) {
      table.add(new KeyBatch(batch, leaves), dataSequenceNumber);
    }
  }

  async matchingRows(
    dataEntry: ManifestEntry,
    deletes: readonly ManifestEntry[],
  ): Promise<RoaringBitmap> {
    const { dataFile, dataSequenceNumber } = dataEntry;
    const keySets = this.#keySetsOf(deletes);
    const matches = new PositionCollector(dataFile.filePath);
    if (keySets.length === 0) return matches.finish();
    const opened = await this.#openDataFile(dataEntry, keySets);
    const leavesOfSets = keySets.map(({ fieldIds }) => keyLeaves(opened, fieldIds));
    let firstRow = 0;
    for await (const batch of readColumns(opened)) {
      for (const [index, { table }] of keySets.entries()) {
        const keys = new KeyBatch(batch, leavesOfSets[index]!);
        table.forEachMatch(keys, dataSequenceNumber, (row) => matches.add(firstRow + row));
      }
      firstRow += batch.rowCount;
    }
    return matches.finish();
  }

  #openDataFile(
    { dataFile, specId }: ManifestEntry,
    keySets: readonly KeySet[],
  ): Promise<OpenedColumns> {
    const { store, metadata } = this.#options;
    const { filePath, fileSizeBytes, partition } = dataFile;
    const fields = mergeFields(keySets.flatMap((keySet) => keySet.fields));
    const spec = specById(metadata, specId);
    return openColumns(
      { dataFile, reader: store.openRanged(filePath, fileSizeBytes) },
      {
        fields,
        formatVersion: metadata.formatVersion,
        partitionValues: identityPartitionValues(createSchema(0, fields), spec, partition),
        nameMapping: this.#nameMapping,
      },
    );
  }

  #keySetsOf(deletes: readonly ManifestEntry[]): readonly KeySet[] {
    const names = new Set(deletes.map((entry) => equalityIds(entry).join()));
    return [...names].map((name) => {
      const keySet = this.#keySets.get(name);
      assert(keySet !== undefined, `deletes: the keys of columns ${name} were not read`);
      return keySet;
    });
  }

  /** Found or made without waiting in between where the table's schemas suffice, so that each is made once. */
  async #keySetOf(entry: ManifestEntry): Promise<KeySet> {
    const fieldIds = equalityIds(entry);
    const name = fieldIds.join();
    const isKnown = fieldIds.every((fieldId) => hasField(this.#schemas, fieldId));
    const schemas = isKnown ? this.#schemas : [...this.#schemas, ...(await this.#ownSchema(entry))];
    const known = this.#keySets.get(name);
    if (known !== undefined) return known;
    const { budget, subject } = this.#options;
    const fields = keyFields(fieldIds, schemas, entry.dataFile.filePath);
    const keySet = { fieldIds, fields, table: new KeyTable(subject, budget) };
    this.#keySets.set(name, keySet);
    return keySet;
  }

  /** The schema that a delete file was written with: the table may have forgotten it. */
  async #ownSchema({ dataFile }: ManifestEntry): Promise<readonly Schema[]> {
    const { filePath, fileSizeBytes } = dataFile;
    const file = await readParquetFooter(this.#options.store.openRanged(filePath, fileSizeBytes));
    const stored = file.metadata.keyValueMetadata?.find(({ key }) => key === SCHEMA_KEY)?.value;
    if (stored === undefined) return [];
    const subject = `${filePath}: ${SCHEMA_KEY}`;
    return [parseSchema(parseJson(stored, subject), subject)];
  }
}

/** Ascending, each once. */
function equalityIds({ dataFile }: ManifestEntry): readonly number[] {
  const fieldIds = [...new Set(dataFile.equalityIds)].sort((one, other) => one - other);
  if (fieldIds.length > 0) return fieldIds;
  throw new IcebergError(
    'invalid-data',
    `${dataFile.filePath}: an equality delete file without equality_ids`,
  );
}

function keyLeaves({ leaves }: OpenedColumns, fieldIds: readonly number[]): readonly SchemaLeaf[] {
  return fieldIds.map((fieldId) => {
    const leaf = leaves.find((candidate) => fieldIdOf(candidate) === fieldId);
    assert(leaf !== undefined, `deletes: no column for field ${fieldId}`);
    return leaf;
  });
}
