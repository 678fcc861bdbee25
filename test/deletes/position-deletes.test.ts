import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { isIcebergError } from '../../shared/base/index.ts';
import { readPositionDeleteFile, writePositionDeleteFile } from '../../shared/deletes/index.ts';
import { type DataFile, referencedDataFile } from '../../shared/iceberg/index.ts';
import { readParquetFooter } from '../../shared/parquet/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { countingStore, MemoryObjectStore } from '../../shared/storage/index.ts';
import { DuckDb } from '../datafile/rewrite-fixture.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { mutationsOf } from '../support/mutations.ts';
import { readParquetSlowly } from '../support/slow-parquet-rows.ts';
import { positionDeleteFile } from './delete-files-fixture.ts';

const A = 's3://bucket/t/data/a.parquet';
const B = 's3://bucket/t/data/b.parquet';
const IDS = 'file_path: 2147483546, pos: 2147483545';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

function dataFile(more: Partial<DataFile> = {}): DataFile {
  return {
    content: 'data',
    filePath: A,
    fileFormat: 'PARQUET',
    partition: [7],
    recordCount: 2 ** 40,
    fileSizeBytes: 1000,
    unknownFields: [],
    ...more,
  };
}

/** Reads bytes as a position delete file; the result as plain numbers by path. */
async function readFrom(
  bytes: Uint8Array,
  wanted: readonly string[],
  more: Partial<DataFile> = {},
): Promise<Readonly<Record<string, readonly number[]>>> {
  const file = dataFile({ content: 'position-deletes', filePath: 'deletes.parquet', ...more });
  const fileSizeBytes = bytes.length;
  const recordCount = more.recordCount ?? (await rowCountOf(bytes));
  const input = { dataFile: { ...file, fileSizeBytes, recordCount }, reader: bytesReader(bytes) };
  const found = await readPositionDeleteFile(input, new Set(wanted));
  return Object.fromEntries([...found].map(([path, rows]) => [path, [...rows.positions()]]));
}

async function rowCountOf(bytes: Uint8Array): Promise<number> {
  return (await readParquetFooter(bytesReader(bytes))).metadata.numRows;
}

