import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OptionTexts } from '../../../shared/maintenance/index.ts';
import type { PlanScope } from '../../../shared/operations/rewrite-data-files/index.ts';
import {
  MANIFESTS_AT_START,
  MIN_FILE_AGE_MS,
  PlannedHistory,
  TARGET_BYTES,
} from './incremental-fixture.ts';

const OPTIONS: OptionTexts = { 'min-input-files': '2' };
const DAY_MS = 24 * 60 * 60_000;

/** Region `eu` under the spec by region. */
const EU = 1;

/** A table whose files are all as large as wanted, old enough, and planned once. */
async function plannedOnce(): Promise<PlannedHistory> {
  const history = await PlannedHistory.create();
  history.clock.advanceMs(MIN_FILE_AGE_MS);
  await remember(history);
  return history;
}

async function remember(history: PlannedHistory, options = OPTIONS): Promise<void> {
  const { incremental } = await history.plan(options);
  await history.compact(incremental, () => false);
}

async function appendSmall(history: PlannedHistory, count = 1): Promise<void> {
  const files = Array.from({ length: count }, () => history.newFile(0, EU, 100));
  await history.commit('append', { addedManifests: [files] });
}

async function scopeOf(history: PlannedHistory, options = OPTIONS): Promise<PlanScope> {
  return (await history.plan(options)).incremental.plan.scope;
}

describe('a plan is of the whole table', () => {
  it('when nothing is remembered', async () => {
    const history = await PlannedHistory.create();

    assert.deepEqual(await scopeOf(history), { kind: 'full', reason: 'first-plan' });
  });

  it('and is not remembered, when there are few manifests', async () => {
    const history = await plannedOnce();
    const files = history.liveFiles('data').map(({ dataFile }) => dataFile.filePath);
    await history.commit('delete', { removedPaths: files.slice(0, MANIFESTS_AT_START - 15) });

    const { incremental } = await history.plan(OPTIONS);

    assert.deepEqual(incremental.plan.scope, { kind: 'full', reason: 'few-manifests' });
    assert.equal(incremental.nextState(new Set()), undefined);
  });

  it('when the last such plan is a week old, or as old as the table allows', async () => {
    const history = await plannedOnce();
    history.clock.advanceMs(7 * DAY_MS - 1);
    assert.equal((await scopeOf(history)).kind, 'incremental');
    history.clock.advanceMs(1);
    assert.deepEqual(await scopeOf(history), { kind: 'full', reason: 'full-plan-interval' });

    const other = await plannedOnce();
    await other.writer.setProperties({ 'firn.rewrite-data-files.full-plan-interval-ms': '0' });
    assert.deepEqual(await scopeOf(other), { kind: 'full', reason: 'full-plan-interval' });
  });

  it('when a plan that went on from others does not make the full one younger', async () => {
    const history = await plannedOnce();
    history.clock.advanceMs(4 * DAY_MS);
    await appendSmall(history);
    await remember(history);
    history.clock.advanceMs(4 * DAY_MS);

    assert.deepEqual(await scopeOf(history), { kind: 'full', reason: 'full-plan-interval' });
  });

  it('when what is remembered cannot be read', async () => {
    const history = await plannedOnce();
    history.state = new TextEncoder().encode('no state');

    assert.deepEqual(await scopeOf(history), { kind: 'full', reason: 'state-unreadable' });
  });

  it('when the planned snapshot was rolled back', async () => {
    const history = await plannedOnce();
    await appendSmall(history);
    await remember(history);
    await history.rollback();

    assert.deepEqual(await scopeOf(history), { kind: 'full', reason: 'history-unknown' });
  });

  it('when the planned snapshot and the one after it have expired', async () => {
    const history = await plannedOnce();
    await appendSmall(history);
    await appendSmall(history);
    await history.expire(2);
    assert.equal((await scopeOf(history)).kind, 'incremental');
    await history.expire(1);

    assert.deepEqual(await scopeOf(history), { kind: 'full', reason: 'history-unknown' });
  });

  it('when other files are wanted, but not for other budgets', async () => {
    const history = await plannedOnce();

    const other = await scopeOf(history, { ...OPTIONS, 'min-file-size-bytes': '1' });
    const budget = await scopeOf(history, { ...OPTIONS, 'partial-progress.enabled': 'true' });

    assert.deepEqual(other, { kind: 'full', reason: 'options-changed' });
    assert.equal(budget.kind, 'incremental');
  });

  it('when equality deletes came that apply to all partitions', async () => {
    const history = await plannedOnce();
    await history.evolveSpec();
    await history.evolveSpec();
    const [first] = history.liveFiles('data');
    await history.commit('overwrite', { addedManifests: [[history.newDelete(first!, 'global')]] });

    assert.deepEqual(await scopeOf(history), { kind: 'full', reason: 'global-deletes' });
  });
});

