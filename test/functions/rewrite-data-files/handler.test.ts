import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createHandler, handler } from '../../../functions/rewrite-data-files/handler.ts';
import { seededRandom } from '../../../shared/base/index.ts';
import { snapshotOfRef } from '../../../shared/iceberg/index.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import { CONFIG, createDeployment, type LogLine, requestFor, returned } from './handler-fixture.ts';

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
    const deployment = createDeployment({ config: { enabledTables: ['db.few', 'db.empty'] } });
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
      const deployment = createDeployment({ config: { enabledTables: [table] } });
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
      const deployment = createDeployment({ config: { enabledTables: [], ...config } });
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
      config: { enabledTables: [] },
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

  it('is refused, and the message handed back, where firn.enabled is malformed', async () => {
    const deployment = createDeployment();
    await deployment.createTable('db.orders', { properties: { 'firn.enabled': 'yes' } });

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), ['m0']);
    assert.equal(deployment.lines[0]?.['kind'], 'invalid-config');
    assert.match(String(deployment.lines[0]?.['message']), /firn\.enabled.*yes.*true or false/);
  });
});

describe('a message that cannot be understood', () => {
  for (const { name, body } of readSamples(join(SAMPLES, 'invalid'))) {
    it(`is handed back, with what is wrong: ${name}`, async () => {
      const deployment = createDeployment();

      const response = await deployment.deliver([body]);

      assert.deepEqual(returned(response), ['m0']);
      assert.deepEqual(events(deployment.lines), ['run.failed']);
      assert.equal(deployment.lines[0]?.['level'], 'error');
      assert.equal(deployment.lines[0]?.['kind'], 'invalid-data');
      assert.match(String(deployment.lines[0]?.['message']), /^message m0: ./);
    });
  }

  for (const body of ['', 'not json', '[]', 'null', '{"version":1']) {
    it(`is handed back: ${JSON.stringify(body)}`, async () => {
      const deployment = createDeployment();

      assert.deepEqual(returned(await deployment.deliver([body])), ['m0']);
      assert.equal(deployment.lines[0]?.['kind'], 'invalid-data');
    });
  }

  it('does not keep the others from being done', async () => {
    const deployment = createDeployment();
    await deployment.createTable('db.orders');

    const response = await deployment.deliver(['{}', requestFor('db.orders'), '{']);

    assert.deepEqual(returned(response), ['m0', 'm2']);
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

    assert.deepEqual(returned(response), ['m0']);
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

    assert.deepEqual(returned(response), ['m0']);
    assert.equal(deployment.lines[0]?.['kind'], 'invalid-data');
    assert.equal(deployment.lines[0]?.['metadataLocation'], metadataLocation);
  });
});

describe('a message whose work may succeed later', () => {
  it('is handed back when the service does not answer', async () => {
    const deployment = createDeployment({ catalogFaults: { onRead: () => 'unavailable' } });

    const response = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual(returned(response), ['m0']);
    assert.deepEqual(events(deployment.lines), ['run.failed']);
    assert.equal(deployment.lines[0]?.['level'], 'warn');
    assert.equal(deployment.lines[0]?.['kind'], 'unavailable');
  });

  it('is handed back while another run has the table', async () => {
    const deployment = createDeployment();
    const writer = await deployment.createTable('db.orders');
    const before = (await writer.load()).metadataLocation;
    const lease = { table: 'db.orders', scope: 'rewrite', owner: 'other', durationMs: 60_000 };
    await deployment.ledger.leases.acquire(lease);

    const response = await deployment.deliver([requestFor('db.orders')]);
    deployment.clock.advanceMs(60_000);
    const later = await deployment.deliver([requestFor('db.orders')]);

    assert.deepEqual([returned(response), returned(later)], [['m0'], []]);
    assert.deepEqual(deployment.outcomes, ['busy', 'committed']);
    const [busy] = deployment.lines;
    assert.deepEqual(
      [busy?.['event'], busy?.['level'], busy?.['outcome'], busy?.['busyRunId']],
      ['run.finished', 'info', 'busy', 'other'],
    );
    assert.notEqual((await writer.load()).metadataLocation, before);
  });

  it('is handed back when other writers keep winning', async () => {
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

    assert.deepEqual(returned(response), ['m0']);
    assert.deepEqual(deployment.outcomes, ['partial']);
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

    assert.deepEqual(returned(first), ['m0']);
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
      config: { enabledTables: ['db.one', 'db.two'] },
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
  it('hands its message back with the stack, and the others are done', async () => {
    const deployment = createDeployment({
      config: { enabledTables: ['db.one', 'db.two'] },
      onOutcome: (table) => {
        if (table === 'db.one') throw new TypeError('a mistake');
      },
    });
    await deployment.createTable('db.one');
    await deployment.createTable('db.two');

    const response = await deployment.deliver([requestFor('db.one'), requestFor('db.two')]);

    assert.deepEqual(returned(response), ['m0']);
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
  it('without messages is refused', async () => {
    const { catalog, store, clock, ledger } = createDeployment();
    const withoutQueue = createHandler({
      config: CONFIG,
      warehouse: {
        catalogUrl: CONFIG.catalogUrl,
        catalog,
        store,
        openLedger: () => ledger,
      },
      clock,
      random: seededRandom(1),
    });

    await assert.rejects(
      withoutQueue({ detail: {} } as never, {
        awsRequestId: 'r',
        getRemainingTimeInMillis: () => 1,
      }),
      errorOfKind('invalid-data', /^event: has no Records/),
    );
  });

  it('with no message at all has nothing to hand back', async () => {
    assert.deepEqual(returned(await createDeployment().deliver([])), []);
  });
});
