import type { NestedField } from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { canonicalField, utf8 } from './slow-canonical.ts';
import { readDeletionVectorSlowly } from './slow-deletion-vector.ts';
import { OBJECT_BYTES_MAX, type SlowFile } from './slow-files.ts';
import type { SlowMetadata } from './slow-metadata.ts';
import type { SlowParquetFile } from './slow-parquet-rows.ts';
import type { SlowParser } from './slow-parser.ts';

/** @see Iceberg spec, "Reserved Field IDs" */
const FILE_PATH_FIELD_ID = 2_147_483_546;
const POS_FIELD_ID = 2_147_483_545;

const POSITION_DELETES = 1;
const EQUALITY_DELETES = 2;
const NO_PARTITION: ReadonlyMap<number, string> = new Map();

/** Whether a row of the data file is deleted; every delete file that applies is asked, row by row. */
export type IsDeleted = (parquet: SlowParquetFile, position: number) => boolean;

export interface DeleteContext {
  readonly store: ObjectStore;
  readonly parser: SlowParser;
  readonly metadata: SlowMetadata;
}

/**
 * The deletes that apply to a data file.
 *
 * @see Iceberg spec, "Scan Planning"
 */
export async function deletesOf(
  data: SlowFile,
  deletes: readonly SlowFile[],
  { store, parser, metadata }: DeleteContext,
): Promise<IsDeleted> {
  const positions = await deletedPositions(data, deletes, { store, parser });
  const equalities: IsDeleted[] = [];
  for (const file of deletes) {
    const isGlobal = (metadata.specs.get(file.specId) ?? []).length === 0;
    const isSamePlace = isGlobal || isSamePartition(data, file);
    if (file.content !== EQUALITY_DELETES || !isSamePlace) continue;
    if (file.dataSequenceNumber > data.dataSequenceNumber) {
      equalities.push(await equalityOf(file, { parser, metadata }));
    }
  }
  return (parquet, position) =>
    positions.has(position) || equalities.some((isEqual) => isEqual(parquet, position));
}

async function deletedPositions(
  data: SlowFile,
  deletes: readonly SlowFile[],
  { store, parser }: Omit<DeleteContext, 'metadata'>,
): Promise<Set<number>> {
  const applicable = deletes.filter(
    (file) =>
      file.content === POSITION_DELETES &&
      file.dataSequenceNumber >= data.dataSequenceNumber &&
      (file.referencedDataFile === null || file.referencedDataFile === data.filePath),
  );
  const vector = applicable.find((file) => file.fileFormat === 'PUFFIN');
  if (vector !== undefined) {
    const puffin = await store.read(vector.filePath, OBJECT_BYTES_MAX);
    const start = vector.contentOffset ?? 0;
    return readDeletionVectorSlowly(puffin.subarray(start, start + (vector.contentSizeBytes ?? 0)));
  }
  const positions = new Set<number>();
  for (const file of applicable) {
    if (!isSamePartition(data, file)) continue;
    const parquet = await parser.parquet(file);
    const [path, pos] = [
      columnName(parquet, FILE_PATH_FIELD_ID),
      columnName(parquet, POS_FIELD_ID),
    ];
    for (const row of parquet.rows) {
      if (utf8(row[path] as Uint8Array) === data.filePath) positions.add(Number(row[pos]));
    }
  }
  return positions;
}

async function equalityOf(
  file: SlowFile,
  { parser, metadata }: Omit<DeleteContext, 'store'>,
): Promise<IsDeleted> {
  const fields = file.equalityIds.map((fieldId) => {
    const field = metadata.fieldOf(fieldId);
    if (field === undefined) throw new TypeError(`slow reader: no column ${fieldId} to delete by`);
    return { ...field, isRequired: false };
  });
  const deleted = await parser.parquet(file);
  const texts = new Set(deleted.rows.map((row) => textOf(fields, deleted, row)));
  return (parquet, position) => texts.has(textOf(fields, parquet, parquet.rows[position]!));
}

function textOf(
  fields: readonly NestedField[],
  { root }: SlowParquetFile,
  row: SlowParquetFile['rows'][number],
): string {
  return fields.map((field) => canonicalField(field, root.children, row, NO_PARTITION)).join('|');
}

function columnName({ root }: SlowParquetFile, fieldId: number): string {
  const node = root.children.find(({ element }) => element.field_id === fieldId);
  if (node !== undefined) return node.element.name;
  throw new TypeError(`slow reader: a position delete file without column ${fieldId}`);
}

function isSamePartition(one: SlowFile, other: SlowFile): boolean {
  return one.specId === other.specId && one.partitionText === other.partitionText;
}
