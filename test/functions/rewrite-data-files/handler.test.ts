import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { handler } from '../../../functions/rewrite-data-files/handler.ts';
import { parseTableIdentifier } from '../../../shared/catalog/index.ts';
import { snapshotOfRef } from '../../../shared/iceberg/index.ts';
import { MemoryItemStore, type OperationState } from '../../../shared/ledger/index.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import {
  createDeployment,
  type Deployment,
  type LogLine,
  requestFor,
  returned,
  SETTINGS,
} from './handler-fixture.ts';

const SAMPLES = join(import.meta.dirname, '../../../events/maintenance-request/v1/samples');

function readSamples(folder: string): { readonly name: string; readonly body: string }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({ name, body: readFileSync(join(folder, name), 'utf8') }));
}

function events(lines: readonly LogLine[]): readonly unknown[] {
  return lines.map((line) => line['event']);
}

describe('a message', () => {
  it('has its table compacted, and is done', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), []);
    assert.deepEqual(deployment.outcomes, ['committed']);
    const { summary } = snapshotOfRef((await writer.load()).metadata) ?? {};
    assert.equal(summary?.['operation'], 'replace');
    assert.equal(summary?.['total-data-files'], '2');
    assert.equal(summary?.['total-records'], '24');
    assert.match(summary?.['firn.run-id'] ?? '', /^[0-9a-f-]{36}$/);
  });

  it('goes on from the plan of the message before', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders', {}, 1);
    const append = (id: bigint, region: string) =>
      writer.append([{ rows: [{ 1: id, 2: region }], partition: [region] }]);
    for (let index = 0; index < 16; index++) await append(BigInt(index), `r${index}`);

    await deployment.deliver([requestFor('db.orders')]);
    deployment.clock.advanceMs(1_000);
    for (let index = 0; index < 6; index++) await append(BigInt(index), 'new');
    await deployment.deliver([requestFor('db.orders')]);

    const runs = deployment.lines.filter(({ event }) => event === 'run.finished');
    const { plan } = (await deployment.ledger.states.read('db.orders'))!.operations[
      'rewrite-data-files'
    ]!;
    assert.deepEqual(
      runs.map(({ outcome, scope }) => [outcome, scope]),
      [
        ['nothing-planned', 'full'],
        ['committed', 'incremental'],
      ],
    );
    assert.equal(runs[0]?.['scopeReason'], 'first-plan');
    assert.equal(plan?.fullAtMs, deployment.clock.nowMs() - 1_000);
    assert.match(plan?.stateLocation ?? '', /rewrite-data-files\.plan$/);
  });

  it('leaves one line for each commit and one summary', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');

    await deployment.deliver([requestFor('db.orders')], { receiveCount: 3 });

    const [first, second, summary] = deployment.lines;
    assert.deepEqual(events(deployment.lines), [
      'commit.succeeded',
      'commit.succeeded',
      'run.finished',
    ]);
    const always = {
      level: 'info',
      operation: 'rewrite-data-files',
      requestId: 'request-1',
      messageId: 'm0',
      attempt: 3,
      table: 'db.orders',
      correlationId: 'c-db.orders',
      round: 0,
    };
    for (const line of deployment.lines) assert.deepEqual({ ...line, ...always }, line);
    const { metadata, metadataLocation } = await writer.load();
    assert.equal(second?.['snapshotId'], String(metadata.currentSnapshotId));
    const { time: _, bytesBefore, bytesAfter, bytesRead, bytesWritten, ...facts } = summary ?? {};
    assert.deepEqual(facts, {
      ...always,
      event: 'run.finished',
      message: '12 files became 2 in 2 commits',
      outcome: 'committed',
      reason: 'a test',
      permission: 'the deployment names the table',
      durationMs: 0,
      scope: 'full',
      scopeReason: 'few-manifests',
      groupCount: 2,
      plannedFileCount: 12,
      skipped: '',
      fileCountBefore: 12,
      fileCountAfter: 2,
      committedGroupCount: 2,
      droppedGroupCount: 0,
      failedGroupCount: 0,
      notStartedGroupCount: 0,
      snapshotIds: `${first?.['snapshotId']},${second?.['snapshotId']}`,
      metadataLocation,
      s3ReadCount: summary?.['s3ReadCount'],
      s3WriteCount: summary?.['s3WriteCount'],
    });
    for (const bytes of [bytesBefore, bytesAfter, bytesRead, bytesWritten]) {
      assert.ok(typeof bytes === 'number' && bytes > 0);
    }
  });

  it('is done, with nothing committed, where there is nothing to do', async () => {
    const deployment = createDeployment({ settings: { enabledTables: ['db.few', 'db.empty'] } });
    await deployment.createTable('db.few', {}, 2);
    await deployment.createTable('db.empty', {}, 0);

    const response = await deployment.deliver([requestFor('db.few'), requestFor('db.empty')]);

    assert.deepEqual(returned(response), []);
    assert.deepEqual(deployment.outcomes, ['nothing-planned', 'no-snapshot']);
    assert.deepEqual(events(deployment.lines), ['run.finished', 'run.finished']);
    assert.equal(deployment.lines[0]?.['skipped'], 'too-few-files: 2');
  });

  for (const { name, body } of readSamples(SAMPLES)) {
    it(`delivered twice compacts once: ${name}`, async () => {
      const { table } = JSON.parse(body) as { table: string };
      const deployment = createDeployment({ settings: { enabledTables: [table] } });
      const writer = await deployment.createTable(table);
      await deployment.deliver([body]);
      const { metadataLocation } = await writer.load();

      const response = await deployment.deliver([body]);

      assert.deepEqual(returned(response), []);
      assert.deepEqual(deployment.outcomes, ['committed', 'nothing-planned']);
      assert.equal((await writer.load()).metadataLocation, metadataLocation);
    });
  }
});

