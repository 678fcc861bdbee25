import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deleteFileOf } from '../../local/table-writer/index.ts';
import { deadlineAfter } from '../../shared/base/index.ts';
import { type FileOfSpec, snapshotOfRef } from '../../shared/iceberg/index.ts';
import { countingStore, type ObjectStore } from '../../shared/storage/index.ts';
import { createManifestReader } from '../../shared/table/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { readRowsSlowly } from '../support/slow-reader.ts';
import {
  commit,
  createWarehouse,
  IDENTIFIER,
  ports,
  row,
  type Staged,
  stageByPartition,
  type Warehouse,
} from './replace-fixture.ts';

async function readRows({ builder, store }: Warehouse, branch = 'main'): Promise<string[]> {
  const { metadata, metadataLocation } = await builder.load();
  const snapshotId = snapshotOfRef(metadata, branch)?.snapshotId;
  assert.ok(snapshotId !== undefined);
  return readRowsSlowly({ store, metadataLocation, snapshotId });
}

function firstInput(staged: Staged, group = 0): FileOfSpec {
  const { specId, filePath, partition, recordCount, fileSizeBytes } =
    staged.groups[group]!.inputs[0]!;
  return {
    specId,
    dataFile: {
      content: 'data',
      filePath,
      fileFormat: 'PARQUET',
      partition,
      recordCount,
      fileSizeBytes,
      unknownFields: [],
    },
  };
}

/** A store whose next write of a matching location stores other bytes. */
function corruptingStore(
  store: ObjectStore,
  matches: RegExp,
  corrupt: (bytes: Uint8Array) => Uint8Array,
): ObjectStore {
  return {
    head: (location) => store.head(location),
    read: (location, bytesMax) => store.read(location, bytesMax),
    readRange: (location, offset, lengthBytes) => store.readRange(location, offset, lengthBytes),
    openRanged: (location, fileSizeBytes) => store.openRanged(location, fileSizeBytes),
    openWriter: (location) => store.openWriter(location),
    list: (prefix) => store.list(prefix),
    delete: (locations) => store.delete(locations),
    write: (location, bytes, options) =>
      store.write(location, matches.test(location) ? corrupt(bytes) : bytes, options),
  };
}

function flipLastByte(bytes: Uint8Array): Uint8Array {
  const flipped = Uint8Array.from(bytes);
  flipped[flipped.length - 1]! ^= 0xff;
  return flipped;
}

