import { assert, IcebergError, type RangedReader } from '../base/index.ts';
import type {
  DataFile,
  FormatVersion,
  MappedField,
  NestedField,
  SingleValue,
} from '../iceberg/index.ts';
import { createSchema } from '../iceberg/index.ts';
import {
  type LeafValues,
  type ParquetFile,
  readAhead,
  readParquetFooter,
  type SchemaLeaf,
  sliceLeafValues,
} from '../parquet/index.ts';
import { fieldIdsOf } from './field-ids.ts';
import { leafBatches } from './leaf-batches.ts';
import { type LeafSource, matchFile } from './match-file.ts';
import { targetSchemaFor } from './target-schema.ts';

/** A file up to this size is read whole, in one request; of larger ones only the columns asked for. */
const WHOLE_FILE_BYTES_MAX = 1024 * 1024;

/** A data or delete file, as its manifest entry describes it. */
export interface ColumnsInput {
  readonly dataFile: DataFile;
  readonly reader: RangedReader;
}

export interface ColumnsOptions {
  /** The columns, within their structs; none may be a list or map, or lie in one. */
  readonly fields: readonly NestedField[];
  readonly formatVersion: FormatVersion;
  /** Values of identity-partitioned fields by field id: what columns missing in the file hold. */
  readonly partitionValues: ReadonlyMap<number, SingleValue | null>;
  /** For files that carry no field ids. */
  readonly nameMapping: readonly MappedField[] | undefined;
}

/** A file of which some columns can be read. */
export interface OpenedColumns {
  readonly file: ParquetFile;
  readonly reader: RangedReader;
  /** One for each primitive field, depth first, in the form that Iceberg writes; `element.fieldId` is set. */
  readonly leaves: readonly SchemaLeaf[];
  /** Fields that the file has no column for: their rows hold the partition's value, the default, or null. */
  readonly missingFieldIds: ReadonlySet<number>;
  /** One for each leaf. */
  readonly sources: readonly LeafSource[];
}

/** Consecutive rows of a file. */
export interface ColumnsBatch {
  readonly rowCount: number;
  /** One for each leaf, with `rowCount` entries. */
  readonly columns: readonly LeafValues[];
}

/**
 * Reads a file's footer, and finds its columns for some fields: by id, across renames and promotions.
 * One read, two for a footer beyond 64 KiB.
 *
 * @throws invalid-data — when the file is broken, or has another length or row count than its manifest entry
 * @throws unsupported — when it is not Parquet, or a column does not serve its field
 */
export async function openColumns(
  { dataFile, reader }: ColumnsInput,
  options: ColumnsOptions,
): Promise<OpenedColumns> {
  const { filePath, fileFormat, fileSizeBytes, recordCount } = dataFile;
  if (fileFormat.toUpperCase() !== 'PARQUET') {
    throw new IcebergError('unsupported', `${filePath}: format ${fileFormat}`);
  }
  requireEqual('bytes', reader.fileSizeBytes, fileSizeBytes, filePath);
  const isSmall = fileSizeBytes <= WHOLE_FILE_BYTES_MAX;
  const columnsReader = isSmall ? readAhead(reader) : reader;
  const file = await readParquetFooter(columnsReader);
  requireEqual('rows', file.metadata.numRows, recordCount, filePath);
  const target = targetSchemaFor(createSchema(0, options.fields), { withLineage: false });
  const { formatVersion, partitionValues, nameMapping } = options;
  const fieldIds = fieldIdsOf(file, nameMapping);
  const sources = matchFile(file, fieldIds, { target, formatVersion, partitionValues });
  const missing = target.leaves.filter(({ columnIndex }) => sources[columnIndex]?.kind === 'fill');
  const missingFieldIds = new Set(missing.map(fieldIdOf));
  return { file, reader: columnsReader, leaves: target.leaves, missingFieldIds, sources };
}

