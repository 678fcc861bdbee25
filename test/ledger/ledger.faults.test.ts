/** A whole run of the commit loop against the ledger, with each fault, and a crash, at each of its calls. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError, ManualClock, seededRandom } from '../../shared/base/index.ts';
import {
  createLedger,
  type ItemCall,
  type ItemFault,
  type ItemFaults,
  type Ledger,
  MemoryItemStore,
} from '../../shared/ledger/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { pointerWrite, readAll } from './ledger-values.ts';

const TABLE = 'db.orders';
const LEASE_MS = 60_000;
const OBJECTS = ['s3://w/data/1.parquet', 's3://w/data/2.parquet'];
const LIST = 's3://w/metadata/1.avro';
const WRITE = pointerWrite(1);

class Crash extends Error {}

/** Two processes on one memory store; what meets the first one's calls is up to `meet`. */
function openWorld(meet: (call: ItemCall, index: number) => ItemFault | undefined) {
  const clock = new ManualClock(1_000_000);
  let callCount = 0;
  let isFirst = true;
  const faults: ItemFaults = {
    next: async (call) => (isFirst ? meet(call, callCount++) : undefined),
  };
  const items = new MemoryItemStore(faults);
  const state = { store: new MemoryObjectStore(), prefix: 's3://state/ledger/' };
  return {
    items,
    clock,
    first: createLedger({ items, state, clock, random: seededRandom(1) }),
    second: createLedger({ items, state, clock, random: seededRandom(2) }),
    callCount: () => callCount,
    endFirst: () => {
      isFirst = false;
    },
  };
}

/** As the commit loop goes; the pointer write itself succeeds. */
async function workOn(ledger: Ledger, runId: string): Promise<void> {
  await settleAbandoned(ledger);
  const request = { table: TABLE, scope: 'rewrite', owner: runId, durationMs: LEASE_MS };
  const outcome = await ledger.leases.acquire(request);
  assert.ok(outcome.outcome === 'acquired', `${runId}: busy`);
  const { lease } = outcome;
  const run = await ledger.runs.open(lease, 'rewrite-data-files');
  await run.nameObjects(OBJECTS.map((object) => `${object}?${runId}`));
  await run.nameObjects([`${LIST}?${runId}`]);
  await run.recordIntent(WRITE);
  await run.closeIntent(WRITE.version, 'applied');
  const locations = [`${LIST}?${runId}`];
  await ledger.tombstones.add({ table: TABLE, locations, reason: 'attempt-lost', runId });
  await run.close('committed');
  await ledger.reports.writeRun({
    runId,
    table: TABLE,
    operation: 'rewrite-data-files',
    outcome: 'committed',
    reason: 'small-files',
    createdAtMs: 1,
    facts: {},
  });
  await lease.release();
}

/** Here no pointer write of a crashed run was applied. */
async function settleAbandoned(ledger: Ledger): Promise<void> {
  for (const { run, isAbandoned } of await ledger.runs.listOpen(TABLE)) {
    if (!isAbandoned) continue;
    if (run.openIntent !== undefined) {
      await run.closeIntent(run.openIntent.version, 'not-applied');
    }
    const { runId } = run;
    const batch = { table: TABLE, locations: run.objects(), reason: 'run-abandoned', runId };
    await ledger.tombstones.add(batch);
    await run.close('abandoned');
  }
}

function bodies(items: MemoryItemStore) {
  return items.snapshot(TABLE).map(({ sort, body }) => ({ sort, body }));
}

async function countCalls() {
  const calls: ItemCall[] = [];
  const world = openWorld((call) => {
    calls.push(call);
    return undefined;
  });
  await workOn(world.first, 'run-1');
  return { calls, expected: bodies(world.items) };
}

describe('a run with one fault', () => {
  const writeFaults = ['conflict', 'throttled', 'lost-before', 'lost-after', 'late'] as const;

  test('costs 17 calls when nothing goes wrong', async () => {
    const { calls } = await countCalls();

    assert.deepEqual(
      calls.map(({ operation, sort }) => `${operation} ${sort.split('#')[0]}`),
      [
        'query open-run',
        'read lease',
        'write lease',
        'write open-run',
        'write run',
        'write run',
        'write run',
        'write run',
        'write run',
        'write tombstone',
        'write run',
        'read open-run',
        'remove open-run',
        'write report-of',
        'write report',
        'read skip',
        'write lease',
      ],
    );
  });

  for (const fault of writeFaults) {
    for (const delivery of fault === 'late' ? (['next-call', 'at-end'] as const) : ['none']) {
      test(`${fault} (${delivery}) at any write changes nothing in the end`, async () => {
        const { calls, expected } = await countCalls();
        for (const [target, { operation }] of calls.entries()) {
          if (operation === 'read' || operation === 'query') continue;
          const world = openWorld((_call, index) => {
            if (index === target) return fault;
            if (delivery === 'next-call') world.items.deliverLateWrites();
            return undefined;
          });
          // Waits between attempts move the clock, and with it the times in records.
          Object.assign(world.clock, { sleepMs: async () => {} });

          await workOn(world.first, 'run-1');
          world.items.deliverLateWrites();

          // A late copy may bring back the item by which an open run is found; the run itself is closed.
          assert.deepEqual(await world.second.runs.listOpen(TABLE), []);
          assert.deepEqual(bodies(world.items), expected, `call ${target}`);
        }
      });
    }
  }

  test('a read that is not answered ends the run as unavailable', async () => {
    const { calls } = await countCalls();
    for (const [target, { operation }] of calls.entries()) {
      if (operation !== 'read' && operation !== 'query') continue;
      const world = openWorld((_call, index) => (index === target ? 'unavailable' : undefined));

      await assert.rejects(workOn(world.first, 'run-1'), (error) =>
        isIcebergError(error, 'unavailable'),
      );
    }
  });
});

describe('a run that crashes', () => {
  for (const lastWrite of ['not-sent', 'applied', 'late'] as const) {
    test(`at any call, its last write ${lastWrite}: the next run settles it`, async () => {
      const { calls } = await countCalls();
      for (const target of calls.keys()) {
        const world = openWorld((_call, index) => {
          if (index > target || (index === target && lastWrite === 'not-sent')) throw new Crash();
          if (index < target) return undefined;
          return lastWrite === 'late' ? 'late' : 'lost-after';
        });
        await assert.rejects(
          workOn(world.first, 'run-1'),
          (error) => error instanceof Crash || isIcebergError(error, 'unavailable'),
        );
        world.endFirst();
        world.clock.advanceMs(LEASE_MS);

        await workOn(world.second, 'run-2');
        world.items.deliverLateWrites();
        world.clock.advanceMs(LEASE_MS);
        await workOn(world.second, 'run-3');

        await assertSettled(world.second, `call ${target}`);
      }
    });
  }
});

async function assertSettled(ledger: Ledger, when: string): Promise<void> {
  assert.deepEqual(await ledger.runs.listOpen(TABLE), [], when);
  const tombstones = await readAll(ledger.tombstones.list(TABLE));
  const listed = new Set(tombstones.map(({ location }) => location));
  const run = await ledger.runs.read(TABLE, 'run-1');
  if (run === undefined || run.record.status === 'committed') return;
  assert.equal(run.record.status, 'abandoned', when);
  for await (const location of run.objects())
    assert.ok(listed.has(location), `${when} ${location}`);
}
