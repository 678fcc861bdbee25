import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isIcebergError } from '../../shared/base/index.ts';
import { readPageBatches, readParquetFooter } from '../../shared/parquet/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { DuckDB } from './duckdb.ts';
import { footerOffsetOf, readFixture, withByte, withFooter } from './edit-file.ts';
import { copyFiles } from './memory-file.ts';

/** Each turns one byte into another kind of lie: nothing, all bits, one bit more, the sign, the top bit. */
const CHANGES: readonly ((byte: number) => number)[] = [
  () => 0,
  () => 0xff,
  (byte) => byte + 1,
  (byte) => byte ^ 0x01,
  (byte) => byte ^ 0x80,
];

const JAVA_FOLDER = fileURLToPath(new URL('../fixtures/iceberg-java/', import.meta.url));

type Outcome = 'invalid-data' | 'unsupported' | 'copied';

/** Walks everything there is; only the two kinds of error may end it. */
async function outcomeOf(bytes: Uint8Array): Promise<Outcome> {
  try {
    await copyFiles([bytesReader(bytes)]);
    return 'copied';
  } catch (error) {
    if (isIcebergError(error, 'invalid-data')) return 'invalid-data';
    if (isIcebergError(error, 'unsupported')) return 'unsupported';
    throw error;
  }
}

async function outcomesOf(
  bytes: Uint8Array,
  offsets: readonly number[],
): Promise<Record<Outcome, number>> {
  const counts: Record<Outcome, number> = { 'invalid-data': 0, unsupported: 0, copied: 0 };
  for (const offset of offsets) {
    for (const change of CHANGES) counts[await outcomeOf(withByte(bytes, offset, change))]++;
  }
  return counts;
}

function rangeOf(start: number, end: number): readonly number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
}

/** Every byte of every page header. */
async function headerOffsets(bytes: Uint8Array): Promise<readonly number[]> {
  const reader = bytesReader(bytes);
  const file = await readParquetFooter(reader);
  const offsets: number[] = [];
  for (const chunk of file.rowGroups.flatMap(({ chunks }) => chunks)) {
    for await (const { pages } of readPageBatches(reader, chunk, 'file')) {
      for (const { offset, headerBytes } of pages) {
        const start = chunk.range.offset + offset;
        offsets.push(...rangeOf(start, start + headerBytes));
      }
    }
  }
  return offsets;
}

describe('one changed byte', () => {
  let duckDB: DuckDB;
  const files = new Map<string, Uint8Array>();

  before(async () => {
    duckDB = await DuckDB.open();
    const query = "SELECT i, [i, NULL] AS l, 'w' || (i % 3) AS w FROM range(20) AS rows(i)";
    files.set('DuckDB', await duckDB.write(query, 'COMPRESSION snappy'));
    const java = globSync('**/data/**/*.parquet', { cwd: JAVA_FOLDER })
      .sort()
      .map((path) => new Uint8Array(readFileSync(`${JAVA_FOLDER}${path}`)));
    files.set(
      'Iceberg Java',
      java.reduce((one, other) => (other.length < one.length ? other : one)),
    );
  });

  after(() => duckDB.close());

  for (const name of ['DuckDB', 'Iceberg Java']) {
    test(`in the footer of a file of ${name} gives a named error or a file`, async () => {
      const bytes = files.get(name)!;
      assert.equal(await outcomeOf(bytes), 'copied');

      const counts = await outcomesOf(bytes, rangeOf(footerOffsetOf(bytes), bytes.length));

      assert.ok(counts['invalid-data'] > 0 && counts.copied > 0, JSON.stringify(counts));
    });

    test(`in a page header of a file of ${name} gives a named error or a file`, async () => {
      const bytes = files.get(name)!;

      const counts = await outcomesOf(bytes, await headerOffsets(bytes));

      assert.ok(counts['invalid-data'] > 0, JSON.stringify(counts));
    });
  }

  test('in a page index of a file of Iceberg Java gives a named error or a file', async () => {
    const bytes = files.get('Iceberg Java')!;
    const file = await readParquetFooter(bytesReader(bytes));
    const ranges = file.rowGroups
      .flatMap(({ chunks }) => chunks)
      .flatMap(({ columnIndexRange, offsetIndexRange }) => [columnIndexRange!, offsetIndexRange!]);
    const offsets = ranges.flatMap(({ offset, lengthBytes }) =>
      rangeOf(offset, offset + lengthBytes),
    );

    const counts = await outcomesOf(bytes, offsets);

    assert.ok(counts['invalid-data'] > 0 && counts.copied > 0, JSON.stringify(counts));
  });

  test('in a page body is caught by its checksum', async () => {
    const bytes = readFixture('pages-plain-v1');
    const headers = new Set(await headerOffsets(bytes));
    const bodies = rangeOf(4, footerOffsetOf(bytes)).filter((offset) => !headers.has(offset));
    const sampled = bodies.filter((_, index) => index % 97 === 0);

    for (const offset of sampled) {
      assert.equal(await outcomeOf(withByte(bytes, offset, (byte) => byte ^ 0x10)), 'invalid-data');
    }
  });
});

describe('a cut', () => {
  test('anywhere in the footer is invalid-data', async () => {
    const bytes = readFixture('pages-plain-v1');
    const footerOffset = footerOffsetOf(bytes);
    const before = bytes.subarray(0, footerOffset);

    for (const end of rangeOf(footerOffset, bytes.length - 8)) {
      const cut = withFooter(before, bytes.subarray(footerOffset, end));
      assert.equal(await outcomeOf(cut), 'invalid-data');
    }
  });

  test('anywhere in the file is invalid-data', async () => {
    const bytes = readFixture('pages-plain-v1');

    for (const end of rangeOf(0, bytes.length).filter((offset) => offset % 53 === 0)) {
      assert.equal(await outcomeOf(bytes.subarray(0, end)), 'invalid-data');
    }
  });
});
