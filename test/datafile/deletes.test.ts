import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seededRandom } from '../../shared/base/index.ts';
import { rewriteFileGroup, tallyRowIds } from '../../shared/datafile/index.ts';
import type { NestedField } from '../../shared/iceberg/index.ts';
import { readParquetFooter, verifyParquetFile } from '../../shared/parquet/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { readParquetSlowly } from '../support/slow-parquet-rows.ts';
import { FLAT_FIELDS, mappingOf, NESTED_FIELDS, pyarrowFile } from './pyarrow-files.ts';
import {
  bitmapOf,
  DuckDb,
  type ExampleFile,
  field,
  type RewriteOutcome,
  rewrite,
  rewriteOptions,
} from './rewrite-fixture.ts';

const SEED = 20261130;
const ROW_ID = 2147483540;
const SEQUENCE = 2147483539;

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

const fields = [field(1, 'a', 'int'), field(2, 's', 'string')];

/** Values of `a` from `first` on, in row groups of 2,048. */
function write(first: number, count: number): Promise<Uint8Array> {
  return duck.write(
    `SELECT (${first} + i)::INT AS a, CASE WHEN i % 5 <> 0 THEN md5(i::VARCHAR) END AS s FROM range(${count}) t(i)`,
    ', FIELD_IDS {a: 1, s: 2}, ROW_GROUP_SIZE 2048',
  );
}

const purge = (positions: readonly number[]) =>
  ({ positions: bitmapOf(positions), treatment: 'purge' }) as const;
const carry = (positions: readonly number[]) =>
  ({ positions: bitmapOf(positions), treatment: 'carry' }) as const;

