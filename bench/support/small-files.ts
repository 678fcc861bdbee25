import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataFile, NestedField, PartitionField } from '../../shared/iceberg/index.ts';
import { readParquetFooter } from '../../shared/parquet/index.ts';
import { bytesReader } from '../../test/support/file-reader.ts';
import {
  SMALL_DAY_COUNT,
  SMALL_FILE_COUNT,
  SMALL_FILE_ROW_COUNT,
  SMALL_FILES_PER_DAY,
} from './small-shape.ts';

const DAY_FIRST = 20_700;
const DAY_MICROS = 86_400_000_000;
const ROW_MICROS = Math.floor(DAY_MICROS / (SMALL_FILES_PER_DAY * SMALL_FILE_ROW_COUNT));

/** Events as they are met: a key, times, dictionary columns, free text, decimals of two widths, nulls; with SQL. */
const COLUMNS = [
  ['id', { kind: 'long' }, 'id'],
  ['event_time', { kind: 'timestamptz' }, 'make_timestamptz(time_us)'],
  ['received_at', { kind: 'timestamptz' }, 'make_timestamptz(time_us + h % 900000)'],
  ['user_id', { kind: 'long' }, '(h // 3) % 50000'],
  ['country', { kind: 'string' }, "['DE', 'FR', 'NL', 'IN', 'US', 'BR', 'JP'][1 + h % 7]"],
  ['device', { kind: 'string' }, "'device-' || (h // 7) % 40"],
  [
    'path',
    { kind: 'string' },
    "'/shop/' || (h // 11) % 900 || '/' || substr(md5(h::VARCHAR), 1, 20)",
  ],
  ['referrer', { kind: 'string' }, "if(h % 3 = 0, NULL, 'https://site-' || h % 60 || '.example/')"],
  [
    'amount',
    { kind: 'decimal', precision: 12, scale: 2 },
    '((h % 9000000) * 0.01)::DECIMAL(12, 2)',
  ],
  [
    'balance',
    { kind: 'decimal', precision: 38, scale: 10 },
    '((h % 77000000000) * 0.001)::DECIMAL(38, 10)',
  ],
  ['score', { kind: 'double' }, 'if(h % 11 = 0, NULL, h / 1e9)'],
  ['is_new', { kind: 'boolean' }, 'h % 2 = 0'],
] as const satisfies readonly (readonly [string, NestedField['type'], string])[];

export const SMALL_FIELDS: readonly NestedField[] = COLUMNS.map(([name, type], index) => ({
  fieldId: index + 1,
  name,
  isRequired: false,
  type,
}));

export const SMALL_PARTITION_FIELDS: readonly PartitionField[] = [
  { sourceIds: [2], fieldId: 1000, name: 'event_time_day', transform: { kind: 'day' } },
];

/** The name of a file in the folder, and in the table. */
export function smallFileName(fileIndex: number): string {
  return `${String(fileIndex).padStart(5, '0')}.parquet`;
}

/** Lets DuckDB write all files. */
export async function writeSmallFiles(duckDb: DuckDBConnection, folder: string): Promise<void> {
  for (let fileIndex = 0; fileIndex < SMALL_FILE_COUNT; fileIndex++) {
    await writeRows(duckDb, rowsOf(fileIndex), join(folder, smallFileName(fileIndex)));
  }
}

/** Rows of ids from the first on, all of the first day. */
export function writeRowsOfFirstDay(
  duckDb: DuckDBConnection,
  ids: { readonly first: number; readonly end: number },
  path: string,
): Promise<void> {
  const timeSql = `${DAY_FIRST * DAY_MICROS} + id % ${DAY_MICROS}`;
  return writeRows(duckDb, rowsSql(ids, timeSql), path);
}

async function writeRows(duckDb: DuckDBConnection, sql: string, path: string): Promise<void> {
  const fieldIds = SMALL_FIELDS.map(({ name, fieldId }) => `${name}: ${fieldId}`).join();
  await duckDb.run(
    `COPY (${sql}) TO '${path}' (FORMAT parquet, COMPRESSION zstd, FIELD_IDS {${fieldIds}})`,
  );
}

function rowsOf(fileIndex: number): string {
  const first = fileIndex * SMALL_FILE_ROW_COUNT;
  const timeFirst = DAY_FIRST * DAY_MICROS;
  const daysBefore = Math.floor(fileIndex / SMALL_FILES_PER_DAY);
  const idOfDay = daysBefore * SMALL_FILES_PER_DAY * SMALL_FILE_ROW_COUNT;
  return rowsSql(
    { first, end: first + SMALL_FILE_ROW_COUNT },
    `${timeFirst + daysBefore * DAY_MICROS} + (id - ${idOfDay}) * ${ROW_MICROS}`,
  );
}

/** @param timeSql microseconds since the epoch */
function rowsSql(ids: { readonly first: number; readonly end: number }, timeSql: string): string {
  const columns = COLUMNS.map(([name, , sql]) => `${sql} AS ${name}`).join();
  return `SELECT ${columns} FROM (
    SELECT id, (hash(id) >> 1)::BIGINT AS h, ${timeSql} AS time_us
    FROM range(${ids.first}, ${ids.end}) AS ids(id))`;
}

/** The day of a file's rows. */
export function smallFilePartition(fileIndex: number): DataFile['partition'] {
  return [DAY_FIRST + (Math.floor(fileIndex / SMALL_FILES_PER_DAY) % SMALL_DAY_COUNT)];
}

/** A file's bytes, and what the writer of its manifest entry would know of it; it has one row group. */
export async function readSmallFile(path: string): Promise<{
  readonly bytes: Uint8Array;
  readonly fields: Omit<DataFile, 'filePath' | 'partition'>;
}> {
  const bytes = new Uint8Array(await readFile(path));
  const { metadata, rowGroups } = await readParquetFooter(bytesReader(bytes));
  const chunks = rowGroups[0]!.chunks;
  const byField = <Value>(value: (chunk: (typeof chunks)[number]) => Value | undefined) =>
    new Map(
      chunks.flatMap((chunk, index) => {
        const found = value(chunk);
        return found === undefined ? [] : [[index + 1, found] as const];
      }),
    );
  // Statistics of decimals have another byte order than bounds.
  const isBounded = (index: number) => SMALL_FIELDS[index]?.type.kind !== 'decimal';
  return {
    bytes,
    fields: {
      content: 'data',
      fileFormat: 'PARQUET',
      recordCount: metadata.numRows,
      fileSizeBytes: bytes.length,
      columnSizes: byField(({ metaData }) => metaData.totalCompressedSize),
      valueCounts: byField(({ metaData }) => metaData.numValues),
      nullValueCounts: byField(({ metaData }) => metaData.statistics?.nullCount),
      lowerBounds: byField(({ metaData, leaf }) =>
        isBounded(leaf.columnIndex) ? metaData.statistics?.minValue : undefined,
      ),
      upperBounds: byField(({ metaData, leaf }) =>
        isBounded(leaf.columnIndex) ? metaData.statistics?.maxValue : undefined,
      ),
      splitOffsets: rowGroups.map((group) => group.chunks[0]!.range.offset),
      unknownFields: [],
    },
  };
}
