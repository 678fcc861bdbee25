import type { PrimitiveType, Schema } from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import {
  canonicalField,
  canonicalLogical,
  type PartitionTexts,
  signedBigEndian,
} from './slow-canonical.ts';
import { deletesOf, type IsDeleted } from './slow-deletes.ts';
import { identityValues, listFilesSlowly, OBJECT_BYTES_MAX, type SlowFile } from './slow-files.ts';
import { parseMetadataSlowly, type SlowMetadata } from './slow-metadata.ts';
import { type SlowParquetFile, salvageParquetSlowly } from './slow-parquet-rows.ts';
import { type SlowParser, slowParser } from './slow-parser.ts';

/**
 * The oracle of the tests: reads a table row by row from its metadata file, without pruning, statistics or
 * anything of shared/table, shared/datafile, shared/parquet or shared/avro: Parquet through hyparquet, Avro
 * through avsc. What it returns must be the same before and after maintenance.
 */
export interface SlowReadOptions {
  readonly store: ObjectStore;
  readonly metadataLocation: string;
  /** The table's current snapshot if absent. */
  readonly snapshotId?: bigint;
  /** Put `_row_id` and `_last_updated_sequence_number` before the columns (v3). */
  readonly withLineage?: boolean;
  /** Reads and parses every file each time where there is none. */
  readonly parser?: SlowParser;
}

/** The rows of one data file, less deleted ones; with a failure, those of the row groups that can be read. */
export interface SlowFileRows {
  readonly filePath: string;
  readonly rows: readonly string[];
  readonly failure?: unknown;
}

const ROW_ID_FIELD_ID = 2_147_483_540;
const LAST_UPDATED_FIELD_ID = 2_147_483_539;

/** The rows of a snapshot as canonical texts, sorted: two tables hold the same rows if these are equal. */
export async function readRowsSlowly(options: SlowReadOptions): Promise<string[]> {
  const files = await readFilesSlowly(options);
  return files
    .flatMap(({ rows, failure }) => {
      if (failure !== undefined) throw failure;
      return rows;
    })
    .sort();
}

/** The rows of a snapshot by data file, in file order; a file that cannot be read does not hide the others. */
export async function readFilesSlowly(options: SlowReadOptions): Promise<SlowFileRows[]> {
  const { store, metadataLocation, withLineage = false, parser = slowParser(store) } = options;
  const metadata = parseMetadataSlowly(await store.read(metadataLocation, OBJECT_BYTES_MAX));
  const snapshotId = options.snapshotId ?? metadata.currentSnapshotId;
  if (snapshotId === undefined) return [];
  const schema = metadata.schemaOf(snapshotId);
  const files = await listFilesSlowly(store, metadata.manifestLists.get(snapshotId)!, parser);
  const deletes = files.filter(({ content }) => content !== 0);
  const answers: SlowFileRows[] = [];
  for (const file of files.filter(({ content }) => content === 0)) {
    const { filePath } = file;
    try {
      const isDeleted = await deletesOf(file, deletes, { store, parser, metadata });
      const parquet = await parser.parquet(file);
      answers.push({
        filePath,
        rows: rowsOf(file, parquet, { metadata, schema, isDeleted, withLineage }),
      });
    } catch (failure) {
      const rows = await salvageRows(file, {
        store,
        deletes,
        parser,
        metadata,
        schema,
        withLineage,
      });
      answers.push({ filePath, rows, failure });
    }
  }
  return answers;
}

interface RowContext {
  readonly metadata: SlowMetadata;
  readonly schema: Schema;
  readonly isDeleted: IsDeleted;
  readonly withLineage: boolean;
}

/** None where not even the footer or the deletes can be read. */
async function salvageRows(
  file: SlowFile,
  context: Omit<RowContext, 'isDeleted'> & {
    readonly store: ObjectStore;
    readonly parser: SlowParser;
    readonly deletes: readonly SlowFile[];
  },
): Promise<string[]> {
  try {
    const isDeleted = await deletesOf(file, context.deletes, context);
    const bytes = await context.store.readRange(file.filePath, 0, file.fileSizeBytes);
    const { root, rowsByPosition } = await salvageParquetSlowly(bytes);
    // Sparse where row groups are missing.
    const rows: SlowParquetFile['rows'][number][] = [];
    for (const [position, row] of rowsByPosition) rows[position] = row;
    return rowsOf(file, { root, rows }, { ...context, isDeleted });
  } catch {
    return [];
  }
}

function rowsOf(file: SlowFile, parquet: SlowParquetFile, context: RowContext): string[] {
  const { metadata, schema, isDeleted, withLineage } = context;
  const partition = partitionTexts(file, schema, metadata);
  const rows: string[] = [];
  for (let position = 0; position < parquet.rows.length; position++) {
    if (!(position in parquet.rows) || isDeleted(parquet, position)) continue;
    const lineage = withLineage ? [lineageText(file, parquet, position)] : [];
    const values = schema.fields.map((field) =>
      canonicalField(field, parquet.root.children, parquet.rows[position]!, partition),
    );
    rows.push([...lineage, ...values].join('|'));
  }
  return rows;
}

function partitionTexts(file: SlowFile, schema: Schema, metadata: SlowMetadata): PartitionTexts {
  const spec = metadata.specs.get(file.specId);
  if (spec === undefined) throw new TypeError(`slow reader: no partition spec ${file.specId}`);
  const texts = new Map<number, string>();
  for (const [fieldId, value] of identityValues(file, spec)) {
    const type = schema.fields.find((field) => field.fieldId === fieldId)?.type as PrimitiveType;
    if (type === undefined) continue;
    const isUnscaled = type.kind === 'decimal' && value instanceof Uint8Array;
    texts.set(fieldId, canonicalLogical(type, isUnscaled ? signedBigEndian(value) : value));
  }
  return texts;
}

function lineageText(file: SlowFile, parquet: SlowParquetFile, position: number): string {
  if (file.firstRowId === null) return 'null|null';
  const rowId =
    storedLong(parquet, position, ROW_ID_FIELD_ID) ?? file.firstRowId + BigInt(position);
  const lastUpdated =
    storedLong(parquet, position, LAST_UPDATED_FIELD_ID) ?? file.dataSequenceNumber;
  return `${rowId}|${lastUpdated}`;
}

function storedLong(parquet: SlowParquetFile, position: number, fieldId: number): bigint | null {
  const node = parquet.root.children.find(({ element }) => element.field_id === fieldId);
  if (node === undefined) return null;
  return (parquet.rows[position]![node.element.name] as bigint | null | undefined) ?? null;
}