describe('readPositionDeleteFile', () => {
  test('keeps the positions of wanted paths, and no others', async () => {
    const bytes = await duck.write(
      `SELECT * FROM (VALUES ('${A}', 0), ('${A}', 4294967296), ('${B}', 1), ('c', 2)) t(file_path, pos)`,
      `, FIELD_IDS {${IDS}}`,
    );

    assert.deepEqual(await readFrom(bytes, [A, 'c', 'd']), { [A]: [0, 4_294_967_296], c: [2] });
    assert.deepEqual(await readFrom(bytes, []), {});
  });

  test('reads rows in any order, and any number of times', async () => {
    const store = new MemoryObjectStore();
    const rows = fc.array(fc.record({ path: fc.constantFrom(A, B, 'c'), position: fc.nat(5000) }), {
      minLength: 1,
      maxLength: 2000,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(rows, async (some) => {
        const { dataFile: file } = await positionDeleteFile(
          { store },
          { specId: 0, dataFile: { partition: [] } },
          some,
        );
        const bytes = await store.read(file.filePath, 1e7);

        const found = await readFrom(bytes, [A, B]);

        for (const path of [A, B]) {
          const positions = some.filter((row) => row.path === path).map((row) => row.position);
          const expected = [...new Set(positions)].sort((one, other) => one - other);
          assert.deepEqual(found[path] ?? [], expected);
        }
      }),
      { numRuns: 25, seed: 4 },
    );
  });

  test('finds the columns by name in files without field ids', async () => {
    const bytes = await duck.write(`SELECT 3::BIGINT pos, '${A}' file_path`);

    assert.deepEqual(await readFrom(bytes, [A]), { [A]: [3] });
  });

  test('compares paths as they stand', async () => {
    const bytes = await duck.write(
      `SELECT 's3a://bucket/t/data/a.parquet' file_path, 1::BIGINT pos`,
      `, FIELD_IDS {${IDS}}`,
    );

    assert.deepEqual(await readFrom(bytes, [A]), {});
  });

  test('of a large file with deleted rows in it, the two columns are read and nothing else', async () => {
    const bytes = await duck.write(
      `SELECT '${A}' file_path, range pos, {x: repeat(md5(range::VARCHAR), 4)} "row" FROM range(40000)`,
      `, FIELD_IDS {${IDS}}`,
    );
    const memory = new MemoryObjectStore();
    await memory.write(B, bytes);
    const store = countingStore(memory);
    const file = dataFile({ recordCount: 40_000, fileSizeBytes: bytes.length });

    const reader = store.openRanged(B, bytes.length);
    const found = await readPositionDeleteFile({ dataFile: file, reader }, new Set([A]));

    assert.equal(found.get(A)?.cardinality, 40_000);
    assert.equal(store.requestCounts.readRange, 3);
    assert.ok(store.requestCounts.bytesRead < 40_000 * 9 + 64 * 1024);
  });

  test('refuses what is no position delete file', async () => {
    const write = (sql: string, ids = IDS) => duck.write(sql, `, FIELD_IDS {${ids}}`);
    const refused = async (
      bytes: Uint8Array,
      kind: 'invalid-data' | 'unsupported',
      message: RegExp,
      more: Partial<DataFile> = {},
    ) => assert.rejects(readFrom(bytes, [A], more), errorOfKind(kind, message));

    const withoutPos = await write(`SELECT '${A}' file_path`, 'file_path: 2147483546');
    await refused(withoutPos, 'invalid-data', /a position delete file without pos/);
    const withNull = await write(
      `SELECT * FROM (VALUES ('${A}', NULL::BIGINT), (NULL, 1)) t(file_path, pos)`,
    );
    await refused(withNull, 'invalid-data', /column file_path: 1 of 2 values are null/);
    const negative = await write(`SELECT '${A}' file_path, -1::BIGINT pos`);
    await refused(negative, 'invalid-data', /position -1 is not an integer between/);
    const least = await write(`SELECT '${A}' file_path, (-9223372036854775808)::BIGINT pos`);
    await refused(least, 'invalid-data', /position -9223372036854776000/);
    const beyond = await write(`SELECT '${A}' file_path, 9007199254740993::BIGINT pos`);
    await refused(beyond, 'unsupported', /position 9007199254740992 is not/);
    const otherType = await write(`SELECT '${A}' file_path, 'x' pos`);
    await refused(otherType, 'unsupported', /column pos.* does not serve type long/);
    const sound = await write(`SELECT '${A}' file_path, 1::BIGINT pos`);
    const tooMany = { recordCount: 2 };
    await refused(sound, 'invalid-data', /has 1 rows, its manifest entry says 2/, tooMany);
    await refused(sound, 'unsupported', /format ORC/, { fileFormat: 'ORC' });
  });

  test('gives the right rows or a named error for files that were tampered with', async () => {
    const bytes = await duck.write(
      `SELECT '${A}' file_path, range * 3 pos FROM range(50)`,
      `, FIELD_IDS {${IDS}}`,
    );
    for (const { mutated, what } of mutationsOf(bytes, 7, 300)) {
      try {
        await readFrom(mutated, [A], { recordCount: 50 });
      } catch (error) {
        assert.ok(isIcebergError(error), `${what}: ${String(error)}`);
        assert.ok(['invalid-data', 'unsupported'].includes(error.kind), `${what}: ${error.kind}`);
      }
    }
  });
});

describe('writePositionDeleteFile', () => {
  async function write(positions: RoaringBitmap, properties: Record<string, string> = {}) {
    const store = new MemoryObjectStore();
    const location = 's3://bucket/t/data/new-deletes.parquet';
    const output = { location, writer: store.openWriter(location) };
    const file = await writePositionDeleteFile({
      dataFile: dataFile(),
      positions,
      properties,
      output,
    });
    return { file, bytes: await store.read(location, 1e9) };
  }

  const bitmap = (...positions: readonly number[]) =>
    RoaringBitmap.fromPositions(positions, 'test');

  test('gives an entry that all engines take for the one data file', async () => {
    const { file, bytes } = await write(bitmap(3, 70_000, 2 ** 33));

    const { columnSizes, lowerBounds, upperBounds, splitOffsets, ...rest } = file;
    assert.deepEqual(rest, {
      content: 'position-deletes',
      filePath: 's3://bucket/t/data/new-deletes.parquet',
      fileFormat: 'PARQUET',
      partition: [7],
      recordCount: 3,
      fileSizeBytes: bytes.length,
      referencedDataFile: A,
      unknownFields: [],
    });
    assert.deepEqual(splitOffsets, [4]);
    assert.deepEqual(
      [...(columnSizes ?? [])].map(([fieldId]) => fieldId),
      [2147483546, 2147483545],
    );
    assert.deepEqual(lowerBounds?.get(2147483545), Uint8Array.of(3, 0, 0, 0, 0, 0, 0, 0));
    assert.deepEqual(upperBounds?.get(2147483545), Uint8Array.of(0, 0, 0, 0, 2, 0, 0, 0));
    const { referencedDataFile: _, ...byBounds } = file;
    const entry = {
      status: 'added',
      snapshotId: 1n,
      dataSequenceNumber: 1n,
      specId: 0,
      dataFile: byBounds,
      unknownFields: [],
    } as const;
    assert.equal(referencedDataFile(entry), A);
  });

  test('is read by DuckDB and hyparquet, with field ids, sorted', async () => {
    const positions = bitmap(9, 2 ** 33, 1, 70_000);
    const { bytes } = await write(positions);
    duck.put('deletes.parquet', bytes);

    const rows = await duck.query("SELECT * FROM '#deletes.parquet#'");
    const { rows: slowRows, root } = await readParquetSlowly(bytes);

    const expected = [1n, 9n, 70_000n, 2n ** 33n];
    assert.deepEqual(
      rows,
      expected.map((pos) => ({ file_path: A, pos: String(pos) })),
    );
    assert.deepEqual(
      slowRows.map((row) => row['pos']),
      expected,
    );
    assert.deepEqual(
      root.children.map(({ element }) => [element.name, element.field_id, element.repetition_type]),
      [
        ['file_path', 2147483546, 'REQUIRED'],
        ['pos', 2147483545, 'REQUIRED'],
      ],
    );
  });

  test('is read back as it was, in several row groups', async () => {
    const positions = RoaringBitmap.fromPositions(
      Float64Array.from({ length: 1_200_000 }, (_, index) => index * 3),
      'test',
    );

    const { bytes, file } = await write(positions, {
      'write.parquet.compression-codec': 'uncompressed',
    });

    assert.equal(file.recordCount, 1_200_000);
    assert.equal(file.splitOffsets?.length, 2);
    const input = { dataFile: file, reader: bytesReader(bytes) };
    const found = await readPositionDeleteFile(input, new Set([A]));
    const read = found.get(A)!;
    assert.ok(read.isSupersetOf(positions) && positions.isSupersetOf(read));
  });

  test('gives the output up when it fails', async () => {
    const store = new MemoryObjectStore();
    const location = 's3://bucket/t/data/x.parquet';
    const output = { location, writer: store.openWriter(location) };
    const options = { dataFile: dataFile(), positions: bitmap(1), output };
    const properties = { 'write.parquet.compression-codec': 'no-such-codec' };

    await assert.rejects(
      writePositionDeleteFile({ ...options, properties }),
      errorOfKind('invalid-config'),
    );

    await assert.rejects(store.head(location), errorOfKind('not-found'));
  });

  test('is not written for no positions, or positions that the data file does not have', async () => {
    await assert.rejects(write(RoaringBitmap.EMPTY), { name: 'AssertionFailed' });
    await assert.rejects(write(bitmap(2 ** 40)), { name: 'AssertionFailed' });
  });
});
