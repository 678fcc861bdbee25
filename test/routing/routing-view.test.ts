import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { REQUEUE_MS, triggerText } from '../../shared/routing/index.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, NOW_MS } from '../guards/guard-fixture.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { COMMIT, MIB, OBSERVE, planOf, smallCommit, standing } from './routing-fixture.ts';

/** Commits 1 to `count`, a minute apart, the last one a minute ago. */
function eachMinute(count: number, options: Parameters<typeof smallCommit>[2] = {}) {
  return Array.from({ length: count }, (_, index) =>
    smallCommit(index + 1, (count - index) * MINUTE_MS, options),
  );
}

function trigger(view: ReturnType<typeof standing>, name: string) {
  const found = view.triggers.find((each) => each.name === name);
  assert.ok(found !== undefined, `no trigger ${name}`);
  return found;
}

describe('a table', () => {
  it('that was never planned is due, once its oldest files are old enough', () => {
    const snapshots = [smallCommit(1, 10 * MINUTE_MS)];
    const guards = DEFAULT_GUARD_SETTINGS;

    assert.deepEqual(
      [standing({ snapshots }, undefined)].map((view) => [view.standing, view.reason]),
      [['due', 'never-planned']],
    );
    const young = standing({ snapshots }, undefined, { guards });
    assert.equal(young.standing, 'waiting');
    assert.equal(young.dueAtMs, NOW_MS - 10 * MINUTE_MS + 2 * HOUR_MS);
  });

  it('without a snapshot is idle', () => {
    const view = standing({ snapshots: [] }, undefined);

    assert.deepEqual([view.standing, view.reason], ['idle', 'no-snapshot']);
  });

  it('to which nothing was added since the plan is idle', () => {
    const view = standing({ snapshots: [smallCommit(1, HOUR_MS)] }, { plan: planOf(1, MINUTE_MS) });

    assert.deepEqual([view.standing, view.reason], ['idle', 'nothing-added']);
    assert.equal(view.dueAtMs, undefined);
  });

  it('with firn.enabled=false is off, whatever is due', () => {
    const permission = { mode: 'observe', rule: 'table-disabled', reason: 'it says so' } as const;

    const view = standing({ snapshots: eachMinute(99) }, undefined, { permission });

    assert.deepEqual(
      [view.standing, view.reason, view.details],
      ['off', 'table-disabled', ['it says so']],
    );
  });

  it('that compaction never takes is off, with the reason', () => {
    const properties = { 'write.location-provider.impl': 'com.example.Provider' };

    const view = standing({ snapshots: eachMinute(99), properties }, undefined);

    assert.deepEqual([view.standing, view.reason], ['off', 'custom-location-provider']);
  });

  it('that is only observed becomes due as one that is allowed does, and idle after its plan', () => {
    const snapshots = eachMinute(11);
    const before = { plan: planOf(1, HOUR_MS) };
    const after = { plan: planOf(11, 0, { mode: 'observe' }) };

    assert.equal(standing({ snapshots }, before, { permission: OBSERVE }).standing, 'due');
    assert.equal(standing({ snapshots }, after, { permission: OBSERVE }).standing, 'idle');
  });

  it('that was only observed is due once it is allowed, though nothing was added', () => {
    const observed = { plan: planOf(11, MINUTE_MS, { mode: 'observe' }) };

    const view = standing({ snapshots: eachMinute(11) }, observed, { permission: COMMIT });

    assert.deepEqual([view.standing, view.reason], ['due', 'allowed-since']);
  });
});

