import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import {
  addRowIds,
  type FileGroupInput,
  type FileGroupResult,
  hashRows,
  isSameRowIds,
  NO_ROW_IDS,
  rewriteFileGroup,
  tallyRowIds,
} from '../../shared/datafile/index.ts';
import type { RewriteFileGroupOptions } from '../../shared/datafile/types.ts';
import {
  createSchema,
  type DataFile,
  metricsModes,
  type NestedField,
  type PartitionSpec,
  parsePartitionSpec,
  parseSortOrder,
} from '../../shared/iceberg/index.ts';
import { readParquetFooter } from '../../shared/parquet/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { bytesReader } from '../support/file-reader.ts';

const UNPARTITIONED = parsePartitionSpec({ 'spec-id': 0, fields: [] }, 'spec');
const UNSORTED = parseSortOrder({ 'order-id': 0, fields: [] }, 'order');

/** A data file in memory, with what its manifest entry says beyond its size and row count. */
export interface ExampleFile {
  readonly bytes: Uint8Array;
  readonly entry?: Partial<DataFile>;
  readonly dataSequenceNumber?: bigint;
  readonly deletes?: FileGroupInput['deletes'];
}

export interface ExampleRewrite {
  readonly files: readonly ExampleFile[];
  readonly fields: readonly NestedField[];
  readonly formatVersion?: 1 | 2 | 3;
  readonly properties?: Readonly<Record<string, string>>;
  readonly outputSizeBytes?: number;
  readonly partitionSpec?: PartitionSpec;
  /** Its pages can only be copied, so that rows cannot be compared. */
  readonly isOpaque?: boolean;
}

export interface RewriteOutcome extends FileGroupResult {
  /** One for each output. */
  readonly bytes: readonly Uint8Array[];
  readonly store: MemoryObjectStore;
}

/** Runs the rewrite over a store in memory, and checks that no live row and no row id is lost or changed. */
export async function rewrite(example: ExampleRewrite): Promise<RewriteOutcome> {
  const store = new MemoryObjectStore();
  const options = await rewriteOptions(example, store);
  const result = await rewriteFileGroup(options);
  const bytes: Uint8Array[] = [];
  for (const { dataFile } of result.outputs) {
    bytes.push(await store.read(dataFile.filePath, dataFile.fileSizeBytes));
  }
  if (example.isOpaque !== true) await requireSameRows(options, { ...result, bytes });
  return { ...result, bytes, store };
}

async function requireSameRows(
  options: RewriteFileGroupOptions,
  { outputs, bytes, inputRowIds }: FileGroupResult & { readonly bytes: readonly Uint8Array[] },
): Promise<void> {
  const partition = options.inputs[0]?.dataFile.partition ?? [];
  const written = outputs.map(({ dataFile, deletedPositions }, index) => ({
    dataFile,
    deletes: { positions: deletedPositions },
    dataSequenceNumber: -1n,
    reader: bytesReader(bytes[index]!, dataFile.filePath),
  }));
  const before = await hashRows({ ...options, partition, files: options.inputs });
  assert.deepEqual(await hashRows({ ...options, partition, files: written }), before);
  if (inputRowIds === undefined) return;
  let rowIds = NO_ROW_IDS;
  for (const { reader, deletes } of written) {
    const file = await readParquetFooter(reader);
    const tally = await tallyRowIds({ reader, file, deletedPositions: deletes.positions });
    rowIds = addRowIds(rowIds, tally);
  }
  assert.ok(isSameRowIds(rowIds, inputRowIds));
}

export async function rewriteOptions(
  example: ExampleRewrite,
  store: MemoryObjectStore,
): Promise<RewriteFileGroupOptions> {
  const { files, fields, formatVersion = 2, properties = {} } = example;
  const schema = createSchema(0, fields);
  let outputCount = 0;
  return {
    inputs: await Promise.all(files.map(inputOf)),
    schema,
    formatVersion,
    partitionSpec: example.partitionSpec ?? UNPARTITIONED,
    properties,
    metricsModes: metricsModes(schema, UNSORTED, properties),
    outputSizeBytes: example.outputSizeBytes ?? 2 ** 30,
    openOutput: async () => {
      const location = `s3://bucket/data/out-${outputCount++}.parquet`;
      return { location, writer: store.openWriter(location) };
    },
  };
}

