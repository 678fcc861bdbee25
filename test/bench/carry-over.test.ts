import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compactDeletedFrom } from '../../bench/support/deleted-from-table.ts';
import { VirtualClock } from '../../bench/support/virtual-clock.ts';

/** As in the bench, but for data files: half a dozen of those that take so long are enough. */
const LATENCIES = { getMs: 20, dataGetMs: 5000, putMs: 40, itemMs: 5 };
const PARTITION_COUNT = 6;

describe('a compaction of half a minute beside two writers that delete from its files all the time', () => {
  it('lands with all groups, and no row is lost, comes back, or has another row id', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 10, 30));

    const run = await clock.run(() =>
      compactDeletedFrom(
        { partitionCount: PARTITION_COUNT, writerCount: 2, queryMs: 1000, deadlineMs: 120_000 },
        { clock, latencies: LATENCIES, seed: 5 },
      ),
    );

    assert.ok(run.isLanded);
    assert.equal(run.committedGroupCount, PARTITION_COUNT);
    assert.ok(run.rewriteSeconds >= 30, `${run.rewriteSeconds} s`);
    assert.ok(run.foreign.landedCount >= 30, `${run.foreign.landedCount} commits of others`);
    assert.ok(run.foreign.replacedVectorCount > 0);
    assert.ok(run.appliedRowCount > 0);
    assert.ok(run.carriedOverRowCount > 0);
    assert.equal(run.appliedRowCount + run.carriedOverRowCount, run.deletedRowCount);
    assert.equal(run.rowCountAfter, run.rowCountBefore - run.deletedRowCount);
    assert.deepEqual([run.rowsLost, run.rowsBack], [0, 0]);
  });
});