describe('permission', () => {
  for (const [what, properties, config, mode, reason] of [
    ['an unnamed table', {}, {}, 'observed', 'neither the deployment nor the table allows it'],
    ['the list', {}, { enabledTables: ['db.t'] }, 'committed', 'the deployment names the table'],
    ['firn.enabled', { 'firn.enabled': 'true' }, {}, 'committed', 'firn.enabled is true'],
    [
      'firn.enabled=false over the list',
      { 'firn.enabled': 'false' },
      { enabledTables: ['db.t'] },
      'observed',
      'firn.enabled is false',
    ],
    [
      'an observing deployment over everything',
      { 'firn.enabled': 'true' },
      { enabledTables: ['db.t'], isObserving: true },
      'observed',
      'the deployment observes',
    ],
  ] as const) {
    it(`by ${what}: ${mode}`, async () => {
      const deployment = createDeployment({ settings: { enabledTables: [], ...config } });
      const writer = await deployment.createTable('db.t', { properties });
      const before = (await writer.load()).metadataLocation;

      const response = await deployment.deliver([requestFor('db.t')]);

      assert.deepEqual(returned(response), []);
      assert.deepEqual(deployment.outcomes, [mode]);
      assert.equal(deployment.lines.at(-1)?.['permission'], reason);
      assert.equal((await writer.load()).metadataLocation === before, mode === 'observed');
    });
  }

  it('writes no object while it only observes', async () => {
    const written: string[] = [];
    let isWatching = false;
    const deployment = createDeployment({
      settings: { enabledTables: [] },
      storeFaults: {
        next: async (operation, location) => {
          if (isWatching && operation !== 'read') written.push(`${operation} ${location}`);
          return undefined;
        },
      },
    });
    await deployment.createTable('db.t');
    isWatching = true;

    await deployment.deliver([requestFor('db.t')]);

    assert.deepEqual(deployment.outcomes, ['observed']);
    assert.deepEqual(written, []);
    assert.equal(deployment.lines[0]?.['message'], 'would rewrite 12 files');
  });

  it('is refused, and the message a dead letter, where firn.enabled is malformed', async () => {
    const deployment = createDeployment();
    await deployment.createTable('db.orders', { properties: { 'firn.enabled': 'yes' } });

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), []);
    assert.equal(deployment.queue.deadLetters().length, 1);
    assert.equal(deployment.lines[0]?.['kind'], 'invalid-config');
    assert.match(String(deployment.lines[0]?.['message']), /firn\.enabled.*yes.*true or false/);
  });
});