describe('history', () => {
  it('is unknown once the planned snapshot is gone, and the table due', () => {
    const expired = [{ ...smallCommit(4, HOUR_MS), parent: 3 }, smallCommit(5, MINUTE_MS)];
    const view = standing({ snapshots: expired }, { plan: planOf(2, 2 * HOUR_MS) });

    assert.deepEqual([view.standing, view.reason], ['due', 'history-unknown']);
    assert.match(view.details.join(), /planned last is gone/);
  });

  it('is unknown after a rollback to before the planned snapshot', () => {
    const snapshots = [smallCommit(1, 2 * HOUR_MS), smallCommit(2, HOUR_MS)];
    const view = standing({ snapshots, main: 1 }, { plan: planOf(2, MINUTE_MS) });

    assert.deepEqual([view.standing, view.reason], ['due', 'history-unknown']);
  });

  it('that is unknown is no reason before anything new could be old enough', () => {
    const snapshots = [{ ...smallCommit(4, MINUTE_MS), parent: 3 }];
    const plan = planOf(2, 5 * MINUTE_MS);
    const guards = { ...DEFAULT_GUARD_SETTINGS, minFileAgeMsDerivedMax: 15 * MINUTE_MS };

    const view = standing({ snapshots }, { plan }, { guards });

    assert.equal(view.standing, 'waiting');
    assert.equal(view.dueAtMs, NOW_MS + 10 * MINUTE_MS);
  });

  it('is known where the planned snapshot expired, but the one on it has not', () => {
    const own = {
      id: 3,
      agoMs: HOUR_MS,
      parent: 2,
      operation: 'replace',
      summary: { 'firn.run-id': 'r', 'added-data-files': '9' },
    };

    const view = standing({ snapshots: [own] }, { plan: planOf(2, 2 * HOUR_MS) });

    assert.deepEqual([view.standing, view.reason], ['idle', 'nothing-added']);
  });

  it("leaves out Firn's own commits, and what other maintainers rewrote", () => {
    const foreign = smallCommit(1, HOUR_MS);
    const own = { ...smallCommit(2, 9, { files: 500 }), operation: 'replace' };
    const replaced = { ...smallCommit(3, 8, { files: 500 }), operation: 'replace' };
    const summary = { ...own.summary, 'firn.run-id': 'r' };

    const view = standing(
      { snapshots: [foreign, { ...own, summary }, replaced] },
      { plan: planOf(1, MINUTE_MS) },
    );

    assert.equal(view.standing, 'idle');
    assert.equal(trigger(view, 'small-file-count').value, 0);
  });

  it('counts commits again whose files were too young for the plan', () => {
    const snapshots = eachMinute(12);
    const plan = planOf(12, 30_000, { untilMs: NOW_MS - 10.5 * MINUTE_MS });

    const view = standing({ snapshots }, { plan });

    assert.equal(trigger(view, 'commit-count').value, 10);
    assert.equal(view.standing, 'due');
  });

  it('takes a commit that counts nothing for one small file, and one that only deletes for none', () => {
    const snapshots = [
      smallCommit(1, HOUR_MS),
      { id: 2, agoMs: 20, parent: 1, summary: {} },
      { id: 3, agoMs: 10, parent: 2, operation: 'delete', summary: { 'deleted-data-files': '5' } },
      {
        id: 4,
        agoMs: 5,
        parent: 3,
        operation: 'overwrite',
        summary: { 'added-delete-files': '2' },
      },
      { id: 5, agoMs: 4, parent: 4, summary: { 'added-data-files': 'many' } },
    ];

    const view = standing({ snapshots }, { plan: planOf(1, MINUTE_MS) });

    assert.equal(trigger(view, 'commit-count').value, 1);
    assert.equal(trigger(view, 'small-file-count').value, 1);
  });
});

