import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, NO_DEADLINE, silentLogger } from '../../../shared/base/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import { createLedger, MemoryItemStore, type Report } from '../../../shared/ledger/index.ts';
import { rewriteDataFiles } from '../../../shared/operations/rewrite-data-files/index.ts';
import { countingStore } from '../../../shared/storage/index.ts';
import { positionDeleteFile } from '../../deletes/delete-files-fixture.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import { createWarehouse, rewrite, smallFiles, type Warehouse } from './rewrite-fixture.ts';

const TABLE = 'db.orders';
const OBSERVE = { mode: 'observe' } as const;

async function reportsOf({ ledger }: Warehouse): Promise<readonly Report[]> {
  return (await ledger.reports.list({ table: TABLE, reportCountMax: 100 })).reports;
}

function sayings(reports: readonly Report[]): readonly string[] {
  return reports.map(({ outcome, reason }) => `${outcome}: ${reason}`);
}

describe('the report of a run', () => {
  it('says why, what changed, what was checked and what it cost', async () => {
    const warehouse = await createWarehouse();

    const outcome = await rewrite(warehouse, {}, { trigger: 'a test' });

    assert.ok(outcome.outcome === 'committed');
    const [report] = await reportsOf(warehouse);
    const { facts, ...said } = report!;
    const { durationMs, estimatedDollars, bytesRead, bytesWritten, ...others } = facts;
    const { requests } = outcome;
    assert.deepEqual(said, {
      runId: 'run-1',
      table: TABLE,
      operation: 'rewrite-data-files',
      outcome: 'committed',
      reason: 'enough-input-files',
      createdAtMs: warehouse.clock.nowMs(),
    });
    assert.deepEqual(
      { ...others, requests: undefined },
      {
        trigger: 'a test',
        branch: 'main',
        startingSnapshotId: String(outcome.plan.base.startingSnapshotId),
        scope: { kind: 'full', reason: 'requested' },
        groupCount: 2,
        plannedFileCount: 12,
        before: { ...outcome.before },
        after: { ...outcome.after },
        snapshotIds: [String(outcome.commits[0]?.snapshotId)],
        attemptCount: 1,
        // All but those of v3, and of tables with deletes.
        invariants: [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 18, 19, 20],
        committedGroupCount: 2,
        droppedGroupCount: 0,
        failedGroupCount: 0,
        notStartedGroupCount: 0,
        deletes: {
          appliedFileCount: 0,
          purgedRowCount: 0,
          carriedRowCount: 0,
          carriedOverRowCount: 0,
          addedFileCount: 0,
          removedFileCount: 0,
        },
        requests: undefined,
      },
    );
    const counted = others['requests'] as JsonObject;
    assert.equal(counted['s3GetCount'], requests.read + requests.readRange + requests.head);
    assert.equal(counted['s3PutCount'], requests.write + requests.openWriter);
    // The pointer three times; the lease and open runs, and the marker of this one.
    assert.equal(counted['dynamoDbReadCount'], 3 + 3);
    // The pointer once; the lease; the run opened (2), its objects named (3), its intent (2), closed (2).
    assert.equal(counted['dynamoDbWriteCount'], 1 + 1 + 9);
    assert.equal(bytesRead, requests.bytesRead);
    assert.equal(bytesWritten, requests.bytesWritten);
    assert.equal(durationMs, 0);
    assert.ok(Number(estimatedDollars) > 0);
  });

  it('counts the rows of delete files, and what became of deletes', async () => {
    const warehouse = await createWarehouse();
    const { builder } = warehouse;
    const [file] = await builder.append(smallFiles(200));
    const path = file!.dataFile.filePath;
    const rows = [1, 3, 5].map((position) => ({ path, position }));
    const deletes = await positionDeleteFile(warehouse, file!, rows);
    await builder.commit({ operation: 'delete', addedManifests: [[deletes]] });

    await rewrite(warehouse);

    const [report] = await reportsOf(warehouse);
    const counts = ['before', 'after'].map((when) => report?.facts[when] as JsonObject);
    assert.deepEqual(
      counts.map((each) => each['deleteRowCount']),
      [3, 0],
    );
    assert.deepEqual(report?.facts['deletes'], {
      appliedFileCount: 1,
      purgedRowCount: 3,
      carriedRowCount: 0,
      carriedOverRowCount: 0,
      addedFileCount: 0,
      removedFileCount: 1,
    });
  });

  it('has the plan and its groups as details', async () => {
    const warehouse = await createWarehouse();

    await rewrite(warehouse);

    const read = await warehouse.ledger.reports.read(TABLE, 'run-1');
    assert.deepEqual(Object.keys(read?.details ?? {}).sort(), ['groups', 'plan']);
  });

  it('tells a failure', async () => {
    const warehouse = await createWarehouse();

    await assert.rejects(rewrite(warehouse, { nonsense: '1' }), errorOfKind('invalid-config'));

    assert.deepEqual(sayings(await reportsOf(warehouse)), ['failed: invalid-config']);
  });

  it('tells what became of runs that were left behind', async () => {
    const warehouse = await createWarehouse();
    const { ledger } = warehouse;
    const request = { table: TABLE, scope: 'rewrite', owner: 'lost-run', durationMs: 1 };
    const acquired = await ledger.leases.acquire(request);
    assert.ok(acquired.outcome === 'acquired');
    await ledger.runs.open(acquired.lease, 'rewrite-data-files');
    warehouse.clock.advanceMs(2);

    await rewrite(warehouse);

    const report = (await reportsOf(warehouse)).find(({ runId }) => runId === 'lost-run');
    assert.equal(report?.outcome, 'abandoned');
    assert.deepEqual(report?.facts, { settledBy: 'run-1', snapshotIds: [] });
  });
});