describe('a message that cannot be understood', () => {
  for (const { name, body } of readSamples(join(SAMPLES, 'invalid'))) {
    it(`becomes a dead letter that says what is wrong: ${name}`, async () => {
      const deployment = createDeployment();

      const response = await deployment.deliver([body]);

      assert.deepEqual(returned(response), []);
      const [letter] = deployment.queue.deadLetters();
      assert.equal(letter?.body, body);
      assert.match(letter.reason, /^message m0: maintenance request: ./);
      assert.deepEqual(events(deployment.lines), ['message.refused']);
      assert.equal(deployment.lines[0]?.['level'], 'error');
      assert.equal(deployment.lines[0]?.['kind'], 'invalid-data');
      assert.match(String(deployment.lines[0]?.['message']), /^message m0: ./);
    });
  }

  for (const body of ['', 'not json', '[]', 'null', '{"version":1']) {
    it(`becomes a dead letter: ${JSON.stringify(body)}`, async () => {
      const deployment = createDeployment();

      assert.deepEqual(returned(await deployment.deliver([body])), []);
      assert.equal(deployment.queue.deadLetters().length, 1);
      assert.equal(deployment.lines[0]?.['kind'], 'invalid-data');
    });
  }

  it('does not keep the others from being done', async () => {
    const deployment = createDeployment();
    await deployment.createTable('db.orders');

    const response = await deployment.deliver(['{}', requestFor('db.orders'), '{']);

    assert.deepEqual(returned(response), []);
    assert.equal(deployment.queue.deadLetters().length, 2);
    assert.deepEqual(deployment.outcomes, ['committed']);
  });

  it('is handed back while there is no place for dead letters', async () => {
    const deployment = createDeployment({ queueFaults: { onDeadLetter: () => 'unavailable' } });
    await deployment.createTable('db.orders');

    const response = await deployment.deliver(['{', requestFor('db.orders')]);

    assert.deepEqual(returned(response), ['m0']);
    assert.deepEqual(events(deployment.lines).slice(0, 2), ['message.refused', 'message.returned']);
    assert.deepEqual(deployment.outcomes, ['committed']);
  });
});

describe('a table', () => {
  it('that is gone is skipped, and its message done', async () => {
    const deployment = createDeployment();

    const response = await deployment.deliver([requestFor('db.gone')]);

    assert.deepEqual(returned(response), []);
    assert.deepEqual(events(deployment.lines), ['run.skipped']);
    assert.equal(deployment.lines[0]?.['level'], 'warn');
    assert.equal(deployment.lines[0]?.['outcome'], 'skipped');
  });

  it('of a format version that is not known is skipped, and its message done', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');
    const { metadataLocation } = await writer.load();
    const text = new TextDecoder().decode(await deployment.store.read(metadataLocation, 1e6));
    const v4 = text.replace('"format-version":2', '"format-version":4');
    await deployment.store.write(metadataLocation, new TextEncoder().encode(v4));

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), []);
    assert.deepEqual(events(deployment.lines), ['run.skipped']);
    assert.equal(deployment.lines[0]?.['kind'], 'unsupported');
  });

  it('with a location provider of its own is skipped, and its message done', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');
    await writer.setProperties({ 'write.location-provider.impl': 'com.example.Provider' });

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), []);
    assert.deepEqual(deployment.outcomes, ['skipped']);
    assert.equal(deployment.lines[0]?.['message'], 'skipped: custom-location-provider');
  });

  it('whose metadata file is missing is a failure', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');
    await deployment.store.delete([(await writer.load()).metadataLocation]);

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), []);
    assert.equal(deployment.queue.deadLetters().length, 1);
    assert.deepEqual(events(deployment.lines), ['run.failed']);
    assert.equal(deployment.lines[0]?.['level'], 'error');
    assert.equal(deployment.lines[0]?.['kind'], 'not-found');
  });

  it('with a corrupt metadata file is a failure that names the file', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');
    const { metadataLocation } = await writer.load();
    await deployment.store.write(metadataLocation, new TextEncoder().encode('{"format-version"'));

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), []);
    assert.equal(deployment.lines[0]?.['kind'], 'invalid-data');
    assert.equal(deployment.lines[0]?.['metadataLocation'], metadataLocation);
  });

  it('that fails again and again has one letter, and is tried further and further apart', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');
    const { metadataLocation } = await writer.load();
    await deployment.store.write(metadataLocation, new TextEncoder().encode('{"format-version"'));

    const waitsMs: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      await deployment.deliver([requestFor('db.orders')]);
      const { owed } = await compactionOf(deployment);
      assert.equal(owed?.reason, 'retry');
      waitsMs.push(owed.atMs - deployment.clock.nowMs());
      deployment.clock.advanceMs(waitsMs.at(-1)!);
    }

    assert.deepEqual(waitsMs, [60_000, 120_000, 240_000, 480_000]);
    assert.equal(deployment.queue.deadLetters().length, 1);
    assert.match(deployment.queue.deadLetters()[0]?.reason ?? '', /^db\.orders: /);
  });
});