describe('a plan that goes on', () => {
  it('reads what was added and the small files of these partitions, and nothing else', async () => {
    const history = await plannedOnce();
    const { sinceSnapshotId } = (await scopeOf(history)) as { readonly sinceSnapshotId: bigint };
    await appendSmall(history);
    const first = await history.plan(OPTIONS);
    await history.compact(first.incremental, () => false);
    history.clock.advanceMs(MIN_FILE_AGE_MS);
    await remember(history);
    await appendSmall(history);
    const second = await history.plan(OPTIONS);

    // The manifest list, and the new manifest; the second time that of the first small file, too.
    assert.equal(first.readCount, 1 + 1);
    assert.equal(second.readCount, 1 + 1 + 1);
    assert.deepEqual(first.incremental.plan.scope, {
      kind: 'incremental',
      sinceSnapshotId,
      partitionCount: 1,
      readManifestCount: 1,
      manifestCount: MANIFESTS_AT_START + 1,
    });
  });

  it('reads the list alone when nothing happened', async () => {
    const history = await plannedOnce();

    const { incremental, readCount } = await history.plan(OPTIONS);

    assert.equal(readCount, 1);
    assert.deepEqual(incremental.plan.groups, []);
    assert.equal(incremental.before.fileCount, MANIFESTS_AT_START);
  });

  it('finds old small files in manifests that are older than the plan before', async () => {
    const history = await plannedOnce();
    await appendSmall(history);
    history.clock.advanceMs(MIN_FILE_AGE_MS);
    await remember(history);
    await appendSmall(history);
    history.clock.advanceMs(MIN_FILE_AGE_MS);

    const { incremental, full } = await history.plan(OPTIONS);

    assert.equal(incremental.plan.groups[0]?.files.length, 2);
    assert.deepEqual(incremental.plan.groups, full.plan.groups);
  });

  it('looks at files again that were too young, and at groups that were not committed', async () => {
    const history = await plannedOnce();
    await appendSmall(history, 2);
    const young = await history.plan(OPTIONS);
    await history.compact(young.incremental, () => false);
    history.clock.advanceMs(MIN_FILE_AGE_MS);
    const grown = await history.plan(OPTIONS);
    await history.compact(grown.incremental, () => false);
    const again = await history.plan(OPTIONS);
    await history.compact(again.incremental, () => true);
    const done = await history.plan(OPTIONS);

    const groupCounts = [young, grown, again, done].map(
      ({ incremental }) => incremental.plan.groups.length,
    );
    assert.deepEqual(groupCounts, [0, 1, 1, 0]);
    assert.equal(done.incremental.plan.scope.kind, 'incremental');
  });

  it('leaves partitions due that the budget of a run did not reach', async () => {
    const history = await plannedOnce();
    const budget = { ...OPTIONS, 'max-files-to-rewrite': '2' };
    const files = [EU, EU, EU + 1, EU + 1].map((choice) => history.newFile(0, choice, 100));
    await history.commit('append', { addedManifests: [files] });
    history.clock.advanceMs(MIN_FILE_AGE_MS);
    const first = await history.plan(budget);
    await history.compact(first.incremental, () => true);
    const second = await history.plan(budget);

    assert.deepEqual(
      [first, second].map(({ incremental }) =>
        incremental.plan.groups.map(({ partition }) => partition),
      ),
      [['region=eu'], ['region=us']],
    );
  });

  it('reads every file of a partition in which single files are deleted from', async () => {
    const history = await plannedOnce();
    const file = history.liveFiles('data')[EU]!;
    await history.commit('overwrite', { addedManifests: [[history.newDelete(file, 'file')]] });

    const { readCount, incremental } = await history.plan(OPTIONS);

    // The list, the delete manifest, and those of one of four regions.
    assert.equal(readCount, 1 + 1 + MANIFESTS_AT_START / 4);
    assert.equal(incremental.plan.scanned.fileCount, MANIFESTS_AT_START / 4);
  });

  it('reads no more for deletes of a whole partition, unless so few delete files are wanted', async () => {
    const history = await plannedOnce();
    const few = { ...OPTIONS, 'delete-file-threshold': '1' };
    const file = history.liveFiles('data')[EU]!;
    await history.commit('overwrite', { addedManifests: [[history.newDelete(file, 'equality')]] });
    const many = await history.plan(OPTIONS);

    const other = await PlannedHistory.create();
    other.clock.advanceMs(MIN_FILE_AGE_MS);
    await remember(other, few);
    await other.commit('overwrite', { addedManifests: [[other.newDelete(file, 'equality')]] });
    const all = await other.plan(few);

    assert.equal(many.readCount, 1 + 1);
    assert.equal(all.readCount, 1 + 1 + MANIFESTS_AT_START / 4);
  });

  it('looks at a partition again that lost a file', async () => {
    const history = await plannedOnce();
    const file = history.liveFiles('data')[EU]!;
    await history.commit('delete', { removedPaths: [file.dataFile.filePath] });

    const { incremental } = await history.plan(OPTIONS);

    assert.equal(
      incremental.plan.scope.kind === 'incremental' && incremental.plan.scope.partitionCount,
      1,
    );
    assert.equal(incremental.before.bytes, (MANIFESTS_AT_START - 1) * TARGET_BYTES);
  });
});
