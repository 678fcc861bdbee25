import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IcebergError, parseJson, serializeJson } from '../../../shared/base/index.ts';
import {
  outcomeToJson,
  type RewriteDataFilesOutcome,
  type RewriteGroupResult,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { countingStore, MemoryObjectStore } from '../../../shared/storage/index.ts';
import { createWarehouse, rewrite } from './rewrite-fixture.ts';

const requests = countingStore(new MemoryObjectStore()).requestCounts;
const SNAPSHOT_ID = 9_007_199_254_740_993n;

const OUTPUTS = {
  groupIndex: 0,
  inputFileCount: 6,
  inputBytes: 600,
  inputRowGroupCount: 6,
  outputFileCount: 1,
  outputBytes: 500,
  outputRowGroupCount: 1,
  columnChunks: { copiedCount: 3, copiedBytes: 300, encodedCount: 1, encodedBytes: 50 },
  deletes: { appliedFileCount: 2, deletedRowCount: 9, purgedRowCount: 4, carriedRowCount: 5 },
} as const;

async function partialOutcome(group: RewriteGroupResult): Promise<RewriteDataFilesOutcome> {
  const observed = await rewrite(await createWarehouse(), {}, { mode: 'observe' });
  assert.equal(observed.outcome, 'observed');
  const { plan, before, verdicts } = observed;
  return {
    outcome: 'partial',
    plan,
    before,
    after: before,
    verdicts,
    groups: [group],
    commits: [],
    requests,
  };
}

describe('outcomeToJson', () => {
  it('says how a run ended that planned nothing', () => {
    assert.deepEqual(outcomeToJson({ outcome: 'no-snapshot', requests }), {
      outcome: 'no-snapshot',
      requests,
    });
    assert.deepEqual(
      outcomeToJson({ outcome: 'skipped', reason: 'no-manifest-list', detail: 'x', requests }),
      { outcome: 'skipped', reason: 'no-manifest-list', detail: 'x', requests },
    );
  });

  const error = new IcebergError('invalid-data', 'file: broken', { offset: 1n });
  const written = { kind: 'invalid-data', message: 'file: broken' };
  for (const [group, json] of [
    [
      { state: 'not-started', groupIndex: 0 },
      { state: 'not-started', groupIndex: 0 },
    ],
    [
      { state: 'failed', groupIndex: 0, error },
      { state: 'failed', groupIndex: 0, error: written },
    ],
    [
      { ...OUTPUTS, state: 'commit-failed', error },
      { ...OUTPUTS, state: 'commit-failed', error: written },
    ],
    [
      { ...OUTPUTS, state: 'dropped', reason: 'input-gone', detail: 'x' },
      { ...OUTPUTS, state: 'dropped', reason: 'input-gone', detail: 'x' },
    ],
    [
      { ...OUTPUTS, state: 'committed', snapshotId: SNAPSHOT_ID },
      { ...OUTPUTS, state: 'committed', snapshotId: '9007199254740993' },
    ],
  ] as const satisfies readonly (readonly [RewriteGroupResult, object])[]) {
    it(`tells a group that is ${group.state}`, async () => {
      const document = outcomeToJson(await partialOutcome(group));

      assert.deepEqual(document['groups'], [json]);
    });
  }

  it('has ids as strings, so that any reader of JSON keeps them', async () => {
    const outcome = await rewrite(await createWarehouse({ formatVersion: 3 }));

    const text = serializeJson(outcomeToJson(outcome));

    assert.deepEqual(parseJson(text, 'outcome'), JSON.parse(text));
    assert.ok('commits' in outcome && outcome.commits[0] !== undefined);
    assert.ok(text.includes(`"snapshotId":"${outcome.commits[0].snapshotId}"`));
  });
});