describe('commitReplace', () => {
  for (const formatVersion of [1, 2, 3] as const) {
    it(`replaces files of a v${formatVersion} table in one snapshot and keeps its rows`, async () => {
      const warehouse = await createWarehouse({ formatVersion });
      const { store, builder } = warehouse;
      const before = await builder.load();
      const rowsBefore = await readRows(warehouse);

      const outcome = await commit(await stageByPartition(warehouse), ports(warehouse));

      const after = await builder.load();
      assert.equal(outcome.outcome, 'committed');
      assert.deepEqual(outcome.droppedGroups, []);
      const head = snapshotOfRef(after.metadata, 'main');
      assert.equal(head?.snapshotId, outcome.outcome === 'committed' && outcome.snapshotId);
      assert.equal(head?.parentSnapshotId, before.metadata.currentSnapshotId);
      assert.equal(head?.summary['operation'], 'replace');
      assert.equal(head?.summary['firn.run-id'], 'run-1');
      assert.equal(head?.summary['deleted-data-files'], '7');
      assert.equal(head?.summary['added-data-files'], '2');
      assert.equal(head?.summary['total-records'], '7');
      assert.deepEqual(await readRows(warehouse), rowsBefore);
      assert.equal(after.metadata.metadataLog.at(-1)?.metadataFile, before.metadataLocation);
      const manifests = await createManifestReader(store).readList(after.metadata, head!);
      assert.deepEqual(
        manifests.map((manifest) => [manifest.addedFilesCount, manifest.deletedFilesCount]),
        [
          [2, 0],
          [0, 7],
        ],
      );
    });
  }

  it('gives added files the starting sequence number, and burns ids for their rows only', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const staged = await stageByPartition(warehouse);
    const before = await warehouse.builder.load();
    const partly = { ...staged, groups: staged.groups.slice(0, 1) };

    await commit(partly, ports(warehouse));

    const after = await warehouse.builder.load();
    const head = snapshotOfRef(after.metadata)!;
    const reader = createManifestReader(warehouse.store);
    const manifests = await reader.readList(after.metadata, head);
    const entries = await reader.readEntries(after.metadata, manifests[0]!, { skipsMetrics: true });
    const [added] = [...entries];
    assert.equal(added?.dataSequenceNumber, 2n);
    assert.equal(added?.fileSequenceNumber, 3n);
    assert.equal(head.sequenceNumber, 3n);
    assert.equal(head.firstRowId, before.metadata.nextRowId);
    assert.equal(head.addedRows, 5n);
    assert.equal(after.metadata.nextRowId, 12n);
    // Files of the other partition stay in rewritten manifests, with the ids they had.
    const kept = await reader.readEntries(after.metadata, manifests[1]!, { skipsMetrics: true });
    const existing = [...kept].filter((entry) => entry.status === 'existing');
    assert.deepEqual(
      existing.map((entry) => [entry.dataFile.partition, entry.dataFile.firstRowId]),
      [
        [['us'], 6n],
        [['us'], 3n],
      ],
    );
  });

  it('rewrites manifests one by one when the table does not want them merged', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.setProperties({ 'commit.manifest-merge.enabled': 'false' });

    await commit(await stageByPartition(warehouse), ports(warehouse));

    const { metadata } = await warehouse.builder.load();
    const reader = createManifestReader(warehouse.store);
    const manifests = await reader.readList(metadata, snapshotOfRef(metadata)!);
    assert.deepEqual(
      manifests.map((manifest) => manifest.deletedFilesCount),
      [0, 3, 4],
    );
  });

  it('rewrites no more manifests together than the table’s manifest size holds', async () => {
    const warehouse = await createWarehouse();
    const before = await warehouse.builder.load();
    const reader = createManifestReader(warehouse.store);
    const headManifests = await reader.readList(before.metadata, snapshotOfRef(before.metadata)!);
    const sizes = headManifests.map((manifest) => manifest.manifestLengthBytes);
    await warehouse.builder.setProperties({
      'commit.manifest.target-size-bytes': String(sizes[0]! + sizes[1]! - 1),
    });

    await commit(await stageByPartition(warehouse), ports(warehouse));

    const { metadata } = await warehouse.builder.load();
    const manifests = await reader.readList(metadata, snapshotOfRef(metadata)!);
    assert.deepEqual(
      manifests.map((manifest) => manifest.deletedFilesCount),
      [0, 3, 4],
    );
  });

  it('commits on a branch and leaves main alone', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.addRef('audit', 'branch');
    const staged = await stageByPartition(warehouse, 'audit');
    const before = await warehouse.builder.load();
    const rowsBefore = await readRows(warehouse, 'audit');

    const outcome = await commit(staged, ports(warehouse), 'audit');

    const after = await warehouse.builder.load();
    assert.equal(outcome.outcome, 'committed');
    assert.equal(after.metadata.currentSnapshotId, before.metadata.currentSnapshotId);
    assert.deepEqual(after.metadata.refs.get('main'), before.metadata.refs.get('main'));
    assert.deepEqual(await readRows(warehouse, 'audit'), rowsBefore);
  });

  it('deletes no object, whatever happens', async () => {
    const warehouse = await createWarehouse();
    const store = countingStore(warehouse.store);

    await commit(await stageByPartition(warehouse), ports(warehouse, { store }));

    assert.equal(store.requestCounts.delete, 0);
  });
});

