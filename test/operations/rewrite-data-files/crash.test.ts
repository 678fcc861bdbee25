/** A compaction that crashes at each of its port calls, one by one, and the run that comes after it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '../../../shared/base/index.ts';
import { snapshotOfRef } from '../../../shared/iceberg/index.ts';
import { createLedger, MemoryItemStore } from '../../../shared/ledger/index.ts';
import { MemoryObjectStore } from '../../../shared/storage/index.ts';
import { RUN_ID_KEY } from '../../../shared/table/index.ts';
import { Crash, type CrashPoint, MortalProcess } from '../../support/mortal-ports.ts';
import { readRowsSlowly } from '../../support/slow-reader.ts';
import { listObjects, referencedObjects } from '../../support/table-objects.ts';
import { createWarehouse, type FormatVersion, rewrite, type Warehouse } from './rewrite-fixture.ts';

const TABLE = 'db.orders';
const LOCATION = 's3://bucket/db/orders/';

/** Longer than any lease. */
const LATER_MS = 10 * 60_000;

interface World {
  readonly warehouse: Warehouse;
  readonly items: MemoryItemStore;
  readonly rowsBefore: readonly string[];
}

async function openWorld(formatVersion: FormatVersion): Promise<World> {
  const warehouse = await createWarehouse({ formatVersion, partitionFields: [], appendCount: 1 });
  // So small that each commit drops a metadata file from the log.
  await warehouse.builder.setProperties({ 'write.metadata.previous-versions-max': '2' });
  return { warehouse, items: new MemoryItemStore(), rowsBefore: await readRows(warehouse) };
}

async function readRows({ builder, store }: Warehouse): Promise<readonly string[]> {
  const { metadata, metadataLocation } = await builder.load();
  const snapshotId = snapshotOfRef(metadata)?.snapshotId;
  assert.ok(snapshotId !== undefined);
  return readRowsSlowly({ store, metadataLocation, snapshotId });
}

/** One run, in a process of its own that may die. */
async function runIn(process: MortalProcess, { warehouse, items }: World, runId: string) {
  const { clock, catalog, store } = warehouse;
  const ledger = createLedger({
    items: process.items(items),
    state: { store: new MemoryObjectStore({ clock }), prefix: 's3://state/' },
    clock,
    random: seededRandom(runId.length),
  });
  const ports = { catalog: process.catalog(catalog), store: process.store(store), ledger };
  const table = await warehouse.builder.load();
  return rewrite(warehouse, { 'min-input-files': '2' }, { table, runId, ports });
}

async function checkEverything({ warehouse, items, rowsBefore }: World): Promise<void> {
  const { store, builder, clock } = warehouse;
  assert.deepEqual(await readRows(warehouse), rowsBefore);
  const ledger = createLedger({
    items,
    state: { store, prefix: 's3://state/' },
    clock,
    random: seededRandom(1),
  });
  assert.deepEqual(await ledger.runs.listOpen(TABLE), []);
  const tombstones: string[] = [];
  for await (const { location } of ledger.tombstones.list(TABLE)) tombstones.push(location);
  const table = await builder.load();
  const referenced = await referencedObjects(table, store);
  assert.deepEqual(
    tombstones.filter((location) => referenced.has(location)),
    [],
    'no object of the table is on the list',
  );
  const objects = await listObjects(store, LOCATION);
  assert.deepEqual(
    objects.filter((location) => !referenced.has(location) && !isOld(location, tombstones)),
    [],
    'every other object is on the list',
  );
  const runIds = table.metadata.snapshots.flatMap(({ summary }) => summary[RUN_ID_KEY] ?? []);
  assert.equal(runIds.length, 1, 'there is one commit');
}

/** On the list, or dropped from the log before Firn came. */
function isOld(location: string, tombstones: readonly string[]): boolean {
  return tombstones.includes(location) || /\/0000[01]-/.test(location);
}

describe('rewriteDataFiles, with a crash', () => {
  for (const formatVersion of [1, 3] as const) {
    it(`at any port call of a v${formatVersion} compaction: the next run settles and finishes`, async () => {
      const calm = new MortalProcess();
      const world = await openWorld(formatVersion);
      await runIn(calm, world, 'calm');
      await checkEverything(world);
      assert.ok(calm.calls.length > 35, `${calm.calls.length} calls`);

      for (const [callIndex, label] of calm.calls.entries()) {
        for (const moment of ['before', 'after'] as const) {
          await crashAt({ callIndex, moment }, `${moment} ${callIndex} ${label}`, formatVersion);
        }
      }
    });
  }
});

async function crashAt(
  crash: CrashPoint,
  label: string,
  formatVersion: FormatVersion,
): Promise<void> {
  const world = await openWorld(formatVersion);
  await assert.rejects(runIn(new MortalProcess(crash), world, 'first'), Crash, label);
  world.warehouse.clock.advanceMs(LATER_MS);

  const { outcome } = await runIn(new MortalProcess(), world, 'second');

  assert.match(outcome, /^(committed|nothing-planned)$/, label);
  try {
    await checkEverything(world);
  } catch (error) {
    throw new Error(label, { cause: error });
  }
}