/** The field of a leaf of `openColumns`. */
export function fieldIdOf({ element, path }: SchemaLeaf): number {
  assert(element.fieldId !== undefined, `datafile: column ${path.join('.')} has no field id`);
  return element.fieldId;
}

/**
 * All rows of the columns in order, in the form of each field's own type, whatever the file stores. One read for
 * each column chunk and 8 MiB. Memory: a piece of a chunk, its dictionary and one decoded page, for each column.
 *
 * @throws invalid-data, unsupported — as `decodeColumnChunk`, and where values do not fit the field's type
 */
export async function* readColumns(
  opened: OpenedColumns,
): AsyncGenerator<ColumnsBatch, void, undefined> {
  const { file, reader, leaves, sources } = opened;
  for (const [rowGroupIndex, rowGroup] of file.rowGroups.entries()) {
    const rows = { firstRow: 0, rowCount: rowGroup.rowCount };
    const cursors = leaves.map((target) => {
      const source = sources[target.columnIndex];
      assert(source !== undefined && target.maxRepetitionLevel === 0, 'datafile: repeated column');
      const lineage = { dataSequenceNumber: 0n };
      const context = { reader, file, rowGroup, rowGroupIndex, rows, target, lineage };
      return new LeafCursor(leafBatches(source, context), target);
    });
    yield* alignedBatches(cursors, rowGroup.rowCount);
  }
}

/** Cuts the batches of several columns, which end at different rows, to common ones. */
async function* alignedBatches(
  cursors: readonly LeafCursor[],
  rowCount: number,
): AsyncGenerator<ColumnsBatch, void, undefined> {
  for (let row = 0; row < rowCount; ) {
    let count = rowCount - row;
    for (const cursor of cursors) count = Math.min(count, await cursor.fill());
    assert(count > 0, `datafile: a column ends at row ${row} of ${rowCount}`);
    yield { rowCount: count, columns: cursors.map((cursor) => cursor.take(count)) };
    row += count;
  }
  for (const cursor of cursors) await cursor.finish();
}

/** One column's batches, taken in other portions than they come in. */
class LeafCursor {
  readonly #batches: AsyncGenerator<LeafValues, void, undefined>;
  readonly #maxDefinitionLevel: number;
  #batch: LeafValues | undefined;
  #index = 0;
  #valueIndex = 0;

  constructor(batches: AsyncGenerator<LeafValues, void, undefined>, leaf: SchemaLeaf) {
    this.#batches = batches;
    this.#maxDefinitionLevel = leaf.maxDefinitionLevel;
  }

  /** How many rows can be taken; 0 after the last. */
  async fill(): Promise<number> {
    while (this.#batch === undefined || this.#index === this.#batch.valueCount) {
      const next = await this.#batches.next();
      if (next.done === true) return 0;
      this.#batch = next.value;
      this.#index = 0;
      this.#valueIndex = 0;
    }
    return this.#batch.valueCount - this.#index;
  }

  take(rowCount: number): LeafValues {
    const batch = this.#batch;
    assert(batch !== undefined, 'datafile: rows are taken before there are any');
    const start = this.#index;
    const valueStart = this.#valueIndex;
    this.#index += rowCount;
    this.#valueIndex += this.#countValues(batch, start, this.#index);
    if (rowCount === batch.valueCount) return batch;
    const end = this.#index;
    return sliceLeafValues(batch, { start, end, valueStart, valueEnd: this.#valueIndex });
  }

  /** The last checks of a column chunk come after its last row; what it has too many fails them. */
  async finish(): Promise<void> {
    while ((await this.#batches.next()).done !== true);
  }

  #countValues({ definitionLevels }: LeafValues, start: number, end: number): number {
    if (definitionLevels === undefined) return end - start;
    let count = 0;
    for (let index = start; index < end; index++) {
      if (definitionLevels[index] === this.#maxDefinitionLevel) count++;
    }
    return count;
  }
}

function requireEqual(what: string, found: number, expected: number, subject: string): void {
  if (found === expected) return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: the file has ${found} ${what}, its manifest entry says ${expected}`,
  );
}