describe('triggers', () => {
  const since = (count: number, options: Parameters<typeof smallCommit>[2] = {}) => [
    smallCommit(1, 3 * HOUR_MS),
    ...eachMinute(count, options).map((each) => ({ ...each, id: each.id + 1, parent: each.id })),
  ];
  const planned = { plan: planOf(1, 2 * HOUR_MS) };

  it('any one of them makes compaction due, at its threshold and not below', () => {
    const cases: [string, number, number, Parameters<typeof smallCommit>[2]][] = [
      ['commit-count', 9, 10, {}],
      ['small-file-count', 4, 5, { files: 20 }],
      ['small-file-bytes', 3, 4, { bytes: 256 * MIB }],
    ];
    for (const [name, below, at, options] of cases) {
      const before = standing({ snapshots: since(below, options) }, planned);
      assert.equal(before.standing, 'waiting', name);
      assert.equal(before.reason, 'interval');
      assert.equal(trigger(before, name).isMet, false);

      const met = standing({ snapshots: since(at, options) }, planned);
      assert.deepEqual([met.standing, met.reason], ['due', name]);
      assert.equal(trigger(met, name).isMet, true);
      assert.equal(trigger(met, name).value, trigger(met, name).threshold);
    }
  });

  it('files of the wanted size count for the interval only', () => {
    const view = standing({ snapshots: since(30, { bytes: 400 * MIB }) }, planned);

    assert.equal(trigger(view, 'commit-count').value, 0);
    assert.equal(trigger(view, 'small-file-bytes').value, 0);
    assert.equal(view.standing, 'waiting');
    assert.equal(view.dueAtMs, NOW_MS - 2 * HOUR_MS + 6 * HOUR_MS);
  });

  it('what is small follows from the table', () => {
    const properties = { 'write.target-file-size-bytes': String(MIB) };

    const view = standing({ snapshots: since(30), properties }, planned);

    assert.equal(trigger(view, 'commit-count').value, 0);
  });

  it('the interval is over once, from the last plan, where anything was added', () => {
    const snapshots = since(1);
    const due = standing({ snapshots }, { plan: planOf(1, 6 * HOUR_MS) });
    const early = standing({ snapshots }, { plan: planOf(1, 6 * HOUR_MS - 1) });

    assert.deepEqual([due.standing, due.reason], ['due', 'interval']);
    assert.deepEqual([early.standing, early.dueAtMs], ['waiting', NOW_MS + 1]);
  });

  it('a commit counts once its files are old enough to be rewritten', () => {
    const guards = {
      ...DEFAULT_GUARD_SETTINGS,
      minFileAgeMsDerivedMax: 15 * MINUTE_MS,
      commitIntervalMsFloor: 0,
    };
    // Ten commits; the tenth is a minute old and has to be fifteen.
    const view = standing({ snapshots: since(10) }, planned, { guards });

    assert.equal(trigger(view, 'commit-count').value, 10);
    assert.equal(trigger(view, 'commit-count').isMet, false);
    assert.equal(view.standing, 'waiting');
    assert.equal(view.dueAtMs, NOW_MS - MINUTE_MS + 15 * MINUTE_MS);
    assert.equal(standing({ snapshots: since(25) }, planned, { guards }).standing, 'due');
  });

  it('have properties of their own, and a malformed one is refused', () => {
    const of = (key: string, value: string) => ({
      [`firn.rewrite-data-files.trigger.${key}`]: value,
    });
    const snapshots = since(3);
    const reason = (properties: Record<string, string>) =>
      standing({ snapshots, properties }, planned).reason;

    assert.equal(reason(of('commit-count', '3')), 'commit-count');
    assert.equal(reason(of('small-file-count', '3')), 'small-file-count');
    assert.equal(reason(of('small-file-bytes', String(3 * MIB))), 'small-file-bytes');
    assert.equal(
      standing({ snapshots, properties: of('interval-ms', '1') }, planned).standing,
      'due',
    );
    for (const [key, value] of [
      ['commit-count', '0'],
      ['interval-ms', '1 h'],
      ['backfill-ratio', '1.5'],
    ] as const) {
      assert.throws(() => reason(of(key, value)), errorOfKind('invalid-config', new RegExp(key)));
    }
  });

  it('say how far they are', () => {
    const view = standing({ snapshots: since(3) }, planned);

    assert.deepEqual(view.triggers.map(triggerText), [
      'commit-count: 3 of 10 commits',
      'small-file-count: 3 of 100 files',
      `small-file-bytes: ${3 * MIB} of ${1024 * MIB} bytes`,
      'interval: 120 of 360 min',
      'backfill: 0 % of 20 %',
    ]);
  });
});

describe('a backfill', () => {
  const backfill = (files: number, share: number) =>
    smallCommit(2, MINUTE_MS, {
      files,
      bytes: share * 1000,
      summary: { 'total-files-size': '1000' },
    });
  const compaction = (files: number, share: number, properties = {}) =>
    standing(
      { snapshots: [smallCommit(1, HOUR_MS), backfill(files, share)], properties },
      {
        plan: planOf(1, 10 * MINUTE_MS),
      },
    );

  it('is one commit that adds more than a share of the table; it makes compaction due and is named', () => {
    const view = compaction(10, 0.2);

    assert.deepEqual([view.standing, view.reason], ['due', 'backfill']);
    assert.deepEqual(view.backfillSnapshotIds, [2n]);
    assert.deepEqual(view.details, ['backfill: 20 % of 20 %']);
  });

  it('is none below the share, of a few files, or by a higher bar of the table', () => {
    for (const view of [
      compaction(10, 0.199),
      compaction(9, 0.9),
      compaction(10, 0.5, { 'firn.rewrite-data-files.trigger.backfill-ratio': '0.6' }),
    ]) {
      assert.equal(view.standing, 'waiting');
      assert.deepEqual(view.backfillSnapshotIds, []);
    }
  });
});

