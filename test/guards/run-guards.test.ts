import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heldBackUntilMs, judgeRun } from '../../shared/guards/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import {
  DAY_MS,
  type ExampleSnapshot,
  HOUR_MS,
  MINUTE_MS,
  NOW_MS,
  runOn,
} from './guard-fixture.ts';

const OWN = { 'firn.run-id': 'r1' };
const SPARK = {
  'engine-name': 'spark',
  'engine-version': '4.0.1',
  'app-id': 'local-17',
  'added-data-files': '1',
  'deleted-data-files': '9',
};

function names(run: ReturnType<typeof runOn>): readonly string[] {
  return judgeRun(run).map(({ guard, state }) => `${guard} ${state}`);
}

describe('judgeRun', () => {
  it('has nothing against a table that only its writer commits to', () => {
    assert.deepEqual(judgeRun(runOn({ snapshots: [{ id: 1, agoMs: 0 }] })), []);
    assert.deepEqual(judgeRun(runOn({ snapshots: [] })), []);
  });

  it('waits for the last of the rules that hold a run back', () => {
    const snapshots = [
      { id: 1, agoMs: 2 * MINUTE_MS, operation: 'replace', summary: OWN },
      { id: 2, agoMs: MINUTE_MS, parent: 1 },
    ];
    const verdicts = judgeRun(runOn({ snapshots, main: 1, branches: { audit: 2 } }));

    assert.deepEqual(
      verdicts.map(({ guard }) => guard),
      ['write-audit-publish', 'commit-interval'],
    );
    assert.equal(heldBackUntilMs(verdicts), NOW_MS + DAY_MS - MINUTE_MS);
    assert.equal(heldBackUntilMs([]), undefined);
  });
});

describe('commit-interval', () => {
  const own = (agoMs: number): ExampleSnapshot => ({
    id: 1,
    agoMs,
    operation: 'replace',
    summary: OWN,
  });

  it('holds a run back until the interval since the last own commit is over', () => {
    const early = runOn({ snapshots: [own(5 * MINUTE_MS - 1), { id: 2, agoMs: 0, parent: 1 }] });

    const [verdict] = judgeRun(early);

    assert.equal(verdict?.guard, 'commit-interval');
    assert.equal(verdict.state, 'held-back');
    assert.equal(verdict.dueAtMs, NOW_MS + 1);
    assert.deepEqual(verdict.figures, {
      branch: 'main',
      lastSnapshotId: '1',
      agoMs: 5 * MINUTE_MS - 1,
      intervalMs: 5 * MINUTE_MS,
    });
    assert.deepEqual(names(runOn({ snapshots: [own(5 * MINUTE_MS)] })), []);
  });

  it('is asked of each branch by itself', () => {
    const table = {
      snapshots: [{ id: 3, agoMs: DAY_MS }, own(1000)],
      main: 1,
      branches: { dev: 3 },
    };

    assert.deepEqual(names(runOn(table)), ['commit-interval held-back']);
    assert.deepEqual(names(runOn(table, { branch: 'dev' })), []);
  });

  it('can be lengthened by the table, shortened by the deployment, and set by a person', () => {
    const table = (intervalMs: number) => ({
      snapshots: [own(HOUR_MS)],
      properties: { 'firn.commit.min-interval-ms': String(intervalMs) },
    });

    assert.deepEqual(names(runOn(table(DAY_MS))), ['commit-interval held-back']);
    assert.deepEqual(names(runOn(table(0), { settings: { commitIntervalMsFloor: DAY_MS } })), [
      'commit-interval held-back',
    ]);
    assert.deepEqual(names(runOn(table(0), { settings: { commitIntervalMsFloor: 0 } })), []);
    const overrides = { commitIntervalMs: 0 };
    assert.deepEqual(names(runOn(table(DAY_MS), { settings: { overrides } })), []);
  });

  it('survives a circle of parents', () => {
    const snapshots = [
      { id: 1, agoMs: 0, parent: 2 },
      { id: 2, agoMs: 0, parent: 1 },
    ];

    assert.deepEqual(names(runOn({ snapshots })), []);
  });
});

