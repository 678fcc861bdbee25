import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isIcebergError, seededRandom } from '../../shared/base/index.ts';
import { verifyParquetFile } from '../../shared/parquet/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { bitmapOf, DuckDb, field, rewrite } from './rewrite-fixture.ts';

const SEED = 20260104;
const MUTATIONS = 300;

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

describe('rewriteFileGroup on damaged files', () => {
  test('gives whole files or a named error, rows purged or not', async () => {
    const bytes = await duck.write(
      "SELECT i::INT AS a, 'v' || (i % 9) AS s, [i, NULL] AS l FROM range(300) t(i)",
      ', FIELD_IDS {a: 1, s: 2, l: {__duckdb_field_id: 3, element: 4}}, CODEC zstd',
    );
    const fields = [
      field(1, 'a', 'long'),
      field(2, 's', 'string'),
      field(3, 'l', {
        kind: 'list',
        elementId: 4,
        isElementRequired: false,
        elementType: { kind: 'long' },
      }),
      field(5, 'new', 'string', { initialDefault: 'x' }),
    ];
    const random = seededRandom(SEED);
    const outcomes = { written: 0, refused: 0 };

    for (let round = 0; round < MUTATIONS; round++) {
      const damaged = bytes.slice();
      const [high, low, value] = random.bytes(3);
      damaged[(high! * 256 + low!) % bytes.length] = value!;
      const entry = { recordCount: 300, firstRowId: 5n };
      const isPurged = round % 2 === 1;
      const deletes = { positions: bitmapOf([0, 7, 299]), treatment: 'purge' } as const;
      try {
        const outcome = await rewrite({
          files: [{ bytes: damaged, entry, ...(isPurged && { deletes }) }],
          fields,
          formatVersion: 3,
        });
        assert.equal(outcome.outputs[0]?.dataFile.recordCount, isPurged ? 297 : 300);
        await verifyParquetFile(bytesReader(outcome.bytes[0]!));
        outcomes.written++;
      } catch (error) {
        assert.ok(
          isIcebergError(error, 'invalid-data') || isIcebergError(error, 'unsupported'),
          String(error),
        );
        outcomes.refused++;
      }
    }

    assert.ok(outcomes.written > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
  });
});