describe('a message whose work may succeed later', () => {
  it('is done when the catalog does not answer, and the ledger has the next attempt', async () => {
    const deployment = createDeployment({ catalogFaults: { onRead: () => 'unavailable' } });

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), []);
    assert.deepEqual(deployment.queue.deadLetters(), []);
    assert.deepEqual(events(deployment.lines), ['run.failed', 'look.failed']);
    assert.equal(deployment.lines[0]?.['level'], 'warn');
    assert.equal(deployment.lines[0]?.['kind'], 'unavailable');
    const { owed } = await compactionOf(deployment);
    assert.deepEqual([owed?.reason, owed?.atMs], ['retry', deployment.clock.nowMs() + 60_000]);
  });

  it('is handed back when the ledger does not answer', async () => {
    let isOut = false;
    const items = new MemoryItemStore({ next: async () => (isOut ? 'unavailable' : undefined) });
    const deployment = createDeployment({ items });
    await deployment.createTable('db.orders');
    isOut = true;

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), ['m0']);
    assert.deepEqual(events(deployment.lines), ['message.returned']);
    assert.equal(deployment.lines[0]?.['level'], 'warn');
  });

  it('is done while another run has the table, which is due again when that one is over', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');
    const before = (await writer.load()).metadataLocation;
    const lease = { table: 'db.orders', scope: 'rewrite', owner: 'other', durationMs: 60_000 };
    await deployment.ledger.leases.acquire(lease);

    const response = await deployment.deliver([requestFor('db.orders')]);
    const { owed, dueAtMs } = await compactionOf(deployment);
    assert.equal(owed?.reason, 'busy');
    assert.equal(dueAtMs, deployment.clock.nowMs() + 60_000);
    deployment.clock.advanceMs(60_000);
    const later = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual([returned(response), returned(later)], [[], []]);
    assert.deepEqual(deployment.outcomes, ['busy', 'committed']);
    const [busy] = deployment.lines;
    assert.deepEqual(
      [busy?.['event'], busy?.['level'], busy?.['outcome'], busy?.['busyRunId']],
      ['run.finished', 'info', 'busy', 'other'],
    );
    assert.notEqual((await writer.load()).metadataLocation, before);
  });

  it('is done when other writers keep winning, and tried again later', async () => {
    let isContended = false;
    const deployment = createDeployment({
      catalogFaults: { onWrite: () => (isContended ? 'conflict' : undefined) },
    });
    const writer = await deployment.createTable('db.orders', {
      properties: { 'commit.retry.num-retries': '1' },
    });
    const before = (await writer.load()).metadataLocation;
    isContended = true;

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), []);
    assert.deepEqual(deployment.outcomes, ['partial']);
    assert.equal((await compactionOf(deployment)).owed?.reason, 'failed-groups');
    const summary = deployment.lines.at(-1);
    assert.equal(summary?.['event'], 'run.finished');
    assert.equal(summary?.['level'], 'warn');
    assert.equal(summary?.['failedGroupCount'], 2);
    assert.equal(summary?.['failedKinds'], 'commit-conflict');
    assert.equal((await writer.load()).metadataLocation, before);
  });

  it('keeps the groups that were committed, and finds only the others the next time', async () => {
    let failedLocation: string | undefined;
    let isFailing = false;
    const deployment = createDeployment({
      storeFaults: {
        next: async (operation, location) => {
          if (!isFailing || operation !== 'readRange') return undefined;
          if (location.includes('region=eu')) failedLocation ??= location;
          return location === failedLocation ? { failure: 'access-denied' } : undefined;
        },
      },
    });
    const writer = await deployment.createTable('db.orders');
    isFailing = true;
    const first = await deployment.deliver([requestFor('db.orders')]);
    const summary = deployment.lines.at(-1);
    isFailing = false;

    const second = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(first), []);
    assert.equal(deployment.queue.deadLetters().length, 1);
    assert.equal(summary?.['level'], 'error');
    assert.equal(summary?.['failedKinds'], 'access-denied');
    assert.equal(summary?.['committedGroupCount'], 1);
    assert.deepEqual(returned(second), []);
    assert.deepEqual(deployment.outcomes, ['partial', 'committed']);
    const { metadata } = await writer.load();
    assert.equal(snapshotOfRef(metadata)?.summary['total-data-files'], '2');
  });
});

