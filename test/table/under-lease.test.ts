import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IcebergError } from '../../shared/base/index.ts';
import type { WriteFault } from '../../shared/catalog/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import {
  type ItemCall,
  type ItemFault,
  type Ledger,
  MemoryItemStore,
} from '../../shared/ledger/index.ts';
import {
  type CommitOutcome,
  type CommitPorts,
  commitReplace,
  FENCING_KEY,
  type LeasedSession,
  RUN_ID_KEY,
  type WorkEnding,
  workUnderLease,
} from '../../shared/table/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import {
  commit,
  createWarehouse,
  IDENTIFIER,
  ports,
  type Staged,
  stageByPartition,
  type TestPorts,
  type Warehouse,
} from './replace-fixture.ts';

const TABLE = 'db.orders';
const LEASE_MS = 180_000;
const OBJECT = 's3://bucket/db/orders/data/a.parquet';

function work<Result>(
  testPorts: TestPorts,
  runId: string,
  step: (session: LeasedSession) => Promise<Result>,
  report: (ending: WorkEnding<{ readonly value: Result }>) => Promise<void> = async () => {},
) {
  return workUnderLease<{ readonly value: Result }>(
    { identifier: IDENTIFIER, operation: 'test', runId },
    testPorts,
    { work: async (session) => ({ value: await step(session) }), report },
  );
}

/** Commits in a session, with the ports of its run. */
async function commitIn(
  session: LeasedSession,
  staged: Staged,
  testPorts: TestPorts,
): Promise<CommitOutcome> {
  const run = await session.openRun();
  const commitPorts: CommitPorts = { ...testPorts, store: run.store, run };
  return commitReplace({ ...staged, branch: 'main' }, commitPorts);
}

async function tombstonesOf(ledger: Ledger): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { location, reason } of ledger.tombstones.list(TABLE)) {
    found.set(location, reason);
  }
  return found;
}

async function statusOf(ledger: Ledger, runId: string) {
  return (await ledger.runs.read(TABLE, runId))?.record.status;
}

/** A ledger whose calls may fail from some moment on. */
function failingLedger({ clock }: Warehouse) {
  const state: { fails: (call: ItemCall) => ItemFault | undefined } = { fails: () => undefined };
  const items = new MemoryItemStore({ next: async (call) => state.fails(call) });
  return { state, items, ledger: memoryLedger({ clock, items }) };
}

/** A warehouse whose next pointer write meets a fault. */
async function faultyWarehouse(): Promise<{
  readonly warehouse: Warehouse;
  readonly next: { fault: WriteFault | undefined; isBlind: boolean };
}> {
  const next: { fault: WriteFault | undefined; isBlind: boolean } = {
    fault: undefined,
    isBlind: false,
  };
  const warehouse = await createWarehouse({
    faults: {
      onWrite: () => {
        const { fault } = next;
        next.fault = undefined;
        if (fault !== undefined) next.isBlind = true;
        return fault;
      },
      onRead: () => (next.isBlind ? 'unavailable' : undefined),
    },
  });
  return { warehouse, next };
}