function numbers(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

async function valuesOf(outcome: RewriteOutcome): Promise<readonly (readonly unknown[])[]> {
  return Promise.all(
    outcome.bytes.map(async (bytes) => (await readParquetSlowly(bytes)).rows.map(({ a }) => a)),
  );
}

/** Its own row groups hold 2,048 rows and less. */
const COUNT = 5000;

describe('purged rows', () => {
  test('are left out, and only row groups that have some are encoded anew', async () => {
    const deletes = purge([2048, 3000, 4095]);

    const outcome = await rewrite({ files: [{ bytes: await write(0, COUNT), deletes }], fields });

    const left = numbers(0, COUNT).filter((a) => !deletes.positions.has(a));
    assert.deepEqual(await valuesOf(outcome), [left]);
    assert.equal(outcome.outputs[0]?.dataFile.recordCount, COUNT - 3);
    assert.equal(outcome.columnChunks.copiedCount, 4);
    assert.equal(outcome.columnChunks.encodedCount, 2);
    assert.ok(outcome.outputs[0]?.deletedPositions.isEmpty);
    await verifyParquetFile(bytesReader(outcome.bytes[0]!));
  });

  const borders: readonly (readonly [string, readonly number[]])[] = [
    ['the first and the last row', [0, COUNT - 1]],
    ['rows on both sides of row group borders', [2047, 2048, 4095, 4096]],
    ['all rows of a row group but the first', numbers(2049, 2047)],
    ['all rows of a row group but the last', numbers(2048, 2047)],
    ['every other row', numbers(0, COUNT / 2).map((index) => 2 * index)],
    ['all rows but one', numbers(0, COUNT).filter((row) => row !== 4500)],
  ];
  for (const [what, positions] of borders) {
    test(`may be ${what}`, async () => {
      const file = { bytes: await write(0, COUNT), deletes: purge(positions) };

      const outcome = await rewrite({ files: [file], fields });

      const gone = new Set(positions);
      const left = numbers(0, COUNT).filter((row) => !gone.has(row));
      assert.deepEqual(await valuesOf(outcome), [left]);
      const { outputs, gone: found } = outcome.positionMap.translate(
        0,
        bitmapOf(numbers(0, COUNT)),
      );
      assert.deepEqual([...outputs[0]!.positions()], numbers(0, left.length));
      assert.deepEqual([...found.positions()], positions);
    });
  }

  test('take a row group with them where they are all of it, unread', async () => {
    const bytes = await write(0, COUNT);
    const damaged = bytes.slice();
    const { rowGroups } = await readParquetFooter(bytesReader(bytes));
    for (const { range } of rowGroups[1]!.chunks) {
      damaged.fill(0xff, range.offset, range.offset + range.lengthBytes);
    }
    const file = { bytes: damaged, deletes: purge(numbers(2048, 2048)) };

    const options = await rewriteOptions({ files: [file], fields }, new MemoryObjectStore());
    const { outputs, columnChunks, purgedColumnCounts } = await rewriteFileGroup(options);

    assert.equal(outputs[0]?.dataFile.recordCount, COUNT - 2048);
    assert.deepEqual([columnChunks.copiedCount, columnChunks.encodedCount], [4, 0]);
    assert.deepEqual(purgedColumnCounts?.valueCounts.get(1), 2048);
    assert.deepEqual(purgedColumnCounts?.nullValueCounts.get(1), 0);
    assert.deepEqual(purgedColumnCounts?.nullValueCounts.get(2), 410);
  });

  test('leave no output where they are all rows', async () => {
    const files = [
      { bytes: await write(0, COUNT), deletes: purge(numbers(0, COUNT)) },
      { bytes: await write(0, 10), deletes: purge(numbers(0, 10)) },
    ];
    let openedCount = 0;
    const options = await rewriteOptions(
      { files, fields, formatVersion: 3 },
      new MemoryObjectStore(),
    );
    const openOutput = () => {
      openedCount++;
      return options.openOutput();
    };

    const result = await rewriteFileGroup({ ...options, openOutput });

    assert.deepEqual(result.outputs, []);
    assert.equal(openedCount, 0);
    assert.equal(result.positionMap.goneCount, COUNT + 10);
    assert.deepEqual(result.inputRowIds, {
      idCount: 0,
      nullCount: 0,
      sums: { first: 0n, second: 0n },
    });
  });

  test('leave an input out that loses all of its rows', async () => {
    const files = [
      { bytes: await write(0, 10) },
      { bytes: await write(10, 10), deletes: purge(numbers(0, 10)) },
      { bytes: await write(20, 10), deletes: purge([0]) },
    ];

    const outcome = await rewrite({ files, fields });

    assert.deepEqual(await valuesOf(outcome), [[...numbers(0, 10), ...numbers(21, 9)]]);
    const { outputs } = outcome.positionMap.translate(2, bitmapOf([1, 9]));
    assert.deepEqual([...outputs[0]!.positions()], [10, 18]);
  });

  test('leave outputs of about the wanted size where a large row group is split', async () => {
    const bytes = await write(0, 2000);
    const gone = [...numbers(0, 1000), ...numbers(1500, 20)];

    const outcome = await rewrite({
      files: [{ bytes, deletes: purge(gone) }],
      fields,
      outputSizeBytes: Math.ceil(bytes.length / 6),
    });

    assert.ok(outcome.outputs.length > 1);
    const left = numbers(0, 2000).filter((row) => !gone.includes(row));
    assert.deepEqual((await valuesOf(outcome)).flat(), left);
    assert.equal(outcome.purgedColumnCounts?.valueCounts.get(1), gone.length);
  });

  test('beyond the rows of the file are invalid data', async () => {
    for (const deletes of [purge([3, 10]), carry([3, 10])]) {
      await assert.rejects(
        rewrite({ files: [{ bytes: await write(0, 10), deletes }], fields }),
        errorOfKind('invalid-data', /in-0.parquet: position 10 is deleted, the file has 10 rows/),
      );
    }
  });
});

describe('purged rows of other writers', () => {
  const cases: readonly [string, readonly NestedField[]][] = [
    ['exotic-v1', FLAT_FIELDS],
    ['exotic-v2', FLAT_FIELDS],
    ['dictionary-v1', FLAT_FIELDS],
    ['dictionary-v2', FLAT_FIELDS],
    ['required-v1', FLAT_FIELDS],
    ['nested-v1', NESTED_FIELDS],
    ['nested-v2', NESTED_FIELDS],
  ];
  for (const [name, ofFile] of cases) {
    test(`are taken out of ${name} with all their values and levels`, async () => {
      const bytes = pyarrowFile(name);
      const { rows } = await readParquetSlowly(bytes);
      const properties = { 'schema.name-mapping.default': JSON.stringify(mappingOf(ofFile)) };
      for (const gone of goneRows(rows.length)) {
        const file = { bytes, deletes: purge(gone) };

        const outcome = await rewrite({ files: [file], fields: ofFile, properties });

        const left = rows.filter((_, row) => !gone.includes(row));
        const after = await readParquetSlowly(outcome.bytes[0]!);
        assert.deepEqual(after.rows, left);
        await verifyParquetFile(bytesReader(outcome.bytes[0]!));
      }
    });
  }

  /** Few and many rows, in stretches and single; the pages of these files end at any row. */
  function goneRows(rowCount: number): number[][] {
    const random = seededRandom(SEED);
    const some = (share: number) =>
      numbers(0, rowCount).filter(() => random.bytes(1)[0]! < share * 256);
    return [[0], some(0.01), some(0.5), some(0.95), numbers(100, 400), [rowCount - 1]];
  }
});

describe('lineage of what is left', () => {
  async function lineageOf(file: ExampleFile, more: readonly NestedField[] = []) {
    const outcome = await rewrite({
      files: [file],
      fields: [...fields, ...more],
      formatVersion: 3,
    });
    const { rows } = await readParquetSlowly(outcome.bytes[0]!);
    return rows.map((row) => [row['a'], row['_row_id'], row['_last_updated_sequence_number']]);
  }

  test('is what rows inherited by their old position', async () => {
    const bytes = await write(0, COUNT);
    const deletes = purge([0, 1, 2048, 4999]);
    const entry = { firstRowId: 100n };

    const rows = await lineageOf({ bytes, entry, deletes, dataSequenceNumber: 7n });

    const left = numbers(0, COUNT).filter((a) => !deletes.positions.has(a));
    assert.deepEqual(
      rows,
      left.map((a) => [a, 100n + BigInt(a), 7n]),
    );
  });

  test('is what rows stored, and inherited where they stored none', async () => {
    const bytes = await duck.write(
      `SELECT i::INT AS a, NULL::VARCHAR AS s, CASE WHEN i % 3 = 0 THEN 1000 + i END::BIGINT AS r,
         CASE WHEN i % 3 = 0 THEN 4 END::BIGINT AS q FROM range(30) t(i)`,
      `, FIELD_IDS {a: 1, s: 2, r: ${ROW_ID}, q: ${SEQUENCE}}`,
    );
    const deletes = purge([0, 4, 5, 9, 29]);

    const rows = await lineageOf({
      bytes,
      entry: { firstRowId: 50n },
      deletes,
      dataSequenceNumber: 8n,
    });

    const left = numbers(0, 30).filter((a) => !deletes.positions.has(a));
    assert.deepEqual(
      rows,
      left.map((a) => (a % 3 === 0 ? [a, BigInt(1000 + a), 4n] : [a, BigInt(50 + a), 8n])),
    );
  });

  test('is counted of live rows only', async () => {
    const bytes = await write(0, COUNT);
    const reader = bytesReader(bytes);
    const file = await readParquetFooter(reader);
    const deletes = purge([0, 70, 2048]);

    const outcome = await rewrite({
      files: [{ bytes, deletes, entry: { firstRowId: 9n } }],
      fields,
      formatVersion: 3,
    });

    assert.equal(outcome.inputRowIds?.idCount, COUNT - 3);
    const deletedPositions = deletes.positions;
    const live = await tallyRowIds({ reader, file, firstRowId: 9n, deletedPositions });
    assert.deepEqual(outcome.inputRowIds, live);
  });

  test('goes with columns that a file lacks, in structs too', async () => {
    const bytes = await duck.write(
      "SELECT i::INT AS a, 's' AS s, CASE WHEN i % 4 <> 0 THEN {x: i} END AS p FROM range(3000) t(i)",
      ', FIELD_IDS {a: 1, s: 2, p: {__duckdb_field_id: 3, x: 4}}, ROW_GROUP_SIZE 2048',
    );
    const inside = [field(4, 'x', 'long'), field(5, 'y', 'string', { initialDefault: 'd' })];
    const more = [
      field(3, 'p', { kind: 'struct', fields: inside }),
      field(6, 'z', 'long', { initialDefault: 5n }),
    ];
    const gone = numbers(0, 3000).filter((row) => row % 4 === 1 || row === 2999);

    const outcome = await rewrite({
      files: [{ bytes, deletes: purge(gone) }],
      fields: [...fields, ...more],
    });

    const { rows } = await readParquetSlowly(outcome.bytes[0]!);
    const left = numbers(0, 3000).filter((row) => !gone.includes(row));
    const d = new TextEncoder().encode('d');
    const pOf = (a: number) => (a % 4 === 0 ? undefined : { x: BigInt(a), y: d });
    assert.deepEqual(
      rows.map(({ a, p, z }) => ({ a, p, z })),
      left.map((a) => ({ a, p: pOf(a), z: 5n })),
    );
  });
});

describe('carried rows', () => {
  test('stay, every chunk copied, and the output says where they are', async () => {
    const files = [
      { bytes: await write(0, COUNT), deletes: carry([1, 4999]) },
      { bytes: await write(COUNT, 100) },
      { bytes: await write(COUNT + 100, 10), deletes: carry([0, 9]) },
    ];

    const outcome = await rewrite({ files, fields, formatVersion: 2 });

    assert.equal(outcome.columnChunks.encodedCount, 0);
    assert.equal(outcome.outputs[0]?.dataFile.recordCount, COUNT + 110);
    const deleted = [...outcome.outputs[0]!.deletedPositions.positions()];
    assert.deepEqual(deleted, [1, 4999, COUNT + 100, COUNT + 109]);
    assert.equal(outcome.purgedColumnCounts, undefined);
    assert.equal(outcome.positionMap.goneCount, 0);
  });

  test('go with purged ones, to several outputs', async () => {
    const bytes = await write(0, 6144);
    const files = [
      { bytes, deletes: purge([0, 3000]) },
      { bytes, deletes: carry([0, 2048, 6143]) },
    ];

    const outcome = await rewrite({ files, fields, outputSizeBytes: bytes.length * 0.7 });

    assert.ok(outcome.outputs.length > 2);
    const values = await valuesOf(outcome);
    const live = values.map((own, index) => {
      const { deletedPositions } = outcome.outputs[index]!;
      return own.filter((_, position) => !deletedPositions.has(position));
    });
    const without = (gone: readonly number[]) =>
      numbers(0, 6144).filter((row) => !gone.includes(row));
    assert.deepEqual(live.flat(), [...without([0, 3000]), ...without([0, 2048, 6143])]);
    const kept = outcome.outputs.reduce(
      (sum, output) => sum + output.deletedPositions.cardinality,
      0,
    );
    assert.equal(kept, 3);
  });

  test('may be all rows, or none', async () => {
    const files = [
      { bytes: await write(0, 10), deletes: carry(numbers(0, 10)) },
      { bytes: await write(10, 10), deletes: carry([]) },
      { bytes: await write(20, 10), deletes: purge([]) },
    ];

    const outcome = await rewrite({ files, fields, formatVersion: 3 });

    assert.deepEqual([...outcome.outputs[0]!.deletedPositions.positions()], numbers(0, 10));
    assert.equal(outcome.outputs[0]!.dataFile.recordCount, 30);
    assert.equal(outcome.purgedColumnCounts, undefined);
  });
});

describe('deletes that come later', () => {
  test('find the rows of an input by the position map, whatever was purged', async () => {
    const files = [
      { bytes: await write(0, COUNT), deletes: purge([5, 6, 2100]) },
      { bytes: await write(COUNT, 3000), deletes: carry([3]) },
    ];
    const outcome = await rewrite({ files, fields, outputSizeBytes: files[0]!.bytes.length });
    const values = await valuesOf(outcome);

    for (const [inputIndex, later] of [
      [5, 7, 2100, 2101, 4999],
      [0, 3, 2999],
    ].entries()) {
      const { outputs, gone } = outcome.positionMap.translate(inputIndex, bitmapOf(later));

      const found = outputs.flatMap((bitmap, output) =>
        [...bitmap.positions()].map((position) => values[output]![position]),
      );
      const expected = later.filter((row) => !gone.has(row)).map((row) => row + inputIndex * COUNT);
      assert.deepEqual(found, expected);
      assert.deepEqual([...gone.positions()], inputIndex === 0 ? [5, 2100] : []);
    }
  });
});

describe('metrics where rows were purged', () => {
  const FIELDS = [field(1, 'a', 'int'), field(2, 'd', 'double'), field(3, 's', 'string')];

  function values(text: string, more = ''): Promise<Uint8Array> {
    return duck.write(
      `SELECT a::INT AS a, d::DOUBLE AS d, s::VARCHAR AS s FROM (VALUES ${text}) t(a, d, s)`,
      `, FIELD_IDS {a: 1, d: 2, s: 3}${more}`,
    );
  }

  const bytesOfInt = (value: number) => new Uint8Array(Int32Array.of(value).buffer);

  test('are those of what is left, and no longer those of the manifest', async () => {
    const bytes = await values(
      "(-9, 'nan'::DOUBLE, 'x'), (1, 2, NULL), (NULL, 3, 'b'), (7, NULL, 'c')",
    );
    const entry = {
      valueCounts: new Map([
        [1, 4],
        [2, 4],
        [3, 4],
      ]),
      nullValueCounts: new Map([
        [1, 1],
        [2, 1],
        [3, 1],
      ]),
      nanValueCounts: new Map([[2, 1]]),
      lowerBounds: new Map([[1, bytesOfInt(-9)]]),
      upperBounds: new Map([[1, bytesOfInt(7)]]),
    };

    const { outputs, purgedColumnCounts } = await rewrite({
      files: [{ bytes, entry, deletes: purge([0, 2]) }],
      fields: FIELDS,
    });

    const { dataFile } = outputs[0]!;
    assert.deepEqual(
      [...dataFile.valueCounts!],
      [
        [1, 2],
        [2, 2],
        [3, 2],
      ],
    );
    assert.deepEqual(
      [...dataFile.nullValueCounts!],
      [
        [1, 0],
        [2, 1],
        [3, 1],
      ],
    );
    assert.deepEqual([...dataFile.nanValueCounts!], [[2, 0]]);
    assert.deepEqual(dataFile.lowerBounds?.get(1), bytesOfInt(1));
    assert.deepEqual(dataFile.upperBounds?.get(1), bytesOfInt(7));
    assert.deepEqual(
      [...purgedColumnCounts!.valueCounts],
      [
        [1, 2],
        [2, 2],
        [3, 2],
      ],
    );
    assert.deepEqual(
      [...purgedColumnCounts!.nullValueCounts],
      [
        [1, 1],
        [2, 0],
        [3, 0],
      ],
    );
  });

  test('add up: what is left and what was purged are what the entry had', async () => {
    const rows = numbers(0, 5000).map((a) => `(${a % 7 === 0 ? 'NULL' : a}, ${a}, '${a}')`);
    const bytes = await values(rows.join(', '), ', ROW_GROUP_SIZE 2048');
    const gone = [...numbers(0, 2048), ...numbers(3000, 70)];

    const { outputs, purgedColumnCounts } = await rewrite({
      files: [{ bytes, deletes: purge(gone) }],
      fields: FIELDS,
    });

    const nulls = Math.ceil(5000 / 7);
    const { dataFile } = outputs[0]!;
    assert.equal(purgedColumnCounts?.valueCounts.get(1), gone.length);
    const purgedNulls = gone.filter((a) => a % 7 === 0).length;
    assert.equal(purgedColumnCounts?.nullValueCounts.get(1), purgedNulls);
    assert.equal(dataFile.nullValueCounts?.get(1), nulls - purgedNulls);
  });

  test('of rows that nobody counted are not made up', async () => {
    const bytes = await values("(1, 1, 'x'), (2, 2, 'y')");
    const filled = field(9, 'new', 'int', { initialDefault: 3 });
    const files = [
      { bytes, deletes: purge([0, 1]) },
      { bytes, deletes: purge([0]) },
    ];

    const { purgedColumnCounts } = await rewrite({ files, fields: [...FIELDS, filled] });

    assert.equal(purgedColumnCounts?.valueCounts.has(9), false);
    assert.equal(purgedColumnCounts?.valueCounts.get(1), 3);
  });
});