describe('commitReplace beside other writers', () => {
  it('builds on a snapshot that was appended meanwhile', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    await warehouse.builder.append([{ rows: [row(99n, 'eu')], partition: ['eu'] }]);
    const rowsBefore = await readRows(warehouse);

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(outcome.droppedGroups, []);
    assert.deepEqual(await readRows(warehouse), rowsBefore);
    assert.equal(rowsBefore.length, 8);
  });

  it('goes on when the planned snapshot has expired', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    await warehouse.builder.append([{ rows: [row(99n, 'eu')], partition: ['eu'] }]);
    const planned = staged.table.metadata.currentSnapshotId;
    await warehouse.builder.edit((json, metadata) => ({
      ...json,
      snapshots: metadata.snapshots
        .filter((snapshot) => snapshot.snapshotId === metadata.currentSnapshotId)
        .map((snapshot) => snapshot.source),
    }));

    const outcome = await commit(staged, ports(warehouse));

    assert.equal(outcome.outcome, 'committed');
    const { metadata } = await warehouse.builder.load();
    assert.ok(metadata.snapshots.every((snapshot) => snapshot.snapshotId !== planned));
  });

  it('keeps what else has changed in the table', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    await warehouse.builder.setProperties({ owner: 'somebody' });
    await warehouse.builder.addRef('kept', 'tag');

    await commit(staged, ports(warehouse));

    const { metadata } = await warehouse.builder.load();
    assert.equal(metadata.properties['owner'], 'somebody');
    assert.equal(metadata.refs.get('kept')?.snapshotId, staged.table.metadata.currentSnapshotId);
  });

  it('drops a group whose input was deleted and commits the others', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const { filePath } = staged.groups[0]!.inputs[1]!;
    await warehouse.builder.commit({ operation: 'delete', removedPaths: [filePath] });
    const rowsBefore = await readRows(warehouse);

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(outcome.droppedGroups, [
      { groupIndex: 0, reason: 'input-gone', detail: filePath },
    ]);
    assert.deepEqual(outcome.outcome === 'committed' && outcome.committedGroups, [1]);
    assert.deepEqual(await readRows(warehouse), rowsBefore);
  });

  it('commits nothing when another compaction took every input', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    await commit(await stageByPartition(warehouse), ports(warehouse));
    const before = await warehouse.builder.load();

    const outcome = await commit(staged, ports(warehouse), 'main', 'run-2');

    assert.equal(outcome.outcome, 'all-dropped');
    assert.deepEqual(
      outcome.droppedGroups.map((drop) => drop.reason),
      ['input-gone', 'input-gone'],
    );
    assert.equal((await warehouse.builder.load()).metadataLocation, before.metadataLocation);
  });

  it('drops every group when the branch was set back before the planned snapshot', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const [first] = staged.table.metadata.snapshots;
    await warehouse.builder.edit((json) => ({
      ...json,
      'current-snapshot-id': first!.snapshotId,
      'snapshot-log': [],
      refs: { main: { type: 'branch', 'snapshot-id': first!.snapshotId } },
    }));

    const outcome = await commit(staged, ports(warehouse));

    assert.equal(outcome.outcome, 'all-dropped');
    const detail = 'head has sequence number 1, planned at 2';
    assert.deepEqual(outcome.droppedGroups, [
      { groupIndex: 0, reason: 'rolled-back', detail },
      { groupIndex: 1, reason: 'rolled-back', detail },
    ]);
  });

  it('drops a group whose input was removed and added again', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const input = firstInput(staged);
    await warehouse.builder.commit({
      operation: 'overwrite',
      removedPaths: [input.dataFile.filePath],
    });
    await warehouse.builder.commit({ operation: 'append', addedManifests: [[input]] });

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(outcome.droppedGroups, [
      {
        groupIndex: 0,
        reason: 'input-changed',
        detail: `${input.dataFile.filePath}: dataSequenceNumber was 1, is 4`,
      },
    ]);
  });

  it('drops a group whose input is referenced twice', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const input = firstInput(staged);
    await warehouse.builder.commit({ operation: 'append', addedManifests: [[input]] });

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(
      outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
      [[0, 'input-changed']],
    );
  });

  it('drops a group when a position delete of one of its inputs cannot be read', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const input = firstInput(staged);
    const { filePath } = input.dataFile;
    const deletes = deleteFileOf(input, 'position-deletes', { referencedDataFile: filePath });
    await warehouse.builder.commit({ operation: 'delete', addedManifests: [[deletes]] });

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(outcome.droppedGroups, [
      {
        groupIndex: 0,
        reason: 'unreadable-deletes',
        detail: `${filePath}: ${deletes.dataFile.filePath}: no such object`,
      },
    ]);
  });

  it('drops a group when the deletion vector of one of its inputs cannot be read', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const staged = await stageByPartition(warehouse);
    const input = firstInput(staged);
    const vector = deleteFileOf(input, 'position-deletes', {
      referencedDataFile: input.dataFile.filePath,
      fileFormat: 'PUFFIN',
      contentOffset: 4,
      contentSizeBytes: 40,
    });
    await warehouse.builder.commit({ operation: 'delete', addedManifests: [[vector]] });

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(
      outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
      [[0, 'unreadable-deletes']],
    );
  });

  it('does not mind a position delete of another file in the partition', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const [late] = await warehouse.builder.append([{ rows: [row(99n, 'eu')], partition: ['eu'] }]);
    const deletes = deleteFileOf(late!, 'position-deletes', {
      referencedDataFile: late!.dataFile.filePath,
    });
    await warehouse.builder.commit({ operation: 'delete', addedManifests: [[deletes]] });

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(outcome.droppedGroups, []);
  });

  it('drops the groups of a partition with an unreadable position delete that may name any file', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const deletes = deleteFileOf(firstInput(staged, 1), 'position-deletes', {});
    await warehouse.builder.commit({ operation: 'delete', addedManifests: [[deletes]] });

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(
      outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
      [[1, 'unreadable-deletes']],
    );
  });

  it('keeps a newer equality delete applying to the outputs', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const deletes = deleteFileOf(firstInput(staged), 'equality-deletes', {});
    await warehouse.builder.commit({ operation: 'delete', addedManifests: [[deletes]] });
    await warehouse.builder.append([{ rows: [row(99n, 'eu')], partition: ['eu'] }]);

    const outcome = await commit(staged, ports(warehouse));

    // The outputs carry 2, so the delete of 3 still applies to them, and it is still listed.
    assert.deepEqual(outcome.droppedGroups, []);
    const { metadata } = await warehouse.builder.load();
    const head = snapshotOfRef(metadata)!;
    const reader = createManifestReader(warehouse.store);
    const manifests = await reader.readList(metadata, head);
    const deleteManifests = manifests.filter((manifest) => manifest.content === 'deletes');
    assert.deepEqual(
      deleteManifests.map((manifest) => [manifest.minSequenceNumber, manifest.addedFilesCount]),
      [[3n, 1]],
    );
    assert.equal(manifests[0]?.minSequenceNumber, 2n);
  });

  it('drops a group when an equality delete of an old sequence number turns up', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const deletes = {
      ...deleteFileOf(firstInput(staged), 'equality-deletes', {}),
      dataSequenceNumber: 2n,
    };
    await warehouse.builder.commit({ operation: 'replace', addedManifests: [[deletes]] });

    const outcome = await commit(staged, ports(warehouse));

    // It applies to inputs of sequence number 1, and would not to outputs of 2.
    assert.deepEqual(
      outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
      [[0, 'new-deletes']],
    );
  });

  it('drops every group when the table got row ids after it was planned', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    await warehouse.builder.upgrade(3);
    await warehouse.builder.append([{ rows: [row(99n, 'eu')], partition: ['eu'] }]);

    const outcome = await commit(staged, ports(warehouse));

    assert.deepEqual(
      outcome.droppedGroups.map((drop) => drop.reason),
      ['input-changed', 'input-changed'],
    );
  });

  it('assigns row ids to everything in the first snapshot after an upgrade to v3', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.upgrade(3);
    const staged = await stageByPartition(warehouse);
    const partly = { ...staged, groups: staged.groups.slice(0, 1) };

    await commit(partly, ports(warehouse));

    const { metadata } = await warehouse.builder.load();
    assert.equal(metadata.nextRowId, 7n);
    assert.equal(snapshotOfRef(metadata)?.addedRows, 7n);
  });

  it('refuses a table that was replaced by another one of the same name', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const other = await createWarehouse();
    const { metadataLocation } = await other.builder.load();
    const bytes = await other.store.read(metadataLocation, 1e6);
    const text = new TextDecoder().decode(bytes).replace(/"table-uuid":"./, '"table-uuid":"f');
    const location = 's3://bucket/db/orders/metadata/00000-other.metadata.json';
    await warehouse.store.write(location, new TextEncoder().encode(text));
    warehouse.catalog.replaceTable(IDENTIFIER, location);

    await assert.rejects(
      commit(staged, ports(warehouse)),
      errorOfKind('commit-rejected', /was replaced by f/),
    );
  });

  it('refuses a branch that is gone', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.addRef('audit', 'branch');
    const staged = await stageByPartition(warehouse, 'audit');
    await warehouse.builder.edit((json, metadata) => ({
      ...json,
      refs: { main: metadata.refs.get('main')!.source },
    }));

    await assert.rejects(
      commit(staged, ports(warehouse), 'audit'),
      errorOfKind('commit-rejected', /branch audit: is gone/),
    );
  });

  it('reports a table that was dropped', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    warehouse.catalog.dropTable(IDENTIFIER);

    await assert.rejects(commit(staged, ports(warehouse)), errorOfKind('not-found'));
  });
});

