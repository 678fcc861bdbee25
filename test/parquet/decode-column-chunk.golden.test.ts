import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parquetMetadata, parquetRead } from 'hyparquet';
import { decodeColumnChunk } from '../../shared/parquet/decode-column-chunk.ts';
import {
  joinLeafValues,
  type LeafValues,
  physicalValueAt,
} from '../../shared/parquet/leaf-values.ts';
import type { ParquetFile } from '../../shared/parquet/parquet-file.ts';
import { readParquetFooter } from '../../shared/parquet/read-footer.ts';
import { bytesReader } from '../support/file-reader.ts';
import { compressors } from '../support/slow-compressors.ts';

const FIXTURES = new URL('../fixtures/parquet-pyarrow/', import.meta.url);

async function decodeColumn(bytes: Uint8Array, name: string): Promise<LeafValues> {
  const reader = bytesReader(bytes);
  const file = await readParquetFooter(reader);
  const batches: LeafValues[] = [];
  for (const { chunks } of file.rowGroups) {
    const chunk = chunks.find(({ leaf }) => leaf.path.join('.') === name);
    assert.ok(chunk, name);
    const createdBy = file.metadata.createdBy;
    for await (const batch of decodeColumnChunk(reader, chunk, { createdBy, subject: name })) {
      batches.push(batch);
    }
  }
  return joinLeafValues(batches);
}

function columnNames(file: ParquetFile): readonly string[] {
  return file.leaves.map(({ path }) => path.join('.'));
}

/** The column as hyparquet reads it, without its conversions by logical type. */
async function referenceColumn(bytes: Uint8Array, name: string): Promise<readonly unknown[]> {
  const file = bytes.slice().buffer;
  const metadata = parquetMetadata(file);
  for (const element of metadata.schema) {
    if (element.num_children) continue;
    delete element.logical_type;
    delete element.converted_type;
  }
  const values: unknown[] = [];
  await parquetRead({
    file,
    metadata,
    columns: [name],
    utf8: false,
    compressors,
    onComplete: (rows) => values.push(...rows.map((row) => Object.values(row)[0])),
    rowFormat: 'object',
  });
  return values;
}

function toValues(column: LeafValues, type: string): readonly unknown[] {
  let index = 0;
  return Array.from({ length: column.valueCount }, (_, entry) => {
    if (column.definitionLevels?.[entry] === 0) return null;
    return toValue(physicalValueAt(column.values, index++), type);
  });
}

function toValue(bytes: Uint8Array, type: string): unknown {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  switch (type) {
    case 'BOOLEAN':
      return bytes[0] === 1;
    case 'INT32':
      return view.getInt32(0, true);
    case 'INT64':
      return view.getBigInt64(0, true);
    case 'FLOAT':
      return view.getFloat32(0, true);
    case 'DOUBLE':
      return view.getFloat64(0, true);
    case 'INT96':
      return millisOf(view.getInt32(8, true), view.getBigInt64(0, true));
    default:
      return Buffer.from(bytes).toString('hex');
  }
}

/** hyparquet gives INT96 in milliseconds, cut towards zero. 2440588 is the Julian day of 1970-01-01. */
function millisOf(julianDay: number, nanosOfDay: bigint): number {
  const nanos = BigInt(julianDay - 2_440_588) * 86_400_000_000_000n + nanosOfDay;
  return Number(nanos / 1_000_000n);
}

function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return value instanceof Date ? value.getTime() : (value ?? null);
}

describe('decodeColumnChunk on files of Parquet C++', () => {
  for (const fixture of [
    'exotic-v1',
    'exotic-v2',
    'dictionary-v1',
    'dictionary-v2',
    'required-v1',
    'int96-v1',
  ]) {
    test(`gives the values of ${fixture} that hyparquet gives`, async () => {
      const bytes = new Uint8Array(readFileSync(new URL(`${fixture}.parquet`, FIXTURES)));
      const file = await readParquetFooter(bytesReader(bytes));

      for (const name of columnNames(file)) {
        const decoded = await decodeColumn(bytes, name);

        const type = file.leaves.find(({ path }) => path.join('.') === name)!.physicalType;
        const expected = await referenceColumn(bytes, name);
        assert.deepEqual(toValues(decoded, type), expected.map(comparable), name);
      }
    });
  }

  test('keeps the payload of NaN and the sign of zero', async () => {
    const bytes = new Uint8Array(readFileSync(new URL('exotic-v1.parquet', FIXTURES)));

    const { values } = await decodeColumn(bytes, 'd');

    const patterns = Array.from({ length: 7 }, (_, index) => {
      const value = physicalValueAt(values, index);
      return new DataView(value.buffer, value.byteOffset, 8).getBigUint64(0, true);
    });
    // Row 3 is null.
    assert.deepEqual(patterns.slice(0, 4), [
      0n,
      1n << 63n,
      0x7ff8000000000000n,
      0x7ff0000000000000n,
    ]);
  });

  test('gives levels of nested columns that add up to the same in v1 and v2 pages', async () => {
    const [one, two] = ['nested-v1', 'nested-v2'].map(
      (name) => new Uint8Array(readFileSync(new URL(`${name}.parquet`, FIXTURES))),
    );
    const file = await readParquetFooter(bytesReader(one!));

    for (const name of columnNames(file)) {
      assert.deepEqual(await decodeColumn(one!, name), await decodeColumn(two!, name), name);
    }
  });
});