describe('what is owed', () => {
  const snapshots = [smallCommit(1, DAY_MS)];
  const owed = (reason: string, inMs: number) => ({
    plan: planOf(1, HOUR_MS),
    owed: { reason, atMs: NOW_MS + inMs, sinceMs: NOW_MS - 1 },
  });

  it('is due at its time, though nothing was added', () => {
    const now = standing({ snapshots }, owed('continuation', 0));
    const later = standing({ snapshots }, owed('continuation', 7));

    assert.deepEqual(
      [now.standing, now.reason, now.details],
      ['due', 'continuation', ['the last run left work over']],
    );
    assert.deepEqual([later.standing, later.dueAtMs], ['waiting', NOW_MS + 7]);
  });

  it('does not hold up what triggers call for, unless the last run failed', () => {
    const busy = eachMinute(12).map((each) => ({ ...each, id: each.id + 1, parent: each.id }));
    const table = { snapshots: [...snapshots, ...busy] };

    assert.equal(standing(table, owed('failed-groups', DAY_MS)).reason, 'commit-count');
    const retry = standing(table, owed('retry', DAY_MS));
    assert.deepEqual([retry.standing, retry.dueAtMs], ['waiting', NOW_MS + DAY_MS]);
  });
});

describe('a message', () => {
  const queuedAgo = (agoMs: number) => ({ plan: planOf(1, HOUR_MS), queuedAtMs: NOW_MS - agoMs });
  const snapshots = [
    smallCommit(1, DAY_MS),
    ...Array.from({ length: 10 }, (_, i) => smallCommit(i + 2, MINUTE_MS)),
  ];

  it('is on its way until an answer, or the time for another one', () => {
    const view = standing({ snapshots }, queuedAgo(REQUEUE_MS - 1));

    assert.deepEqual([view.standing, view.dueAtMs], ['queued', NOW_MS + 1]);
    assert.equal(standing({ snapshots }, queuedAgo(REQUEUE_MS)).standing, 'due');
  });
});

describe('rules that spare writers', () => {
  const own = {
    ...smallCommit(2, MINUTE_MS),
    operation: 'replace',
    summary: { 'firn.run-id': 'r' },
  };
  const busy = eachMinute(10).map((each) => ({
    ...each,
    id: each.id + 2,
    parent: each.id + 1,
    agoMs: 1,
  }));
  const snapshots = [smallCommit(1, DAY_MS), own, ...busy];
  const state = { plan: planOf(2, MINUTE_MS) };

  it('hold back what is due, until their time', () => {
    const view = standing({ snapshots }, state);

    assert.deepEqual([view.standing, view.reason], ['waiting', 'commit-count']);
    assert.equal(view.dueAtMs, NOW_MS + 4 * MINUTE_MS);
    assert.deepEqual(
      view.verdicts.map(({ guard }) => guard),
      ['commit-interval'],
    );
    assert.match(view.details.join('; '), /10 of 10 commits; Firn committed to main/);
  });

  it('hold nothing back that only observes', () => {
    const view = standing({ snapshots }, state, { permission: OBSERVE });

    assert.deepEqual([view.standing, view.verdicts], ['due', []]);
  });

  it('make the table of another maintainer wait for seven quiet days, and name it', () => {
    const spark = (id: number, agoMs: number) => ({
      ...smallCommit(id, agoMs, { summary: { 'engine-name': 'spark', 'deleted-data-files': '7' } }),
      operation: 'replace',
    });
    const table = { snapshots: [smallCommit(1, DAY_MS), spark(2, 3 * HOUR_MS), spark(3, HOUR_MS)] };

    const view = standing(table, undefined);

    assert.equal(view.standing, 'waiting');
    assert.equal(view.dueAtMs, NOW_MS - HOUR_MS + 7 * DAY_MS);
    assert.match(view.details.join(), /spark .*rewrites this table, too/);
  });

  it('count the wait for what is to be published from when the work was first due', () => {
    const table = {
      snapshots: [...eachMinute(10), { id: 11, agoMs: 1, parent: 10 }],
      main: 10,
      branches: { audit: 11 },
    };
    const plan = planOf(1, HOUR_MS);
    const guards = DEFAULT_GUARD_SETTINGS;
    const held = standing(
      table,
      { plan, firstDueAtMs: NOW_MS - DAY_MS + 1 },
      {
        guards: { ...guards, minFileAgeMsFloor: 0, minFileAgeMsDerivedMax: 0 },
      },
    );
    const tired = standing(table, { plan, firstDueAtMs: NOW_MS - DAY_MS });

    assert.deepEqual([held.standing, held.dueAtMs], ['waiting', NOW_MS + 1]);
    assert.deepEqual([tired.standing, tired.verdicts[0]?.state], ['due', 'overruled']);
  });
});