describe('workUnderLease', () => {
  it('is busy while another run has the lease, and says whose it is', async () => {
    const warehouse = await createWarehouse();
    const testPorts = ports(warehouse);
    const expiresAtMs = warehouse.clock.nowMs() + LEASE_MS;

    const outcome = await work(testPorts, 'run-1', () =>
      work(testPorts, 'run-2', async () => assert.fail('two at once')),
    );

    assert.deepEqual(outcome, {
      value: { outcome: 'busy', owner: 'run-1', expiresAtMs },
    });
  });

  it('gives the lease back however the work ends, and reports how', async () => {
    const warehouse = await createWarehouse();
    const failure = new IcebergError('invalid-data', 'broken');
    const endings: unknown[] = [];

    await assert.rejects(
      work(
        ports(warehouse),
        'run-1',
        () => Promise.reject(failure),
        async (ending) => void endings.push(ending),
      ),
      failure,
    );

    assert.deepEqual(endings, [{ error: failure, settledRuns: [] }]);
    assert.deepEqual(await work(ports(warehouse), 'run-2', async () => 'next'), { value: 'next' });
  });

  it('returns what was done although it can neither be reported nor closed', async () => {
    const warehouse = await createWarehouse();
    const { state, ledger } = failingLedger(warehouse);

    const outcome = await work(
      { ...ports(warehouse), ledger },
      'run-1',
      async (session) => {
        await session.openRun();
        state.fails = ({ operation }) => (operation === 'write' ? 'throttled' : undefined);
        return 'done';
      },
      () => Promise.reject(new IcebergError('unavailable', 'no report')),
    );

    assert.deepEqual(outcome, { value: 'done' });
  });

  it('renews the lease as the work goes on', async () => {
    const warehouse = await createWarehouse();
    const { builder, clock, ledger } = warehouse;
    const { metadataLocation } = await builder.load();

    await work(ports(warehouse), 'run-1', async ({ store }) => {
      for (let step = 0; step < 10; step++) {
        clock.advanceMs(LEASE_MS / 2);
        await store.read(metadataLocation, 1e6);
      }
      const holder = await ledger.leases.holder({ table: TABLE, scope: 'rewrite' });
      assert.equal(holder?.owner, 'run-1');
    });
  });

  it('goes on while the lease cannot be renewed, until it has expired', async () => {
    const warehouse = await createWarehouse();
    const { builder, clock } = warehouse;
    const { metadataLocation } = await builder.load();
    const { state, ledger } = failingLedger(warehouse);

    await work({ ...ports(warehouse), ledger }, 'run-1', async ({ store }) => {
      state.fails = ({ sort }) => (sort.startsWith('lease#') ? 'unavailable' : undefined);
      clock.advanceMs(LEASE_MS * 0.75);
      await store.read(metadataLocation, 1e6);
      clock.advanceMs(LEASE_MS / 4);
      await assert.rejects(store.read(metadataLocation, 1e6), errorOfKind('unavailable'));
    });
  });

  it('writes nothing more once the lease is lost, and leaves the run to the one who has it', async () => {
    const warehouse = await createWarehouse();
    const { store, clock, ledger } = warehouse;
    const testPorts = ports(warehouse);

    await assert.rejects(
      work(testPorts, 'run-1', async ({ openRun }) => {
        const run = await openRun();
        await run.nameObjects([OBJECT], 'group-not-committed');
        await run.store.write(OBJECT, new Uint8Array(1));
        clock.advanceMs(LEASE_MS);
        await work(testPorts, 'run-2', async () => {});
        assert.equal(await statusOf(ledger, 'run-1'), 'abandoned');
        await run.store.write(OBJECT, new Uint8Array(2));
      }),
      errorOfKind('commit-conflict', /has lost the rewrite lease/),
    );

    assert.equal((await store.read(OBJECT, 10)).length, 1);
    assert.deepEqual([...(await tombstonesOf(ledger))], [[OBJECT, 'run-abandoned']]);
  });
});

