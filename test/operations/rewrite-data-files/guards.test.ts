import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import { snapshotOfRef } from '../../../shared/iceberg/index.ts';
import { createWarehouse, rewrite, smallFiles, type Warehouse } from './rewrite-fixture.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** As a deployment runs it that nobody has set up. */
function run(warehouse: Warehouse, mode: 'observe' | 'commit' = 'commit') {
  return rewrite(warehouse, {}, { mode, guards: DEFAULT_GUARD_SETTINGS });
}

async function headId({ builder }: Warehouse): Promise<bigint | undefined> {
  return (await builder.load()).metadata.currentSnapshotId;
}

describe('rewriteDataFiles and the age of files', () => {
  it('leaves files alone that are too young, and says when the first will not be', async () => {
    const warehouse = await createWarehouse();
    const head = await headId(warehouse);

    const outcome = await run(warehouse);

    assert.equal(outcome.outcome, 'nothing-planned');
    assert.deepEqual(outcome.plan.skippedFiles, {
      'too-young': { fileCount: 12, bytes: outcome.before.bytes },
    });
    // The first of three commits a second apart was three seconds ago.
    assert.equal(outcome.plan.dueAtMs, warehouse.clock.nowMs() + 15 * MINUTE_MS - 3000);
    assert.equal(await headId(warehouse), head);
  });

  it('takes those that are old enough, and leaves the others beside them', async () => {
    const warehouse = await createWarehouse();
    // Twice the gap to the next commit would be 100 minutes.
    warehouse.clock.advanceMs(50 * MINUTE_MS);
    await warehouse.builder.append(smallFiles(500));
    warehouse.clock.advanceMs(60 * MINUTE_MS);

    const outcome = await run(warehouse);

    assert.equal(outcome.outcome, 'committed');
    assert.deepEqual(
      outcome.plan.groups.map((group) => group.files.length),
      [6, 6],
    );
    assert.equal(outcome.plan.skippedFiles['too-young']?.fileCount, 4);
  });

  it('counts a file as young only where nothing else keeps it from being rewritten', async () => {
    const warehouse = await createWarehouse();

    const outcome = await rewrite(
      warehouse,
      { 'target-file-size-bytes': '700', 'min-file-size-bytes': '1' },
      { guards: DEFAULT_GUARD_SETTINGS },
    );

    assert.equal(outcome.outcome, 'nothing-planned');
    assert.deepEqual(Object.keys(outcome.plan.skippedFiles), ['size-in-range']);
    assert.equal(outcome.plan.dueAtMs, undefined);
  });
});

describe('rewriteDataFiles and the rules of a run', () => {
  it('holds back what comes too soon after its own last commit', async () => {
    const warehouse = await createWarehouse();
    warehouse.clock.advanceMs(2 * HOUR_MS);
    assert.equal((await run(warehouse)).outcome, 'committed');
    const head = await headId(warehouse);
    await warehouse.builder.append([...smallFiles(500), ...smallFiles(600), ...smallFiles(700)]);

    const held = await rewrite(
      warehouse,
      {},
      { guards: { ...DEFAULT_GUARD_SETTINGS, overrides: { minFileAgeMs: 0 } } },
    );

    assert.equal(held.outcome, 'held-back');
    assert.deepEqual(
      held.verdicts.map(({ guard, state }) => [guard, state]),
      [['commit-interval', 'held-back']],
    );
    assert.equal(held.plan.groups.length, 2);
    const { metadata } = await warehouse.builder.load();
    assert.equal(snapshotOfRef(metadata)?.parentSnapshotId, head);
  });

  it('holds back for an audit branch, says the same when it observes, and goes on after a day', async () => {
    const warehouse = await createWarehouse();
    warehouse.clock.advanceMs(2 * HOUR_MS);
    await warehouse.builder.addRef('audit', 'branch');
    await warehouse.builder.append(smallFiles(500), 'audit');

    const held = await run(warehouse);
    const observed = await run(warehouse, 'observe');
    warehouse.clock.advanceMs(24 * HOUR_MS);
    const later = await run(warehouse);

    assert.equal(held.outcome, 'held-back');
    assert.equal(observed.outcome, 'observed');
    assert.deepEqual(observed.verdicts, held.verdicts);
    assert.equal(later.outcome, 'committed');
    assert.deepEqual(
      later.verdicts.map(({ guard, state }) => [guard, state]),
      [['write-audit-publish', 'overruled']],
    );
    assert.match(later.verdicts[0]?.detail ?? '', /^branch audit cannot be published/);
  });

  it('stands down beside another maintainer, and goes on where the table says so', async () => {
    const warehouse = await createWarehouse();
    const summary = { 'engine-name': 'spark', 'app-id': 'app-7', 'added-data-files': '1' };
    for (let count = 0; count < 2; count++) {
      await warehouse.builder.commit({ operation: 'replace', summary });
      warehouse.clock.advanceMs(3 * HOUR_MS);
    }

    const held = await run(warehouse);
    await warehouse.builder.edit((json) => ({
      ...json,
      properties: { 'firn.share': 'true' },
    }));
    const shared = await run(warehouse);

    assert.equal(held.outcome, 'held-back');
    assert.match(
      held.verdicts[0]?.detail ?? '',
      /^spark \(app app-7\) .* rewrites this table, too/,
    );
    assert.equal(shared.outcome, 'committed');
  });
});
