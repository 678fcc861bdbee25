import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { estimateUsage } from '../../../shared/operations/rewrite-deletes/index.ts';
import {
  append,
  commitDeletes,
  createWarehouse,
  equalityDelete,
  fileScopedDelete,
  run,
  type Warehouse,
} from './deletes-fixture.ts';

const ALL = { 'rewrite-all': 'true' };

/** What a dry run expects, and what the run then asked of S3. */
async function expectedAndUsed(warehouse: Warehouse) {
  const observed = await run(warehouse, ALL, { mode: 'observe' });
  assert.ok(observed.outcome === 'observed');
  const usage = estimateUsage(observed);
  const { outcome, requests } = await run(warehouse, ALL);
  assert.equal(outcome, 'committed');
  const { head, read, readRange, write, openWriter } = requests;
  return { usage, getCount: head + read + readRange, putCount: write + openWriter };
}

function assertNear(expected: number, used: number): void {
  assert.ok(
    Math.abs(expected - used) <= Math.max(4, 0.3 * used),
    `${expected} requests expected, ${used} used`,
  );
}

describe('estimateUsage', () => {
  for (const formatVersion of [2, 3] as const) {
    it(`tells the requests of a run within a third, v${formatVersion}`, async () => {
      const warehouse = await createWarehouse({ formatVersion: 2 });
      for (let index = 0; index < 12; index++) {
        const file = await append(warehouse, index * 10, index % 2 ? 'eu' : 'us');
        await commitDeletes(warehouse, [
          await fileScopedDelete(warehouse, file, [1]),
          await fileScopedDelete(warehouse, file, [2]),
          await equalityDelete(warehouse, file, [{ 1: BigInt(index * 10) }]),
        ]);
      }
      if (formatVersion === 3) await warehouse.writer.upgrade(3);

      const { usage, getCount, putCount } = await expectedAndUsed(warehouse);

      assertNear(usage.s3GetCount, getCount);
      assertNear(usage.s3PutCount, putCount);
    });
  }
});