describe('write-audit-publish', () => {
  const MAIN = { id: 1, agoMs: 3 * HOUR_MS };
  const audited = { id: 2, agoMs: 2 * HOUR_MS, parent: 1 };

  it('holds back for a branch that main could be fast-forwarded to, and names it', () => {
    const later = { id: 3, agoMs: HOUR_MS, parent: 2 };
    const run = runOn({ snapshots: [MAIN, audited, later], main: 1, branches: { audit: 3 } });

    const [verdict] = judgeRun(run);

    assert.equal(verdict?.guard, 'write-audit-publish');
    assert.equal(verdict.state, 'held-back');
    assert.match(verdict.detail, /^branch audit could not be published/);
    assert.equal(verdict.dueAtMs, NOW_MS + 22 * HOUR_MS);
  });

  it('counts the wait from when the work was first due, where that is known', () => {
    const table = { snapshots: [MAIN, audited], main: 1, branches: { audit: 2 } };

    const firstDueAtMs = NOW_MS - DAY_MS;

    assert.deepEqual(names(runOn(table, { firstDueAtMs })), ['write-audit-publish overruled']);
    assert.deepEqual(names(runOn(table, { firstDueAtMs: firstDueAtMs + 1 })), [
      'write-audit-publish held-back',
    ]);
  });

  it('goes on once the wait is over, and names the branch still', () => {
    const old = { id: 2, agoMs: DAY_MS, parent: 1 };
    const [verdict] = judgeRun(
      runOn({ snapshots: [{ id: 1, agoMs: 2 * DAY_MS }, old], main: 1, branches: { audit: 2 } }),
    );

    assert.equal(verdict?.state, 'overruled');
    assert.match(verdict.detail, /^branch audit cannot be published by fast-forward/);
  });

  it('does not ask the branches that diverged, are behind, or lost the way to main', () => {
    const snapshots = [
      { id: 1, agoMs: 4 * HOUR_MS },
      { id: 2, agoMs: 3 * HOUR_MS, parent: 1 },
      { id: 3, agoMs: 2 * HOUR_MS, parent: 1 },
      { id: 4, agoMs: HOUR_MS, parent: 17 },
    ];
    const branches = { behind: 1, same: 2, diverged: 3, orphan: 4 };

    assert.deepEqual(names(runOn({ snapshots, main: 2, branches })), []);
  });

  it('does not wait for tags, nor with commits to other branches', () => {
    const snapshots = [MAIN, audited];

    assert.deepEqual(names(runOn({ snapshots, main: 1, tags: { v1: 2 } })), []);
    assert.deepEqual(
      names(runOn({ snapshots, main: 1, branches: { audit: 2 } }, { branch: 'audit' })),
      [],
    );
  });

  it('holds back for a staged snapshot on the head, unless it is an append', () => {
    const staged = (operation: string) => ({
      snapshots: [MAIN, { ...audited, operation, summary: { 'wap.id': 'w7' } }],
      main: 1,
    });

    const [verdict] = judgeRun(runOn(staged('overwrite')));

    assert.equal(verdict?.state, 'held-back');
    assert.match(verdict.detail, /^staged snapshot 2 \(wap\.id w7\) could not be published/);
    assert.deepEqual(names(runOn(staged('append'))), []);
  });

  it('does not take a snapshot that was rolled back for a staged one', () => {
    const snapshots = [MAIN, { ...audited, operation: 'overwrite' }];

    assert.deepEqual(names(runOn({ snapshots, main: 1, log: [1, 2, 1] })), []);
  });

  it('can wait longer for a table, and not at all for a person', () => {
    const table = {
      snapshots: [MAIN, { ...audited, agoMs: DAY_MS }],
      main: 1,
      branches: { audit: 2 },
      properties: { 'firn.wap.wait-ms': String(2 * DAY_MS) },
    };

    assert.deepEqual(names(runOn(table)), ['write-audit-publish held-back']);
    assert.deepEqual(names(runOn(table, { settings: { overrides: { wapWaitMs: 0 } } })), [
      'write-audit-publish overruled',
    ]);
  });
});