describe('a run', () => {
  it('writes only what it has named, and deletes nothing', async () => {
    const warehouse = await createWarehouse();

    await work(ports(warehouse), 'run-1', async ({ store, openRun }) => {
      await assert.rejects(store.write(OBJECT, new Uint8Array(1)), /before the run is opened/);
      const run = await openRun();
      await assert.rejects(run.store.write(OBJECT, new Uint8Array(1)), /without being named/);
      await assert.rejects(run.store.delete([OBJECT]), /deletes nothing/);
    });
  });

  it('puts its id and its fencing number into the snapshot', async () => {
    const warehouse = await createWarehouse();
    await work(ports(warehouse), 'run-1', async () => {});

    await commit(await stageByPartition(warehouse), ports(warehouse), 'main', 'run-2');

    const { metadata } = await warehouse.builder.load();
    const { summary } = snapshotOfRef(metadata)!;
    assert.deepEqual([summary[RUN_ID_KEY], summary[FENCING_KEY]], ['run-2', '2']);
  });

  it('tells the ledger of each object before it is written, and of the pointer write', async () => {
    const warehouse = await createWarehouse();
    const { ledger } = warehouse;

    await commit(await stageByPartition(warehouse), ports(warehouse));

    const run = await ledger.runs.read(TABLE, 'run-1');
    const { metadata, metadataLocation } = await warehouse.builder.load();
    assert.equal(run?.record.status, 'committed');
    assert.deepEqual(
      run?.record.intents.map(({ state, metadataLocation: written }) => [state, written]),
      [['applied', metadataLocation]],
    );
    assert.ok(run?.record.objects.includes(metadataLocation));
    assert.ok(run?.record.objects.includes(snapshotOfRef(metadata)?.manifestList ?? ''));
    assert.deepEqual(await tombstonesOf(ledger), new Map());
  });

  it('puts lists and metadata files of lost attempts on the tombstone list, and keeps what was reused', async () => {
    let conflictCount = 0;
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (conflictCount-- > 0 ? 'conflict' : undefined) },
    });
    const staged = await stageByPartition(warehouse);
    conflictCount = 2;

    await commit(staged, ports(warehouse));

    const tombstones = [...(await tombstonesOf(warehouse.ledger))];
    assert.deepEqual([...new Set(tombstones.map(([, reason]) => reason))], ['attempt-lost']);
    const kinds = tombstones.map(
      ([location]) => /(snap-\d+-\d|metadata\.json)/.exec(location)?.[1],
    );
    assert.deepEqual(kinds.map((kind) => kind?.replace(/snap-\d+-/, 'list ')).sort(), [
      'list 1',
      'list 2',
      'metadata.json',
      'metadata.json',
    ]);
  });

  it('puts metadata files that fell off the log on the tombstone list', async () => {
    const warehouse = await createWarehouse();
    const { builder, ledger } = warehouse;
    await builder.setProperties({ 'write.metadata.previous-versions-max': '1' });
    const before = await builder.load();

    await commit(await stageByPartition(warehouse), ports(warehouse));

    assert.deepEqual(
      [...(await tombstonesOf(ledger))].sort(),
      before.metadata.metadataLog.map(({ metadataFile }) => [metadataFile, 'metadata-log-trimmed']),
    );
  });

  it('puts everything it wrote on the tombstone list when it fails', async () => {
    const warehouse = await createWarehouse();
    const { ledger } = warehouse;

    await assert.rejects(
      work(ports(warehouse), 'run-1', async ({ openRun }) => {
        const run = await openRun();
        await run.nameObjects([OBJECT, `${OBJECT}.2`], 'group-not-committed');
        await run.store.write(OBJECT, new Uint8Array(1));
        throw new IcebergError('invariant', 'refused');
      }),
      errorOfKind('invariant'),
    );

    assert.equal(await statusOf(ledger, 'run-1'), 'abandoned');
    assert.deepEqual([...(await tombstonesOf(ledger))], [[OBJECT, 'group-not-committed']]);
  });

  it('stops when a later lease has committed meanwhile', async () => {
    const warehouse = await createWarehouse();
    const { builder, ledger } = warehouse;
    const testPorts = ports(warehouse);
    const staged = await stageByPartition(warehouse);
    await builder.edit((json, metadata) => ({
      ...json,
      snapshots: [
        ...metadata.snapshots.map(({ source }) => source),
        {
          ...metadata.snapshots[0]!.source,
          'snapshot-id': 99n,
          summary: { operation: 'replace', [RUN_ID_KEY]: 'run-9', [FENCING_KEY]: '9' },
        },
      ],
    }));
    const before = await builder.load();

    await assert.rejects(
      work(testPorts, 'run-1', (session) => commitIn(session, staged, testPorts)),
      errorOfKind('commit-conflict', /committed under lease 9, ours is 1/),
    );

    assert.equal((await builder.load()).metadataLocation, before.metadataLocation);
    assert.equal(await statusOf(ledger, 'run-1'), 'open');
  });

  it('sends no pointer write that the ledger does not know of', async () => {
    const warehouse = await createWarehouse();
    const { builder } = warehouse;
    const { state, ledger } = failingLedger(warehouse);
    const testPorts = { ...ports(warehouse), ledger };
    const staged = await stageByPartition(warehouse);
    const before = await builder.load();

    await assert.rejects(
      work(testPorts, 'run-1', async (session) => {
        let runWrites = 0;
        // The run is created, its objects are named, and its intent is recorded by the third write.
        state.fails = ({ operation, sort }) =>
          operation === 'write' && sort.startsWith('run#') && ++runWrites >= 3
            ? 'throttled'
            : undefined;
        return commitIn(session, staged, testPorts);
      }),
      errorOfKind('unavailable', /not written after 6 attempts/),
    );

    assert.equal((await builder.load()).metadataLocation, before.metadataLocation);
    state.fails = () => undefined;
    assert.equal(await statusOf(ledger, 'run-1'), 'open');
    await work(testPorts, 'run-2', async () => {});
    assert.equal(await statusOf(ledger, 'run-1'), 'abandoned');
  });

  it('has committed although the ledger could not be told; the next run tells it', async () => {
    const warehouse = await createWarehouse();
    const { state, ledger } = failingLedger(warehouse);
    const testPorts = { ...ports(warehouse), ledger };
    const staged = await stageByPartition(warehouse);
    let runWrites = 0;
    state.fails = ({ operation, sort }) =>
      operation === 'write' && sort.startsWith('run#') && ++runWrites >= 5
        ? 'throttled'
        : undefined;

    const outcome = await commit(staged, testPorts);

    assert.equal(outcome.outcome, 'committed');
    state.fails = () => undefined;
    assert.equal(await statusOf(ledger, 'run-1'), 'open');
    const settled = await work(testPorts, 'run-2', async ({ settledRuns }) => settledRuns);
    assert.deepEqual('value' in settled && settled.value, [
      {
        runId: 'run-1',
        operation: 'test',
        outcome: 'committed',
        snapshotIds: [outcome.outcome === 'committed' && outcome.snapshotId],
      },
    ]);
    assert.deepEqual(await tombstonesOf(ledger), new Map());
  });
});

