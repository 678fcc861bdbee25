import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ColumnsOptions, openColumns, readColumns } from '../../shared/datafile/index.ts';
import type { DataFile, NestedField } from '../../shared/iceberg/index.ts';
import { physicalValueAt, readParquetFooter } from '../../shared/parquet/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { DuckDb, field, rewrite } from './rewrite-fixture.ts';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

const A = field(1, 'a', 'int');
const B = field(2, 'b', 'string');
const ROWS =
  "SELECT (CASE WHEN range % 7 = 3 THEN NULL ELSE range END)::INT a, CASE WHEN range % 5 = 1 THEN NULL ELSE repeat('x', (range % 90)::INT) END b FROM range(6000)";

function entryOf(bytes: Uint8Array, recordCount: number): DataFile {
  return {
    content: 'data',
    filePath: 'f.parquet',
    fileFormat: 'PARQUET',
    partition: [],
    recordCount,
    fileSizeBytes: bytes.length,
    unknownFields: [],
  };
}

function optionsOf(
  fields: readonly NestedField[],
  more: Partial<ColumnsOptions> = {},
): ColumnsOptions {
  return { fields, formatVersion: 3, partitionValues: new Map(), nameMapping: undefined, ...more };
}

/** Rows as texts of their columns' bytes, with how many came at a time. */
async function readRows(bytes: Uint8Array, options: ColumnsOptions) {
  const { metadata } = await readParquetFooter(bytesReader(bytes));
  const dataFile = entryOf(bytes, metadata.numRows);
  const opened = await openColumns({ dataFile, reader: bytesReader(bytes) }, options);
  const rows: (readonly (string | null)[])[] = [];
  const batchRowCounts: number[] = [];
  for await (const { rowCount, columns } of readColumns(opened)) {
    batchRowCounts.push(rowCount);
    const valueIndexes = columns.map(() => 0);
    for (let row = 0; row < rowCount; row++) {
      rows.push(
        columns.map((column, index) => {
          const { maxDefinitionLevel } = opened.leaves[index]!;
          if (column.definitionLevels?.[row] !== maxDefinitionLevel) return null;
          return Buffer.from(physicalValueAt(column.values, valueIndexes[index]!++)).toString(
            'hex',
          );
        }),
      );
    }
  }
  return { rows, batchRowCounts, missingFieldIds: [...opened.missingFieldIds] };
}

describe('readColumns', () => {
  test('gives rows whose pages end at different places, over row groups', async () => {
    const written = await duck.write(ROWS, ', FIELD_IDS {a: 1, b: 2}, ROW_GROUP_SIZE 2048');
    // Re-encoded, since the column becomes long, with pages of a few rows; the other column's pages stay.
    const properties = { 'write.parquet.page-size-bytes': '1000' };
    const long = field(1, 'a', 'long');
    const { bytes } = await rewrite({ files: [{ bytes: written }], fields: [long, B], properties });

    const { rows, batchRowCounts } = await readRows(bytes[0]!, optionsOf([B, long]));

    assert.equal(rows.length, 6000);
    assert.ok(batchRowCounts.length > 30, `${batchRowCounts.length} batches`);
    for (const [index, row] of rows.entries()) {
      const b = index % 5 === 1 ? null : '78'.repeat(index % 90);
      const a = Buffer.alloc(8);
      a.writeBigInt64LE(BigInt(index));
      assert.deepEqual(row, [b, index % 7 === 3 ? null : a.toString('hex')]);
    }
  });

  test('gives the default, the partition value or null of a column that the file lacks', async () => {
    const bytes = await duck.write('SELECT range::INT a FROM range(2)', ', FIELD_IDS {a: 1}');
    const fields = [
      field(3, 'c', 'string', { initialDefault: 'c' }),
      field(4, 'd', 'string'),
      field(5, 'e', 'int'),
      A,
    ];

    const { rows, missingFieldIds } = await readRows(
      bytes,
      optionsOf(fields, { partitionValues: new Map([[5, 9]]) }),
    );

    assert.deepEqual(missingFieldIds, [3, 4, 5]);
    assert.deepEqual(rows, [
      ['63', null, '09000000', '00000000'],
      ['63', null, '09000000', '01000000'],
    ]);
  });

  test('finds columns by the name mapping in files without field ids', async () => {
    const bytes = await duck.write('SELECT 5::INT a');
    const nameMapping = [{ names: ['a'], fieldId: 1, fields: [] }];

    assert.deepEqual((await readRows(bytes, optionsOf([A], { nameMapping }))).rows, [['05000000']]);
    await assert.rejects(readRows(bytes, optionsOf([A])), errorOfKind('unsupported', /field ids/));
  });

  test('refuses files that are not what their entry says', async () => {
    const bytes = await duck.write('SELECT 5::INT a', ', FIELD_IDS {a: 1}');
    const entry = entryOf(bytes, 1);
    const open = (more: Partial<DataFile>) =>
      openColumns({ dataFile: { ...entry, ...more }, reader: bytesReader(bytes) }, optionsOf([A]));

    await assert.rejects(open({ recordCount: 2 }), errorOfKind('invalid-data', /1 rows.*says 2/));
    await assert.rejects(open({ fileSizeBytes: 9 }), errorOfKind('invalid-data', /bytes.*says 9/));
    await assert.rejects(open({ fileFormat: 'orc' }), errorOfKind('unsupported', /format orc/));
  });
});
