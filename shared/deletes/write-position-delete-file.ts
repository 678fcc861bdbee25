import { assert } from '../base/index.ts';
import { encodeUtf8 } from '../bytes/index.ts';
import { encodeOptionsFor, type OpenedOutput } from '../datafile/index.ts';
import {
  createSchema,
  type DataFile,
  encodeSingleValue,
  type Properties,
  type SingleValue,
} from '../iceberg/index.ts';
import {
  buildSchemaTree,
  ColumnChunkEncoder,
  type LeafValues,
  ParquetFileWriter,
  type ParquetWriteResult,
  repeatPhysicalValue,
  type SchemaLeaf,
} from '../parquet/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import {
  FILE_PATH_FIELD,
  FILE_PATH_FIELD_ID,
  POS_FIELD,
  POS_FIELD_ID,
  POSITION_DELETE_ELEMENTS,
  POSITION_DELETE_KEY_VALUES,
} from './layout.ts';

/** 8 MiB of positions. */
const ROW_GROUP_ROWS = 2 ** 20;

/** Rows handed to the encoder at once. */
const BATCH_ROWS = 20_000;

const INT64_BYTES = 8;
const SCHEMA = createSchema(0, [FILE_PATH_FIELD, POS_FIELD]);

export interface PositionDeleteFileOptions {
  /** The data file whose rows are deleted, as its manifest entry describes it. */
  readonly dataFile: DataFile;
  /** At least one; all below the data file's record count. */
  readonly positions: RoaringBitmap;
  /** The table's properties as they stand: `write.parquet.*` are used. */
  readonly properties: Properties;
  readonly output: OpenedOutput;
}

/**
 * Writes a position delete file of one data file (v2): sorted, with equal bounds of `file_path` and
 * `referenced_data_file` set, so that all engines take it for that data file alone.
 *
 * Memory: 16 MiB. When it throws, the output was given up.
 *
 * @returns its manifest fields; spec and partition are the data file's
 * @throws invalid-config — when a table property is malformed
 * @see Iceberg spec, "Position Delete Files"
 */
export async function writePositionDeleteFile(
  options: PositionDeleteFileOptions,
): Promise<DataFile> {
  const { output } = options;
  try {
    return await writeFile(options);
  } catch (error) {
    await output.writer.abort();
    throw error;
  }
}

async function writeFile(options: PositionDeleteFileOptions): Promise<DataFile> {
  const { dataFile, positions, properties, output } = options;
  assert(!positions.isEmpty, `${dataFile.filePath}: no positions to delete`);
  const { leaves } = buildSchemaTree(POSITION_DELETE_ELEMENTS, output.location);
  const encodeOptionsOf = encodeOptionsFor(SCHEMA, properties);
  const writer = new ParquetFileWriter(output.writer, {
    schema: POSITION_DELETE_ELEMENTS,
    keyValueMetadata: POSITION_DELETE_KEY_VALUES,
  });
  const path = encodeUtf8(dataFile.filePath);
  let [first, last] = [-1, -1];
  for (const rows of rowGroups(positions)) {
    for (const leaf of leaves) {
      const encoder = new ColumnChunkEncoder(leaf, encodeOptionsOf(leaf), output.location);
      for (const batch of batchesOf(leaf, path, rows)) encoder.add(batch);
      await writer.addEncodedChunk(encoder.finish());
    }
    await writer.finishRowGroup(rows.length);
    if (first < 0) first = rows[0]!;
    last = rows[rows.length - 1]!;
  }
  assert(last < dataFile.recordCount, `${dataFile.filePath}: ${last} of ${dataFile.recordCount}`);
  const result = await writer.finish();
  const fileSizeBytes = await output.writer.close();
  assert(
    fileSizeBytes === result.fileSizeBytes,
    `${output.location}: ${result.fileSizeBytes} bytes written, ${fileSizeBytes} stored`,
  );
  return {
    content: 'position-deletes',
    filePath: output.location,
    fileFormat: 'PARQUET',
    partition: dataFile.partition,
    recordCount: positions.cardinality,
    fileSizeBytes,
    columnSizes: columnSizes(result, leaves),
    lowerBounds: boundsOf(dataFile.filePath, BigInt(first)),
    upperBounds: boundsOf(dataFile.filePath, BigInt(last)),
    splitOffsets: result.splitOffsets,
    referencedDataFile: dataFile.filePath,
    unknownFields: [],
  };
}

/** Positions of one row group at a time, ascending. */
function* rowGroups(positions: RoaringBitmap): Generator<Float64Array> {
  let rows = new Float64Array(Math.min(positions.cardinality, ROW_GROUP_ROWS));
  let rest = positions.cardinality;
  let count = 0;
  for (const position of positions.positions()) {
    rows[count++] = position;
    if (count < rows.length) continue;
    yield rows;
    rest -= count;
    rows = new Float64Array(Math.min(rest, ROW_GROUP_ROWS));
    count = 0;
  }
}

function* batchesOf(leaf: SchemaLeaf, path: Uint8Array, rows: Float64Array): Generator<LeafValues> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS) {
    const batch = rows.subarray(start, start + BATCH_ROWS);
    const values =
      leaf.element.fieldId === FILE_PATH_FIELD_ID
        ? repeatPhysicalValue(path, batch.length, 'byte-array')
        : int64Values(batch);
    yield { valueCount: batch.length, values };
  }
}

function int64Values(numbers: Float64Array): LeafValues['values'] {
  const count = numbers.length;
  const bytes = new Uint8Array(count * INT64_BYTES);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < count; index++) {
    view.setUint32(index * INT64_BYTES, numbers[index]! % 2 ** 32, true);
    view.setUint32(index * INT64_BYTES + 4, Math.floor(numbers[index]! / 2 ** 32), true);
  }
  return { kind: 'fixed-width', widthBytes: INT64_BYTES, count, bytes };
}

function columnSizes(
  { metadata }: ParquetWriteResult,
  leaves: readonly SchemaLeaf[],
): ReadonlyMap<number, number> {
  return new Map(
    leaves.map(({ element, columnIndex }) => [
      element.fieldId ?? 0,
      metadata.rowGroups.reduce(
        (sum, { columns }) => sum + (columns[columnIndex]?.metaData?.totalCompressedSize ?? 0),
        0,
      ),
    ]),
  );
}

/** In full: only equal bounds of the path tell readers which data file it is. */
function boundsOf(path: SingleValue, position: bigint): ReadonlyMap<number, Uint8Array> {
  return new Map([
    [FILE_PATH_FIELD_ID, encodeSingleValue({ kind: 'string' }, path)],
    [POS_FIELD_ID, encodeSingleValue({ kind: 'long' }, position)],
  ]);
}