describe('settling what another run left behind', () => {
  /** A run that cannot learn what became of its pointer write leaves its intent open. */
  async function leaveIntent(fault: WriteFault) {
    const { warehouse, next } = await faultyWarehouse();
    const staged = await stageByPartition(warehouse);
    const before = await warehouse.builder.load();
    next.fault = fault;
    await assert.rejects(commit(staged, ports(warehouse)), errorOfKind('commit-state-unknown'));
    assert.equal(await statusOf(warehouse.ledger, 'run-1'), 'open');
    return { warehouse, next, before };
  }

  async function settle(warehouse: Warehouse) {
    const outcome = await work(ports(warehouse), 'run-2', async ({ settledRuns }) => settledRuns);
    return 'value' in outcome ? outcome.value.map(({ outcome: ended }) => ended) : [];
  }

  it('keeps what an applied pointer write made part of the table', async () => {
    const { warehouse, next, before } = await leaveIntent('lost-after');
    next.isBlind = false;

    assert.deepEqual(await settle(warehouse), ['committed']);

    assert.deepEqual(await tombstonesOf(warehouse.ledger), new Map());
    const after = await warehouse.builder.load();
    assert.notEqual(after.metadataLocation, before.metadataLocation);
  });

  for (const fault of ['lost-before', 'late'] as const) {
    it(`fences a pointer write that is ${fault}, and lists its objects`, async () => {
      const { warehouse, next, before } = await leaveIntent(fault);
      next.isBlind = false;

      assert.deepEqual(await settle(warehouse), ['abandoned']);
      warehouse.catalog.deliverLateWrites();

      const after = await warehouse.builder.load();
      assert.equal(after.metadataLocation, before.metadataLocation);
      assert.notEqual(after.pointer.version, before.pointer.version);
      const reasons = [...(await tombstonesOf(warehouse.ledger)).values()];
      assert.deepEqual(new Set(reasons), new Set(['run-abandoned']));
      // Two manifests, a list and a metadata file.
      assert.equal(reasons.length, 4);
    });
  }

  it('closes as unknown what can never be told, and lists none of its objects', async () => {
    const { warehouse, next } = await leaveIntent('lost-before');
    next.isBlind = false;
    // The base leaves the log, so that nobody can see what followed it.
    await warehouse.builder.setProperties({ 'write.metadata.previous-versions-max': '1' });
    await warehouse.builder.setProperties({ comment: 'one' });
    await warehouse.builder.setProperties({ comment: 'other' });

    assert.deepEqual(await settle(warehouse), ['unknown']);

    assert.equal(await statusOf(warehouse.ledger, 'run-1'), 'unknown');
    assert.deepEqual(await tombstonesOf(warehouse.ledger), new Map());
    // It is settled for good.
    assert.deepEqual(await settle(warehouse), []);
  });

  it('is put off while nobody can be asked, and the run waits', async () => {
    const { warehouse, next } = await leaveIntent('lost-before');

    await assert.rejects(
      work(ports(warehouse), 'run-2', async () => assert.fail('began')),
      errorOfKind('unavailable', /cannot be settled now/),
    );

    assert.equal(await statusOf(warehouse.ledger, 'run-1'), 'open');
    next.isBlind = false;
    const later = await work(ports(warehouse), 'run-3', async ({ settledRuns }) => settledRuns);
    assert.deepEqual('value' in later && later.value.map(({ outcome }) => outcome), ['abandoned']);
  });

  it('lists nothing where the commit cannot be read any more', async () => {
    const { warehouse, next } = await leaveIntent('lost-after');
    next.isBlind = false;
    const { metadata, metadataLocation } = await warehouse.builder.load();
    await warehouse.builder.setProperties({ comment: 'the next metadata file' });
    await warehouse.store.delete([metadataLocation, snapshotOfRef(metadata)?.manifestList ?? '']);

    assert.deepEqual(await settle(warehouse), ['committed']);

    assert.deepEqual(await tombstonesOf(warehouse.ledger), new Map());
  });
});