describe('time', () => {
  it('too short for a group ends a run as partial, not as a failure', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');
    const before = (await writer.load()).metadataLocation;

    const response = await deployment.deliver([requestFor('db.orders')], {
      remainingMs: () => 5_000,
    });

    assert.deepEqual(returned(response), []);
    assert.deepEqual(deployment.outcomes, ['partial']);
    assert.equal(deployment.lines[0]?.['level'], 'info');
    assert.equal(deployment.lines[0]?.['notStartedGroupCount'], 2);
    assert.equal((await writer.load()).metadataLocation, before);
  });

  it('that runs out before the commit ends a run as partial, not as a failure', async () => {
    let isWritten = false;
    const deployment = createDeployment({
      storeFaults: {
        next: async (operation, location) => {
          if (operation === 'write' && location.includes('/data/')) isWritten = true;
          return undefined;
        },
      },
    });
    await deployment.createTable('db.orders');
    isWritten = false;

    const response = await deployment.deliver([requestFor('db.orders')], {
      remainingMs: () => (isWritten ? 1_000 : 900_000),
    });

    assert.deepEqual(returned(response), []);
    assert.deepEqual(events(deployment.lines), ['run.finished']);
    assert.equal(deployment.lines[0]?.['outcome'], 'partial');
    assert.equal(deployment.lines[0]?.['kind'], 'deadline');
  });

  it('too short for another message hands that one back unread', async () => {
    let remainingMs = 900_000;
    const deployment = createDeployment({
      settings: { enabledTables: ['db.one', 'db.two'] },
      onOutcome: () => {
        remainingMs = 40_000;
      },
    });
    await deployment.createTable('db.one');
    await deployment.createTable('db.two');

    const response = await deployment.deliver([requestFor('db.one'), requestFor('db.two')], {
      remainingMs: () => remainingMs,
    });

    assert.deepEqual(returned(response), ['m1']);
    assert.deepEqual(deployment.outcomes, ['committed']);
    const line = deployment.lines.at(-1);
    assert.equal(line?.['event'], 'run.postponed');
    assert.equal(line?.['level'], 'info');
    assert.equal(line?.['remainingMs'], 40_000);
  });
});