describe('commitReplace when the pointer is contended', () => {
  it('tries again after a lost race, and writes only list and metadata anew', async () => {
    let conflictCount = 0;
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (conflictCount-- > 0 ? 'conflict' : undefined) },
    });
    const staged = await stageByPartition(warehouse);
    const store = countingStore(warehouse.store);
    conflictCount = 2;

    const outcome = await commit(staged, ports(warehouse, { store }));

    assert.equal(outcome.outcome, 'committed');
    assert.equal(outcome.attemptCount, 3);
    // One manifest of added files and one in place of two; a list and a metadata file for each attempt.
    assert.equal(store.requestCounts.write, 2 + 3 * 2);
    const { metadata } = await warehouse.builder.load();
    assert.match(snapshotOfRef(metadata)?.manifestList ?? '', /\/snap-\d+-3-/);
  });

  it('filters anew only the manifests that a writer has changed in between', async () => {
    const race = { isOn: false };
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (race.isOn ? 'conflict' : undefined) },
    });
    const staged = await stageByPartition(warehouse);
    const commitPorts = ports(warehouse);
    race.isOn = true;
    const sleepMs = warehouse.clock.sleepMs.bind(warehouse.clock);
    warehouse.clock.sleepMs = async (durationMs) => {
      race.isOn = false;
      const { filePath } = staged.groups[1]!.inputs[0]!;
      await warehouse.builder.commit({ operation: 'delete', removedPaths: [filePath] });
      return sleepMs(durationMs);
    };

    const outcome = await commit(staged, commitPorts);

    assert.equal(outcome.attemptCount, 2);
    assert.deepEqual(
      outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
      [[1, 'input-gone']],
    );
    assert.equal((await readRows(warehouse)).length, 6);
  });

  it('drops a group when an unreadable delete comes in a new manifest between two attempts', async () => {
    const race = { isOn: false };
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (race.isOn ? 'conflict' : undefined) },
    });
    const staged = await stageByPartition(warehouse);
    race.isOn = true;
    const sleepMs = warehouse.clock.sleepMs.bind(warehouse.clock);
    warehouse.clock.sleepMs = async (durationMs) => {
      warehouse.clock.sleepMs = sleepMs;
      race.isOn = false;
      const input = firstInput(staged, 1);
      const deletes = deleteFileOf(input, 'position-deletes', {
        referencedDataFile: input.dataFile.filePath,
      });
      await warehouse.builder.commit({ operation: 'delete', addedManifests: [[deletes]] });
      return sleepMs(durationMs);
    };

    const outcome = await commit(staged, ports(warehouse));

    // The second one is given up unsent, once the new manifest has been read.
    assert.equal(outcome.attemptCount, 3);
    assert.deepEqual(
      outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
      [[1, 'unreadable-deletes']],
    );
  });

  it('goes on beyond the four retries that Java makes, each behind a commit of the others', async () => {
    const race = { conflictCount: 0 };
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (race.conflictCount-- > 0 ? 'conflict' : undefined) },
    });
    const staged = await stageByPartition(warehouse);
    race.conflictCount = 9;

    const outcome = await commit(staged, ports(warehouse));

    assert.equal(outcome.attemptCount, 10);
  });

  it('gives up after commit.retry.num-retries', async () => {
    const race = { isOn: false };
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (race.isOn ? 'conflict' : undefined) },
    });
    await warehouse.builder.setProperties({ 'commit.retry.num-retries': '2' });
    const staged = await stageByPartition(warehouse);
    race.isOn = true;

    await assert.rejects(
      commit(staged, ports(warehouse)),
      errorOfKind('commit-conflict', /gave up after 3 attempts/),
    );
  });

  it('gives up when the deadline leaves no time for another attempt', async () => {
    const race = { isOn: false };
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (race.isOn ? 'throttled' : undefined) },
    });
    const staged = await stageByPartition(warehouse);
    race.isOn = true;
    const deadline = deadlineAfter(warehouse.clock, 10_050);

    await assert.rejects(
      commit(staged, ports(warehouse, { deadline })),
      errorOfKind('commit-conflict', /gave up after 1 attempts/),
    );
  });

  it('does not begin when the deadline is too near', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const deadline = deadlineAfter(warehouse.clock, 9000);

    await assert.rejects(
      commit(staged, ports(warehouse, { deadline })),
      errorOfKind('deadline', /commit: needs 10000 ms, 9000 ms are left/),
    );
  });
});

