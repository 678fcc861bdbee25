import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { MemoryCatalog } from '../../shared/catalog/index.ts';
import { MemoryObjectStore, type StoreFault } from '../../shared/storage/index.ts';
import { headOfBranch, loadTable } from '../../shared/table/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { createWarehouse, IDENTIFIER } from './replace-fixture.ts';

const LOCATION = 's3://bucket/db/orders/metadata/00000-a.metadata.json';

/** A catalog that points to a metadata file with these bytes, in a store that fails as told. */
async function tableOf(text: string, faults: readonly StoreFault[] = []) {
  const clock = new ManualClock(0);
  const catalog = new MemoryCatalog({ clock, random: seededRandom(1) });
  const pending: StoreFault[] = [];
  const store = new MemoryObjectStore({
    clock,
    faults: { next: () => Promise.resolve(pending.shift()) },
  });
  await store.write(LOCATION, new TextEncoder().encode(text));
  await catalog.registerTable(IDENTIFIER, LOCATION);
  pending.push(...faults);
  return { catalog, store, clock };
}

async function metadataText(change: (text: string) => string): Promise<string> {
  const { store, builder } = await createWarehouse();
  const { metadataLocation } = await builder.load();
  return change(new TextDecoder().decode(await store.read(metadataLocation, 1e6)));
}

describe('loadTable', () => {
  it('loads pointer and metadata', async () => {
    const { catalog, store, clock } = await createWarehouse();

    const table = await loadTable(IDENTIFIER, { catalog, store, clock });

    assert.equal(table.metadataLocation, table.pointer.metadataLocation);
    assert.equal(table.metadata.formatVersion, 2);
    assert.deepEqual(table.identifier, IDENTIFIER);
  });

  it('reports a table that the catalog does not have', async () => {
    const { catalog, store, clock } = await createWarehouse();

    await assert.rejects(
      loadTable({ namespace: ['db'], name: 'missing' }, { catalog, store, clock }),
      errorOfKind('not-found'),
    );
  });

  it('reports a metadata file that is gone', async () => {
    const ports = await tableOf('');
    await ports.store.delete([LOCATION]);

    await assert.rejects(loadTable(IDENTIFIER, ports), errorOfKind('not-found'));
  });

  it('names the file whose JSON is broken, and keeps the rest of the message', async () => {
    const text = await metadataText((json) => json.slice(0, -1));

    await assert.rejects(
      loadTable(IDENTIFIER, await tableOf(text)),
      errorOfKind('invalid-data', new RegExp(`^${RegExp.escape(LOCATION)}: table metadata: `)),
    );
  });

  it('refuses format version 4', async () => {
    const text = await metadataText((json) =>
      json.replace('"format-version":2', '"format-version":4'),
    );

    await assert.rejects(loadTable(IDENTIFIER, await tableOf(text)), errorOfKind('unsupported'));
  });

  it('refuses an encrypted table', async () => {
    const text = await metadataText((json) =>
      json.replace('"properties":{', '"properties":{"encryption.key-id":"k1"'),
    );

    await assert.rejects(
      loadTable(IDENTIFIER, await tableOf(text)),
      errorOfKind('unsupported', /is encrypted/),
    );
  });

  it('refuses metadata that is no JSON', async () => {
    await assert.rejects(loadTable(IDENTIFIER, await tableOf('{')), errorOfKind('invalid-data'));
  });

  it('asks again for a metadata file when the store is not available', async () => {
    const text = await metadataText((json) => json);
    const ports = await tableOf(text, [{ failure: 'throttled' }, { failure: 'throttled' }]);

    const table = await loadTable(IDENTIFIER, ports);

    assert.equal(table.metadataLocation, LOCATION);
    assert.equal(ports.clock.nowMs(), 500 + 1000);
  });

  it('gives up after the third time', async () => {
    const text = await metadataText((json) => json);
    const failure = { failure: 'throttled' } as const;

    await assert.rejects(
      loadTable(IDENTIFIER, await tableOf(text, [failure, failure, failure])),
      errorOfKind('unavailable'),
    );
  });
});

describe('headOfBranch', () => {
  it('finds the snapshot of main and of another branch', async () => {
    const { builder } = await createWarehouse();
    await builder.addRef('audit', 'branch');
    const table = await builder.load();

    assert.equal(headOfBranch(table, 'main')?.snapshotId, table.metadata.currentSnapshotId);
    assert.equal(headOfBranch(table, 'audit')?.snapshotId, table.metadata.currentSnapshotId);
  });

  it('finds none in a table without snapshots', async () => {
    const { builder } = await createWarehouse();
    const { metadata, ...table } = await builder.load();

    assert.equal(
      headOfBranch({ ...table, metadata: { ...metadata, refs: new Map() } }, 'main'),
      undefined,
    );
  });

  it('refuses a tag, and a branch that does not exist', async () => {
    const { builder } = await createWarehouse();
    await builder.addRef('v1', 'tag');
    const table = await builder.load();

    assert.throws(() => headOfBranch(table, 'v1'), errorOfKind('invalid-config', /v1 is a tag/));
    assert.throws(
      () => headOfBranch(table, 'nowhere'),
      errorOfKind('invalid-config', /nowhere is no branch/),
    );
  });
});