describe('a mistake in Firn', () => {
  it('makes its message a dead letter, is told with the stack, and the others are done', async () => {
    const deployment = createDeployment({
      settings: { enabledTables: ['db.one', 'db.two'] },
      onOutcome: (table) => {
        if (table === 'db.one') throw new TypeError('a mistake');
      },
    });
    await deployment.createTable('db.one');
    await deployment.createTable('db.two');

    const response = await deployment.deliver([requestFor('db.one'), requestFor('db.two')]);

    assert.deepEqual(returned(response), []);
    assert.equal(deployment.queue.deadLetters().length, 1);
    const line = deployment.lines.find((each) => each['event'] === 'run.failed');
    assert.equal(line?.['kind'], 'programmer-error');
    assert.equal(line?.['level'], 'error');
    assert.equal(line?.['message'], 'a mistake');
    assert.match(String(line?.['stack']), /handler\.test\.ts/);
    assert.equal(deployment.lines.at(-1)?.['table'], 'db.two');
    assert.equal(deployment.lines.at(-1)?.['outcome'], 'committed');
  });
});

describe('what Lambda calls', () => {
  it('refuses to begin without a configuration', async () => {
    const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 1 };

    await assert.rejects(
      handler({ Records: [] }, context),
      errorOfKind('invalid-config', /^environment: FIRN_CATALOG: is not set/),
    );
  });
});

describe('an event', () => {
  it('that is neither messages nor an execution is refused', async () => {
    const deployment = createDeployment();

    for (const event of [{ detail: {} }, { Records: 1 }, { ...EXECUTION, groupCount: 0 }]) {
      await assert.rejects(deployment.execute(event), errorOfKind('invalid-data', /^event: ./));
    }
  });

  it('with no message at all has nothing to hand back', async () => {
    assert.deepEqual(returned(await createDeployment().deliver([])), []);
  });
});

const EXECUTION = {
  version: 1,
  operation: 'rewrite-data-files',
  table: 'db.orders',
  runId: '8c0f1d6e-8c9c-4bb0-a53c-2b8a3b6f2f10',
  planLocation: 's3://firn-state/ledger/plans/1.json',
  groupCount: 2,
  reason: 'a large plan',
  correlationId: 'c-9',
};

describe('an execution of a state machine', () => {
  it('has its table compacted, and is told how it went', async () => {
    const deployment = createDeployment();
    await deployment.createTable('db.orders');

    const answer = await deployment.execute(EXECUTION);

    assert.deepEqual(answer, { outcome: 'committed', isWorkLeft: false });
    assert.equal(deployment.lines.at(-1)?.['correlationId'], 'c-9');
    assert.equal((await compactionOf(deployment)).plan?.mode, 'commit');
  });

  it('sees the error of a run that failed, and the ledger has the next attempt all the same', async () => {
    const deployment = createDeployment({ catalogFaults: { onRead: () => 'unavailable' } });

    await assert.rejects(deployment.execute(EXECUTION), errorOfKind('unavailable'));

    assert.equal((await compactionOf(deployment)).owed?.reason, 'retry');
  });
});