describe('commitReplace when the answer is lost', () => {
  for (const fault of ['lost-before', 'lost-after', 'late'] as const) {
    it(`commits exactly once when the answer is ${fault}`, async () => {
      const next: { fault: typeof fault | undefined } = { fault: undefined };
      const warehouse = await createWarehouse({
        faults: {
          onWrite: () => {
            const { fault: now } = next;
            next.fault = undefined;
            return now;
          },
        },
      });
      const staged = await stageByPartition(warehouse);
      const rowsBefore = await readRows(warehouse);
      next.fault = fault;

      const outcome = await commit(staged, ports(warehouse));
      warehouse.catalog.deliverLateWrites();

      assert.equal(outcome.outcome, 'committed');
      assert.equal(outcome.attemptCount, fault === 'lost-after' ? 1 : 2);
      const { metadata, metadataLocation } = await warehouse.builder.load();
      assert.equal(outcome.table.metadataLocation, metadataLocation);
      assert.equal(metadata.currentSnapshotId, outcome.snapshotId);
      const replaced = metadata.snapshots.filter(({ summary }) => summary.operation === 'replace');
      assert.equal(replaced.length, 1);
      assert.deepEqual(await readRows(warehouse), rowsBefore);
    });
  }

  it('leaves the state unknown when nobody can be asked', async () => {
    const state = { isLost: false };
    const warehouse = await createWarehouse({
      faults: {
        onWrite: () => (state.isLost ? 'lost-after' : undefined),
        onRead: () => (state.isLost && asked++ > 1 ? 'unavailable' : undefined),
      },
    });
    let asked = 0;
    const staged = await stageByPartition(warehouse);
    state.isLost = true;

    await assert.rejects(
      commit(staged, ports(warehouse)),
      errorOfKind('commit-state-unknown', /it is unknown whether it was applied/),
    );
  });
});