describe('the report of a table left alone', () => {
  it('is written once for each reason', async () => {
    const warehouse = await createWarehouse({ appendCount: 1 });

    await rewrite(warehouse);
    await rewrite(warehouse);
    await rewrite(warehouse, { 'min-input-files': '2' });
    await rewrite(warehouse);

    assert.deepEqual(sayings(await reportsOf(warehouse)).toSorted(), [
      'committed: enough-input-files',
      'nothing-planned: nothing-due',
      'nothing-planned: nothing-due',
    ]);
  });

  it('is written for a table without snapshots', async () => {
    const warehouse = await createWarehouse({ appendCount: 0 });

    await rewrite(warehouse);

    assert.deepEqual(sayings(await reportsOf(warehouse)), ['no-snapshot: no-snapshot']);
  });

  it('is written for one that cannot be maintained, with the detail', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.setProperties({ 'write.location-provider.impl': 'org.example.Mine' });

    await rewrite(warehouse);

    const [report] = await reportsOf(warehouse);
    assert.equal(report?.reason, 'custom-location-provider');
    assert.equal(report?.facts['detail'], 'org.example.Mine');
  });
});

describe('observing', () => {
  it('takes no lease, opens no run and writes nothing to the table', async () => {
    const warehouse = await createWarehouse();
    const { items, ledger } = countedLedger(warehouse);
    const store = countingStore(warehouse.store);

    await rewrite(warehouse, {}, { ...OBSERVE, ports: { ledger, store } });

    const kinds = items.snapshot(TABLE).map(({ sort }) => sort.split('#')[0]);
    assert.deepEqual(kinds.toSorted(), ['report', 'report-of', 'skip']);
    assert.equal(store.requestCounts.write + store.requestCounts.openWriter, 0);
  });

  it('reports what it would do, and again when there is twice as much', async () => {
    const warehouse = await createWarehouse();
    const { builder, clock } = warehouse;

    await rewrite(warehouse, {}, OBSERVE);
    await rewrite(warehouse, {}, OBSERVE);
    await builder.append(smallFiles(200));
    clock.advanceMs(1000);
    await rewrite(warehouse, {}, OBSERVE);

    const reports = await reportsOf(warehouse);
    assert.deepEqual(
      reports.map(({ reason, facts }) => [reason, facts['plannedFileCount']]),
      [
        ['observing', 16],
        ['observing', 12],
      ],
    );
  });

  it('leaves no trace without a ledger', async () => {
    const warehouse = await createWarehouse();
    const { catalog, store, clock, random, builder } = warehouse;

    const outcome = await rewriteDataFiles(
      {
        ...OBSERVE,
        table: await builder.load(),
        options: {},
        runId: 'run-1',
        guards: LOWERED_GUARD_SETTINGS,
      },
      { catalog, store, clock, random, deadline: NO_DEADLINE, logger: silentLogger },
    );

    assert.equal(outcome.outcome, 'observed');
    assert.deepEqual(await reportsOf(warehouse), []);
  });
});

describe('the state of a run', () => {
  it('may not lie within the table', async () => {
    const warehouse = await createWarehouse();
    const { store, clock, random } = warehouse;
    const state = { store, prefix: 's3a://bucket/db/orders/state/' };
    const ledger = createLedger({ items: new MemoryItemStore(), state, clock, random });

    await assert.rejects(
      rewrite(warehouse, {}, { ports: { ledger } }),
      errorOfKind('invalid-config', /lies within s3:\/\/bucket\/db\/orders/),
    );
  });
});

function countedLedger({ clock, random, store }: Warehouse) {
  const items = new MemoryItemStore();
  const state = { store, prefix: 's3://state/' };
  return { items, ledger: createLedger({ items, state, clock, random }) };
}