describe('after a run', () => {
  it('the table is idle, and a message that was sent before it is answered already', async () => {
    const deployment = createDeployment();
    await deployment.createTable('db.orders');
    const sentAtMs = deployment.clock.nowMs();
    deployment.clock.advanceMs(1000);
    await deployment.deliver([requestFor('db.orders')], { sentAtMs });
    const { dueAtMs, owed, plan } = await compactionOf(deployment);
    assert.deepEqual([dueAtMs, owed], [undefined, undefined]);
    assert.deepEqual([plan?.atMs, plan?.mode], [deployment.clock.nowMs(), 'commit']);
    const due = { dueAtMsMax: Number.MAX_SAFE_INTEGER, tableCountMax: 9 };
    assert.deepEqual((await deployment.ledger.states.listDue(due)).tables, []);

    const response = await deployment.deliver([requestFor('db.orders')], { sentAtMs });

    assert.deepEqual(returned(response), []);
    assert.deepEqual(deployment.outcomes, ['committed']);
    assert.deepEqual(events(deployment.lines).at(-1), 'run.answered');
  });

  it('that only observed, the table is idle until it is allowed', async () => {
    const deployment = createDeployment({ settings: { enabledTables: [] } });
    await deployment.createTable('db.orders');

    await deployment.deliver([requestFor('db.orders')]);

    const { dueAtMs, plan } = await compactionOf(deployment);
    assert.deepEqual([dueAtMs, plan?.mode], [undefined, 'observe']);
  });

  it('that left work over for lack of time, it is run again at once, up to sixteen times in a row', async () => {
    const deployment = createDeployment();
    await deployment.createTable('db.orders');

    for (let round = 1; round < 16; round++) {
      await deployment.deliver([requestFor('db.orders')], { remainingMs: () => 25_000 });
      const state = await compactionOf(deployment);
      assert.equal(state.owed?.reason, 'continuation');
      assert.equal(state.roundCount, round);
      // Looking again sent the message for it.
      assert.equal(deployment.queue.receive({ countMax: 9 }).length, 1);
    }
    await deployment.deliver([requestFor('db.orders')], { remainingMs: () => 25_000 });

    const state = await compactionOf(deployment);
    assert.deepEqual([state.roundCount, state.queuedAtMs], [0, undefined]);
    assert.equal(state.dueAtMs, deployment.clock.nowMs() + 60 * 60_000);
    const warning = deployment.lines.find((line) => line['event'] === 'rounds.paused');
    assert.equal(warning?.['level'], 'warn');
  });

  it('that rules held back, it is due when they let it go on', async () => {
    const deployment = createDeployment({
      settings: { guards: { ...SETTINGS.guards, commitIntervalMsFloor: 300_000 } },
    });
    const writer = await deployment.createTable('db.orders');
    await deployment.deliver([requestFor('db.orders')]);
    await writer.append(
      Array.from({ length: 6 }, () => ({ rows: [{ 1: 1n, 2: 'eu' }], partition: ['eu'] })),
    );

    await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(deployment.outcomes, ['committed', 'held-back']);
    const { owed, dueAtMs, firstDueAtMs } = await compactionOf(deployment);
    assert.equal(owed?.reason, 'held-back');
    assert.equal(dueAtMs, deployment.clock.nowMs() + 300_000);
    assert.equal(firstDueAtMs, deployment.clock.nowMs());
  });

  it('of a table that is gone, nothing of it is due', async () => {
    const deployment = createDeployment();
    await deployment.createTable('db.orders');
    await deployment.deliver([requestFor('db.orders')], { remainingMs: () => 25_000 });
    deployment.catalog.dropTable(parseTableIdentifier('db.orders'));

    await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(await deployment.ledger.states.read('db.orders'), {
      table: 'db.orders',
      operations: {},
    });
  });
});

describe('a message that is worked on', () => {
  it('is hidden again and again, a third of its time before others would see it', async () => {
    const extensions: number[] = [];
    let nowMs = (): number => 0;
    const deployment = createDeployment({
      queueFaults: {
        onExtend: () => {
          extensions.push(nowMs());
          return undefined;
        },
      },
      storeFaults: {
        next: async () => {
          deployment.clock.advanceMs(5_000);
          return undefined;
        },
      },
    });
    nowMs = () => deployment.clock.nowMs();
    await deployment.createTable('db.orders');
    await deployment.queue.send({ body: requestFor('db.orders'), groupId: 'db.orders' });
    const [message] = deployment.queue.receive({ countMax: 1 });
    const startMs = deployment.clock.nowMs();

    await deployment.deliver([message?.body ?? ''], {
      receiptHandle: message?.receiptHandle ?? '',
    });

    assert.deepEqual(deployment.outcomes, ['committed']);
    assert.ok(extensions.length >= 2, `${extensions.length} extensions`);
    assert.equal(extensions[0], startMs + 60_000);
    assert.deepEqual(deployment.queue.receive({ countMax: 1 }), []);
  });
});

async function compactionOf(deployment: Deployment): Promise<OperationState> {
  const state = await deployment.ledger.states.read('db.orders');
  return state?.operations['rewrite-data-files'] ?? { roundCount: -1, failureCount: -1 };
}