describe('foreign-maintainer', () => {
  const replace = (id: number, agoMs: number, summary: object = SPARK): ExampleSnapshot => ({
    id,
    agoMs,
    operation: 'replace',
    summary: { ...summary },
  });

  it('stands down after two foreign rewrites within seven days, and names engine and app', () => {
    const [verdict] = judgeRun(
      runOn({ snapshots: [replace(1, 2 * DAY_MS), replace(2, DAY_MS), { id: 3, agoMs: 0 }] }),
    );

    assert.equal(verdict?.guard, 'foreign-maintainer');
    assert.equal(verdict.state, 'held-back');
    assert.match(
      verdict.detail,
      /^spark 4\.0\.1 \(app local-17\) \(snapshot 2\) rewrites this table/,
    );
    assert.equal(verdict.figures['engine'], 'spark');
    assert.equal(verdict.figures['appId'], 'local-17');
    assert.equal(verdict.dueAtMs, NOW_MS + 6 * DAY_MS);
  });

  it('goes on after one, after seven quiet days, and when the two lie further apart', () => {
    const tables = [
      [replace(1, DAY_MS)],
      [replace(1, 8 * DAY_MS), replace(2, 7 * DAY_MS)],
      [replace(1, 8 * DAY_MS), replace(2, DAY_MS - 1)],
    ];

    for (const snapshots of tables) assert.deepEqual(names(runOn({ snapshots })), []);
  });

  it('stays down until the quiet days are over, not only while two lie within seven days', () => {
    const snapshots = [replace(1, 12 * DAY_MS), replace(2, 6 * DAY_MS)];

    assert.deepEqual(names(runOn({ snapshots })), ['foreign-maintainer held-back']);
  });

  it('does not mind own rewrites, nor those of another kind', () => {
    const manifests = {
      'manifests-created': '1',
      'manifests-replaced': '9',
      'added-data-files': '0',
    };
    const deletes = { 'added-delete-files': '1', 'removed-delete-files': '4' };
    const tables = [{ ...SPARK, ...OWN }, manifests, deletes].map((summary) => [
      replace(1, 2 * DAY_MS, summary),
      replace(2, DAY_MS, summary),
    ]);

    const found = tables.map((snapshots) =>
      judgeRun(runOn({ snapshots })).filter(({ guard }) => guard === 'foreign-maintainer'),
    );

    assert.deepEqual(found, [[], [], []]);
    const [, ofManifests, ofDeletes] = tables;
    for (const [snapshots, operation] of [
      [ofManifests, 'rewrite-manifests'],
      [ofDeletes, 'rewrite-deletes'],
    ] as const) {
      const run = runOn({ snapshots: snapshots ?? [] }, { operation });
      assert.deepEqual(names(run), ['foreign-maintainer held-back']);
    }
  });

  it('takes a rewrite that does not say what it did for one of any kind', () => {
    const snapshots = [replace(1, 2 * DAY_MS, {}), replace(2, DAY_MS, {})];

    const [verdict] = judgeRun(runOn({ snapshots }));

    assert.match(verdict?.detail ?? '', /^another maintainer \(snapshot 2\)/);
  });

  it('goes on beside another where the table or a person says so, and mentions it', () => {
    const snapshots = [replace(1, 2 * DAY_MS), replace(2, DAY_MS)];
    const properties = { 'firn.share': 'true' };

    assert.deepEqual(names(runOn({ snapshots, properties })), ['foreign-maintainer overruled']);
    assert.deepEqual(names(runOn({ snapshots }, { settings: { overrides: { isShared: true } } })), [
      'foreign-maintainer overruled',
    ]);
    assert.throws(
      () => judgeRun(runOn({ snapshots, properties: { 'firn.share': 'yes' } })),
      errorOfKind('invalid-config', /yes/),
    );
  });
});