async function inputOf(file: ExampleFile, index: number): Promise<FileGroupInput> {
  const { bytes, entry, dataSequenceNumber = 1n, deletes } = file;
  const location = `s3://bucket/data/in-${index}.parquet`;
  const reader = bytesReader(bytes, location);
  const dataFile: DataFile = {
    content: 'data',
    filePath: location,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: entry?.recordCount ?? (await readParquetFooter(reader)).metadata.numRows,
    fileSizeBytes: bytes.length,
    unknownFields: [],
    ...entry,
  };
  return { dataFile, dataSequenceNumber, reader, ...(deletes && { deletes }) };
}

/** Rows of one input that stand in one output. */
export interface SourceRange {
  readonly inputIndex: number;
  readonly firstRow: number;
  readonly rowCount: number;
}

/** For each output the rows of the inputs that its map says it has, none of which may be gone. */
export function sourcesOf(
  { positionMap }: FileGroupResult,
  inputRowCounts: readonly number[],
): readonly (readonly SourceRange[])[] {
  const sources = positionMap.outputRowCounts.map((): SourceRange[] => []);
  for (const [inputIndex, inputRows] of inputRowCounts.entries()) {
    const { outputs } = positionMap.translate(inputIndex, bitmapOf(rowsFrom(0, inputRows)));
    let firstRow = 0;
    for (const [outputIndex, { cardinality: rowCount }] of outputs.entries()) {
      if (rowCount === 0) continue;
      // Rows keep their order, so that those of one output stand side by side in the input, too.
      const range = bitmapOf(rowsFrom(firstRow, rowCount));
      const moved = positionMap.translate(inputIndex, range).outputs[outputIndex]!;
      assert.deepEqual([moved.cardinality, [...moved.ranges()].length], [rowCount, 1]);
      sources[outputIndex]!.push({ inputIndex, firstRow, rowCount });
      firstRow += rowCount;
    }
  }
  return sources;
}

function rowsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

export function bitmapOf(positions: readonly number[]): RoaringBitmap {
  return RoaringBitmap.fromPositions(positions, 'example');
}

/** An optional field. */
export function field(
  fieldId: number,
  name: string,
  type: NestedField['type'] | 'string' | 'int' | 'long' | 'double' | 'float' | 'date',
  more: Partial<NestedField> = {},
): NestedField {
  const full = typeof type === 'string' ? { kind: type } : type;
  return { fieldId, name, isRequired: false, type: full, ...more };
}

/** DuckDB in memory beside a temporary folder; `#name#` in a statement becomes the path of a file there. */
export class DuckDb implements AsyncDisposable {
  readonly #folder: string;
  readonly #instance: DuckDBInstance;

  private constructor(instance: DuckDBInstance) {
    this.#instance = instance;
    this.#folder = mkdtempSync(join(tmpdir(), 'firn-duckdb-'));
  }

  static async open(): Promise<DuckDb> {
    const config = { autoinstall_known_extensions: 'false', threads: '1' };
    return new DuckDb(await DuckDBInstance.create(':memory:', config));
  }

  put(name: string, bytes: Uint8Array): void {
    writeFileSync(join(this.#folder, name), bytes);
  }

  take(name: string): Uint8Array {
    return new Uint8Array(readFileSync(join(this.#folder, name)));
  }

  async query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const connection = await this.#instance.connect();
    try {
      const text = sql.replaceAll(/#([^#]+)#/g, (_, name: string) => join(this.#folder, name));
      const reader = await connection.runAndReadAll(text);
      return reader.getRowObjectsJson();
    } finally {
      connection.closeSync();
    }
  }

  /** The result of a query as a Parquet file. */
  async write(query: string, options = ''): Promise<Uint8Array> {
    await this.query(`COPY (${query}) TO '#written.parquet#' (FORMAT parquet${options})`);
    return this.take('written.parquet');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#instance.closeSync();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
