import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import {
  MemoryCatalog,
  parseTableIdentifier,
  type WriteFault,
} from '../../shared/catalog/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { testCatalogConformance } from './catalog.conformance.ts';
import { rawRecords } from './raw-records.ts';

testCatalogConformance('memory', async (clock) => {
  const catalog = new MemoryCatalog({ clock, random: seededRandom(1) });
  const raw = rawRecords({
    clock,
    readRecord: async (identifier) => catalog.readRecord(identifier),
    writeRecord: async (identifier, record) => catalog.writeRecord(identifier, record),
    drop: async (identifier) => catalog.dropTable(identifier),
  });
  return {
    catalog,
    other: catalog,
    raw: {
      ...raw,
      rename: async (source, target) => catalog.renameTable(source, target),
      replace: async (identifier, location) => catalog.replaceTable(identifier, location),
    },
    close: async () => {},
  };
});

describe('MemoryCatalog faults', () => {
  const identifier = parseTableIdentifier('db.orders');

  async function open(fault: WriteFault | undefined) {
    const faults: (WriteFault | undefined)[] = [fault];
    const catalog = new MemoryCatalog({
      clock: new ManualClock(0),
      random: seededRandom(1),
      faults: { onWrite: () => faults.shift() },
    });
    const base = await catalog.registerTable(identifier, 's3://w/0.json');
    const commit = () =>
      catalog.commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' });
    const location = async () => (await catalog.loadTable(identifier)).metadataLocation;
    return { catalog, base, commit, location };
  }

  test('conflict: somebody else has changed the version, and nothing else', async () => {
    const { catalog, base, commit, location } = await open('conflict');

    await assert.rejects(commit(), errorOfKind('commit-conflict'));

    assert.equal(await location(), 's3://w/0.json');
    assert.notEqual((await catalog.loadTable(identifier)).version, base.version);
  });

  test('conflict: on a table that is gone it stays gone', async () => {
    const { catalog, commit } = await open('conflict');
    catalog.dropTable(identifier);

    await assert.rejects(commit(), errorOfKind('commit-conflict'));

    await assert.rejects(catalog.loadTable(identifier), errorOfKind('not-found'));
  });

  test('throttled: not applied, and the same commit succeeds later', async () => {
    const { commit, location } = await open('throttled');

    await assert.rejects(commit(), errorOfKind('unavailable'));
    assert.equal(await location(), 's3://w/0.json');

    await commit();
    assert.equal(await location(), 's3://w/1.json');
  });

  test('lost-before: unknown, and never applied', async () => {
    const { catalog, commit, location } = await open('lost-before');

    await assert.rejects(commit(), errorOfKind('commit-state-unknown'));
    catalog.deliverLateWrites();

    assert.equal(await location(), 's3://w/0.json');
  });

  test('lost-after: unknown, and applied', async () => {
    const { commit, location } = await open('lost-after');

    await assert.rejects(commit(), errorOfKind('commit-state-unknown'));

    assert.equal(await location(), 's3://w/1.json');
  });

  test('late: unknown, applied when it arrives', async () => {
    const { catalog, commit, location } = await open('late');

    await assert.rejects(commit(), errorOfKind('commit-state-unknown'));
    assert.equal(await location(), 's3://w/0.json');

    catalog.deliverLateWrites();
    assert.equal(await location(), 's3://w/1.json');
  });

  test('late: turned away on arrival once the version was fenced', async () => {
    const { catalog, base, commit, location } = await open('late');
    await assert.rejects(commit(), errorOfKind('commit-state-unknown'));

    await catalog.fenceTable({ base, version: 'fence-1' });
    catalog.deliverLateWrites();

    assert.equal(await location(), 's3://w/0.json');
    assert.equal((await catalog.loadTable(identifier)).version, 'fence-1');
  });

  test('a read fault is unavailable', async () => {
    const catalog = new MemoryCatalog({
      clock: new ManualClock(0),
      random: seededRandom(1),
      faults: { onRead: () => 'unavailable' },
    });
    await catalog.registerTable(identifier, 's3://w/0.json');

    await assert.rejects(catalog.loadTable(identifier), errorOfKind('unavailable'));
  });

  test('refuses to rename or replace a table that is not there', () => {
    const catalog = new MemoryCatalog({ clock: new ManualClock(0), random: seededRandom(1) });

    assert.throws(() => catalog.renameTable(identifier, identifier), errorOfKind('not-found'));
    assert.throws(() => catalog.replaceTable(identifier, 's3://w/1'), errorOfKind('not-found'));
  });
});