describe('commitReplace when the store is not true', () => {
  const cases = [
    ['an added or filtered manifest', /-m\d+\.avro$/, 'invalid-data'],
    ['a manifest list', /\/snap-[^/]*\.avro$/, 'invalid-data'],
    ['the metadata file', /\.metadata\.json$/, 'invalid-data'],
  ] as const;
  for (const [what, matches, kind] of cases) {
    it(`refuses to commit when ${what} does not read back`, async () => {
      const warehouse = await createWarehouse();
      const staged = await stageByPartition(warehouse);
      const store = corruptingStore(warehouse.store, matches, flipLastByte);

      await assert.rejects(commit(staged, ports(warehouse, { store })), errorOfKind(kind));
      const { metadataLocation } = await warehouse.builder.load();
      assert.equal(metadataLocation, staged.table.metadataLocation);
    });
  }

  it('refuses to commit an output whose pages are damaged', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    const output = staged.groups[0]!.outputs[0]!.dataFile;
    const bytes = await warehouse.store.read(output.filePath, 1e6);
    bytes[4]! ^= 0xff;
    await warehouse.store.write(output.filePath, bytes);

    await assert.rejects(
      commit(staged, ports(warehouse)),
      errorOfKind('invariant', /^I4 outputs-complete/),
    );
  });

  it('refuses to commit an output that is not there', async () => {
    const warehouse = await createWarehouse();
    const staged = await stageByPartition(warehouse);
    await warehouse.store.delete([staged.groups[0]!.outputs[0]!.dataFile.filePath]);

    await assert.rejects(
      commit(staged, ports(warehouse)),
      errorOfKind('invariant', /^I4 outputs-complete/),
    );
  });
});
