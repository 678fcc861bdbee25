import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PositionMap } from '../../shared/datafile/index.ts';
import {
  createSchema,
  isDeletionVector,
  type ManifestEntry,
  snapshotOfRef,
} from '../../shared/iceberg/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { countingStore } from '../../shared/storage/index.ts';
import { type CommitOutcome, createManifestReader } from '../../shared/table/index.ts';
import {
  createTenRowFiles,
  deleteByEquality,
  deleteByPosition,
  deleteByVector,
  deleteRows,
  liveDeletes,
  readAllSnapshots,
  readHead,
  scanFiles,
  stageRewrites,
  tenRows,
  writeVectors,
} from './deletes-fixture.ts';
import {
  commit,
  FIELDS,
  ports,
  ROW_ID,
  row,
  SEQUENCE_NUMBER,
  type Staged,
  type Warehouse,
} from './replace-fixture.ts';

type Committed = Extract<CommitOutcome, { outcome: 'committed' }>;

/** Commits, and checks that no snapshot's rows have changed and that the new one has those of its parent. */
async function commitUnchanged(warehouse: Warehouse, staged: Staged): Promise<Committed> {
  const before = await readAllSnapshots(warehouse);
  const headBefore = await readHead(warehouse);

  const outcome = await commit(staged, ports(warehouse));

  const after = await readAllSnapshots(warehouse);
  assert.ok(outcome.outcome === 'committed');
  for (const [snapshotId, rows] of before) assert.deepEqual(after.get(snapshotId), rows);
  const headAfter = await readHead(warehouse);
  // Rows that had no ids get some.
  const hadIds = !headBefore[0]?.startsWith('null|');
  assert.deepEqual(
    hadIds ? headAfter : withoutIds(headAfter),
    hadIds ? headBefore : withoutIds(headBefore),
  );
  return outcome;
}

function withoutIds(rows: readonly string[]): readonly string[] {
  return rows.map((text) => text.split('|').slice(2).join('|')).sort();
}

/** Rows carried over, delete files added and removed. */
function countsOf({ deletes }: Committed): readonly number[] {
  return [deletes.carriedOverCount, deletes.addedCount, deletes.removedCount];
}

function summaryOf({
  table: { metadata },
  snapshotId,
}: Committed): Readonly<Record<string, string>> {
  return metadata.snapshots.find((snapshot) => snapshot.snapshotId === snapshotId)!.summary;
}

/** Every entry of the head's delete manifests, deleted ones too. */
async function deleteEntries({ builder, store }: Warehouse): Promise<readonly ManifestEntry[]> {
  const { metadata } = await builder.load();
  const reader = createManifestReader(store);
  const manifests = await reader.readList(metadata, snapshotOfRef(metadata)!);
  const entries: ManifestEntry[] = [];
  for (const manifest of manifests.filter(({ content }) => content === 'deletes')) {
    entries.push(...(await reader.readEntries(metadata, manifest, { skipsMetrics: false })));
  }
  return entries;
}

function paths(entries: readonly { readonly dataFile: { readonly filePath: string } }[]): string[] {
  return entries.map(({ dataFile }) => dataFile.filePath).sort();
}

/** Lets others do something between the first attempt, which is lost, and the next one. */
async function contended(formatVersion: 2 | 3): Promise<{
  readonly warehouse: Awaited<ReturnType<typeof createTenRowFiles>>;
  readonly race: (steps: readonly (() => Promise<unknown>)[]) => void;
}> {
  const state = { isOn: false };
  const warehouse = await createTenRowFiles({
    formatVersion,
    faults: { onWrite: () => (state.isOn ? 'conflict' : undefined) },
  });
  const sleepMs = warehouse.clock.sleepMs.bind(warehouse.clock);
  return {
    warehouse,
    race: (steps) => {
      const left = [...steps];
      state.isOn = true;
      warehouse.clock.sleepMs = async (durationMs) => {
        const step = durationMs > 0 ? left.shift() : undefined;
        state.isOn = false;
        await step?.();
        state.isOn = left.length > 0;
        return sleepMs(durationMs);
      };
    },
  };
}

for (const formatVersion of [2, 3] as const) {
  describe(`deletes of inputs, in v${formatVersion}`, () => {
    it('leaves purged rows out, and drops their deletes in the same snapshot', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0, us100 } = warehouse.files;
      const first = await deleteRows(warehouse, eu0!, [0, 4]);
      const second = await deleteRows(warehouse, us100!, [9]);
      const staged = await stageRewrites(warehouse, { treatment: 'purge' });

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(countsOf(outcome), [0, 0, 2]);
      assert.deepEqual(await liveDeletes(warehouse), []);
      const entries = await deleteEntries(warehouse);
      assert.deepEqual(paths(entries), paths([first, second]));
      assert.ok(entries.every(({ status }) => status === 'deleted'));
      const summary = summaryOf(outcome);
      assert.equal(summary['added-records'], '47');
      assert.equal(summary['deleted-records'], '50');
      assert.equal(summary['removed-delete-files'], '2');
      assert.equal(summary['removed-position-deletes'], '3');
      const kind = formatVersion === 3 ? 'removed-dvs' : 'removed-position-delete-files';
      assert.equal(summary[kind], '2');
    });

    it('carries deletes along with rows that stay, in one delete file for each output', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0, eu10 } = warehouse.files;
      await deleteRows(warehouse, eu0!, [0, 4]);
      await deleteRows(warehouse, eu10!, [3]);
      const staged = await stageRewrites(warehouse);

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(countsOf(outcome), [0, 1, 2]);
      const [added] = await liveDeletes(warehouse);
      const { files } = await scanFiles(warehouse, outcome.table);
      assert.equal(added?.dataFile.recordCount, 3);
      assert.equal(added?.dataFile.referencedDataFile, files[0]?.entry.dataFile.filePath);
      assert.equal(isDeletionVector(added!.dataFile), formatVersion === 3);
      assert.equal(added?.dataSequenceNumber, 5n);
      assert.equal(added?.fileSequenceNumber, 5n);
      const summary = summaryOf(outcome);
      assert.equal(summary['added-delete-files'], '1');
      assert.equal(summary['added-position-deletes'], '3');
      const kind = formatVersion === 3 ? 'added-dvs' : 'added-position-delete-files';
      assert.equal(summary[kind], '1');
    });

    for (const treatment of ['purge', 'carry'] as const) {
      it(`takes over what was deleted since the files were read (${treatment})`, async () => {
        const warehouse = await createTenRowFiles({ formatVersion });
        const { eu0, eu10, eu20, us110 } = warehouse.files;
        await deleteRows(warehouse, eu0!, [0, 4]);
        const staged = await stageRewrites(warehouse, { treatment });
        // One that is larger than the one applied, and two new ones.
        await deleteRows(warehouse, eu0!, formatVersion === 3 ? [0, 4, 7, 9] : [7, 9]);
        await deleteRows(warehouse, eu20!, [5]);
        await deleteRows(warehouse, us110!, [0, 1, 2]);
        await warehouse.builder.append([{ rows: tenRows(30, 'eu'), partition: ['eu'] }]);

        const outcome = await commitUnchanged(warehouse, staged);

        assert.equal(outcome.deletes.carriedOverCount, 6);
        assert.equal(outcome.deletes.addedCount, 2);
        assert.equal((await readHead(warehouse)).length, 60 - 8);
        assert.equal(eu10 !== undefined, true);
      });
    }

    it('takes over deletes that come between attempts, and makes anew only what has grown', async () => {
      const { warehouse, race } = await contended(formatVersion);
      const { eu0, us100 } = warehouse.files;
      const staged = await stageRewrites(warehouse);
      await deleteRows(warehouse, us100!, [1]);
      race([
        () => deleteRows(warehouse, eu0!, [2]),
        () => deleteRows(warehouse, eu0!, formatVersion === 3 ? [2, 3] : [3]),
        () => deleteRows(warehouse, eu0!, formatVersion === 3 ? [2, 3, 8] : [8]),
      ]);

      const outcome = await commit(staged, ports(warehouse));

      assert.ok(outcome.outcome === 'committed');
      assert.deepEqual(outcome.deletes.carriedOverCount, 4);
      assert.equal((await readHead(warehouse)).length, 46);
      const made = await madeDeletes(warehouse);
      // For `us` once; for `eu` twice, since the last two commits came before one and the same attempt.
      assert.equal(made.length, 3);
      const live = paths(await liveDeletes(warehouse));
      assert.deepEqual(
        (await tombstonesOf(warehouse)).filter((location) => location.includes('-deletes-')),
        made.filter((location) => !live.includes(location)),
      );
    });

    it('drops a group whose rows are live again, and commits the others', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0, us100 } = warehouse.files;
      const deleted = await deleteRows(warehouse, eu0!, [0, 4]);
      await deleteRows(warehouse, us100!, [1]);
      const staged = await stageRewrites(warehouse, { treatment: 'purge' });
      const { filePath } = deleted.dataFile;
      await warehouse.builder.commit({ operation: 'overwrite', removedPaths: [filePath] });

      const outcome = await commitUnchanged(warehouse, staged);

      const detail = `${eu0!.dataFile.filePath}: 2 deleted rows are live again`;
      assert.deepEqual(outcome.droppedGroups, [{ groupIndex: 0, reason: 'fewer-deletes', detail }]);
      assert.deepEqual(outcome.committedGroups, [1]);
    });

    it('finds the same deletes written anew as good as those that were read', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0 } = warehouse.files;
      const deleted = await deleteRows(warehouse, eu0!, [0, 4]);
      const staged = await stageRewrites(warehouse, { treatment: 'purge' });
      const { filePath } = deleted.dataFile;
      await warehouse.builder.commit({ operation: 'overwrite', removedPaths: [filePath] });
      await deleteRows(warehouse, eu0!, [0, 4]);

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(outcome.droppedGroups, []);
      assert.deepEqual(countsOf(outcome), [0, 0, 1]);
    });

    it('removes a file of which every row is deleted without putting one in its place', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { us100, us110 } = warehouse.files;
      await deleteRows(warehouse, us100!, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      await deleteRows(warehouse, us110!, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      const staged = await stageRewrites(warehouse, { treatment: 'purge', partitions: ['us'] });

      const outcome = await commitUnchanged(warehouse, staged);

      assert.equal(staged.groups[0]?.outputs.length, 0);
      assert.equal(summaryOf(outcome)['total-data-files'], '3');
      assert.deepEqual(await liveDeletes(warehouse), []);
    });

    it('purges what equality deletes match, and takes over later deletes by position', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0, eu10 } = warehouse.files;
      await deleteByEquality(warehouse, eu0!, [3, 15, 25]);
      const staged = await stageRewrites(warehouse, { treatment: 'purge', partitions: ['eu'] });
      await deleteRows(warehouse, eu10!, [5, 6]);

      const outcome = await commitUnchanged(warehouse, staged);

      // Row 15 is deleted once more; it is gone already.
      assert.equal(outcome.deletes.carriedOverCount, 1);
      assert.equal((await readHead(warehouse)).length, 50 - 4);
    });

    it('carries rows along that equality deletes match', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      await deleteByEquality(warehouse, warehouse.files['eu0']!, [3, 15, 25]);
      const staged = await stageRewrites(warehouse);

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(countsOf(outcome), [0, 1, 1]);
      const [added] = await liveDeletes(warehouse);
      assert.equal(added?.dataFile.recordCount, 3);
    });

    it('lets equality deletes that came since apply to the outputs', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0 } = warehouse.files;
      const staged = await stageRewrites(warehouse);
      await deleteByEquality(warehouse, eu0!, [3, 15]);
      await warehouse.builder.append([{ rows: [row(3n, 'eu')], partition: ['eu'] }]);

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(countsOf(outcome), [0, 0, 0]);
      assert.equal((await readHead(warehouse)).length, 49);
    });

    it('drops a group that an equality delete of an old sequence number applies to', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0 } = warehouse.files;
      const staged = await stageRewrites(warehouse);
      const deletes = await deleteByEquality(warehouse, eu0!, [3]);
      const { filePath } = deletes.dataFile;
      await warehouse.builder.commit({
        operation: 'replace',
        removedPaths: [filePath],
        addedManifests: [[{ ...deletes, dataSequenceNumber: 2n }]],
      });

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(
        outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
        [[0, 'new-deletes']],
      );
    });

    it('goes on when others have turned equality deletes into deletes by position', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0 } = warehouse.files;
      const deletes = await deleteByEquality(warehouse, eu0!, [3, 4]);
      const staged = await stageRewrites(warehouse, { treatment: 'purge' });
      await deleteRows(warehouse, eu0!, [3, 4, 5]);
      const removedPaths = [deletes.dataFile.filePath];
      await warehouse.builder.commit({ operation: 'replace', removedPaths });

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(outcome.droppedGroups, []);
      assert.equal(outcome.deletes.carriedOverCount, 1);
    });

    it('drops a group when an equality delete is gone that nothing has taken the place of', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const deletes = await deleteByEquality(warehouse, warehouse.files['eu0']!, [3, 4]);
      const staged = await stageRewrites(warehouse, { treatment: 'purge' });
      const removedPaths = [deletes.dataFile.filePath];
      await warehouse.builder.commit({ operation: 'overwrite', removedPaths });

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(
        outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
        [[0, 'fewer-deletes']],
      );
    });

    it('translates deletes to outputs whose rows stand in another order', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { us100, us110 } = warehouse.files;
      await deleteRows(warehouse, us100!, [1]);
      const staged = await permuted(warehouse);
      await deleteRows(warehouse, us100!, formatVersion === 3 ? [1, 2, 9] : [2, 9]);
      await deleteRows(warehouse, us110!, [0]);

      const outcome = await commitUnchanged(warehouse, staged);

      assert.equal(outcome.deletes.carriedOverCount, 3);
      const [added] = await liveDeletes(warehouse);
      assert.equal(added?.dataFile.recordCount, 4);
    });

    it('drops only the group whose new deletes cannot be read', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0, us100 } = warehouse.files;
      const staged = await stageRewrites(warehouse);
      const broken = await deleteRows(warehouse, eu0!, [2]);
      await deleteRows(warehouse, us100!, [2]);
      const { filePath } = broken.dataFile;
      const bytes = await warehouse.store.read(filePath, 1e6);
      bytes[20]! ^= 0xff;
      await warehouse.store.write(filePath, bytes);

      const outcome = await commit(staged, ports(warehouse));

      assert.ok(outcome.outcome === 'committed');
      assert.deepEqual(
        outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
        [[0, 'unreadable-deletes']],
      );
      assert.match(outcome.droppedGroups[0]!.detail, new RegExp(filePath));
      assert.equal(outcome.deletes.carriedOverCount, 1);
    });

    it('reads nothing more than before where the table has no deletes', async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const staged = await stageRewrites(warehouse);
      const store = countingStore(warehouse.store);

      const outcome = await commit(staged, ports(warehouse, { store }));

      assert.ok(outcome.outcome === 'committed');
      // Outputs: HEAD and one read each. Metadata is known; list and two manifests of the head; four read back.
      assert.deepEqual(
        [store.requestCounts.head, store.requestCounts.readRange, store.requestCounts.read],
        [2, 2, 3 + 4],
      );
      assert.equal(store.requestCounts.write, 4);
    });
  });
}

describe('delete files of a partition', () => {
  it('drops a position delete file of many data files once nothing live needs it', async () => {
    const warehouse = await createTenRowFiles();
    const { eu0, eu10, us100 } = warehouse.files;
    const wide = await deleteByPosition(warehouse, [
      [eu0!, 1],
      [eu10!, 2],
    ]);
    await deleteByPosition(warehouse, [[us100!, 3]]);
    const staged = await stageRewrites(warehouse, { treatment: 'purge', partitions: ['eu'] });
    await warehouse.builder.append([{ rows: tenRows(30, 'eu'), partition: ['eu'] }]);

    const outcome = await commitUnchanged(warehouse, staged);

    // Outputs carry 4, the number of their plan, beyond the 3 of the delete file.
    assert.equal(outcome.deletes.removedCount, 1);
    assert.ok(!paths(await liveDeletes(warehouse)).includes(wide.dataFile.filePath));
    assert.equal((await liveDeletes(warehouse)).length, 1);
  });

  it('keeps it while another data file of the partition is as old', async () => {
    const warehouse = await createTenRowFiles();
    const { eu0, eu10, eu20 } = warehouse.files;
    const wide = await deleteByPosition(warehouse, [
      [eu0!, 1],
      [eu10!, 2],
    ]);
    const chosen = [eu0!.dataFile.filePath, eu20!.dataFile.filePath];
    const staged = await stageRewrites(warehouse, { treatment: 'purge', paths: chosen });

    const outcome = await commitUnchanged(warehouse, staged);

    assert.equal(outcome.deletes.removedCount, 0);
    assert.deepEqual(paths(await liveDeletes(warehouse)), [wide.dataFile.filePath]);
  });

  it('keeps it while another data file of the partition has the same sequence number', async () => {
    const warehouse = await createTenRowFiles();
    const { eu0, eu10, eu20 } = warehouse.files;
    const wide = await deleteByPosition(warehouse, [
      [eu0!, 1],
      [eu20!, 2],
    ]);
    await warehouse.builder.commit({
      operation: 'replace',
      removedPaths: [wide.dataFile.filePath],
      addedManifests: [[{ ...wide, dataSequenceNumber: 2n }]],
    });
    const chosen = [eu0!.dataFile.filePath, eu10!.dataFile.filePath];
    const staged = await stageRewrites(warehouse, { treatment: 'purge', paths: chosen });

    const outcome = await commitUnchanged(warehouse, staged);

    assert.equal(outcome.deletes.removedCount, 0);
  });

  it('takes over what a new one of many data files deletes of the inputs, and leaves it to the others', async () => {
    const warehouse = await createTenRowFiles();
    const { eu0, eu10, eu20 } = warehouse.files;
    const chosen = [eu0!.dataFile.filePath, eu20!.dataFile.filePath];
    const staged = await stageRewrites(warehouse, { paths: chosen });
    const wide = await deleteByPosition(warehouse, [
      [eu0!, 1],
      [eu10!, 2],
      [eu10!, 3],
      [eu20!, 4],
    ]);

    const outcome = await commitUnchanged(warehouse, staged);

    assert.deepEqual(countsOf(outcome), [2, 1, 0]);
    assert.ok(paths(await liveDeletes(warehouse)).includes(wide.dataFile.filePath));
  });

  it('keeps other vectors of a Puffin file that loses one', async () => {
    const warehouse = await createTenRowFiles({ formatVersion: 3 });
    const { eu0, us100 } = warehouse.files;
    const vectors = await writeVectors(warehouse, [
      [eu0!, [1, 2]],
      [us100!, [3]],
    ]);
    await warehouse.builder.commit({
      operation: 'delete',
      addedManifests: [vectors],
    });
    const staged = await stageRewrites(warehouse, { treatment: 'purge', partitions: ['eu'] });

    await commitUnchanged(warehouse, staged);

    const entries = await deleteEntries(warehouse);
    assert.deepEqual(
      entries.map(({ status, dataFile }) => [status, dataFile.referencedDataFile]).sort(),
      [
        ['deleted', eu0!.dataFile.filePath],
        ['existing', us100!.dataFile.filePath],
      ],
    );
    assert.equal(new Set(paths(entries)).size, 1);
  });

  for (const formatVersion of [2, 3] as const) {
    it(`keeps an equality delete that added files are too old for, in v${formatVersion}`, async () => {
      // apache/iceberg#10962: nothing that was live before is older than the append after the delete.
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0 } = warehouse.files;
      const staged = await stageRewrites(warehouse);
      const deletes = await deleteByEquality(warehouse, eu0!, [3, 15]);
      await warehouse.builder.append([{ rows: tenRows(30, 'eu'), partition: ['eu'] }]);

      await commitUnchanged(warehouse, staged);

      const { files } = await scanFiles(warehouse, await warehouse.builder.load());
      const numbers = files.map(({ entry }) => entry.dataSequenceNumber);
      assert.deepEqual(numbers, [2n, 4n, 2n]);
      assert.deepEqual(paths(await liveDeletes(warehouse)), [deletes.dataFile.filePath]);
      assert.ok(!(await readHead(warehouse)).some((text) => /(^|\|)15\|/.test(text)));
    });

    it(`judges a global equality delete by all data files, in v${formatVersion}`, async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const specId = await warehouse.builder.evolveSpec([]);
      const global = { specId, dataFile: { ...warehouse.files['eu0']!.dataFile, partition: [] } };
      const deletes = await deleteByEquality(warehouse, global, [3, 105]);
      const ofEu = await stageRewrites(warehouse, { treatment: 'purge', partitions: ['eu'] });

      const first = await commitUnchanged(warehouse, ofEu);

      assert.equal(first.deletes.removedCount, 0);
      assert.deepEqual(paths(await liveDeletes(warehouse)), [deletes.dataFile.filePath]);

      const ofUs = await stageRewrites(warehouse, { treatment: 'purge', partitions: ['us'] });
      const before = await readHead(warehouse);

      const second = await commit(ofUs, ports(warehouse), 'main', 'run-2');

      assert.ok(second.outcome === 'committed');
      assert.equal(second.deletes.removedCount, 1);
      assert.deepEqual(await liveDeletes(warehouse), []);
      assert.deepEqual(await readHead(warehouse), before);
    });

    it(`lets a global equality delete of a new spec apply to outputs of the old one, in v${formatVersion}`, async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const staged = await stageRewrites(warehouse);
      const specId = await warehouse.builder.evolveSpec([]);
      const global = { specId, dataFile: { ...warehouse.files['eu0']!.dataFile, partition: [] } };
      await deleteByEquality(warehouse, global, [3, 105]);
      await deleteRows(warehouse, warehouse.files['eu10']!, [4]);

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(countsOf(outcome), [1, 1, 1]);
      assert.equal((await readHead(warehouse)).length, 47);
    });
  }

  it('looks again when a data file with an old sequence number comes while it commits', async () => {
    const { warehouse, race } = await contended(2);
    const { eu0, eu10, eu20 } = warehouse.files;
    const deletes = await deleteByEquality(warehouse, eu0!, [3, 15, 25]);
    const staged = await stageRewrites(warehouse, { treatment: 'purge', partitions: ['eu'] });
    assert.equal(staged.groups[0]?.inputs.length, 3);
    const late = await warehouse.builder.writeDataFile({
      rows: tenRows(20, 'eu'),
      partition: ['eu'],
    });
    race([
      () =>
        warehouse.builder.commit({
          operation: 'replace',
          addedManifests: [[{ ...late, dataSequenceNumber: 2n }]],
        }),
    ]);

    const outcome = await commit(staged, ports(warehouse));

    assert.ok(outcome.outcome === 'committed');
    // The delete of 3 still applies to the file of 2, so it must stay.
    assert.equal(outcome.deletes.removedCount, 0);
    assert.deepEqual(paths(await liveDeletes(warehouse)), [deletes.dataFile.filePath]);
    assert.equal((await readHead(warehouse)).length, 30 - 3 + 10 - 1 + 20);
    assert.ok(eu10 !== undefined && eu20 !== undefined);
  });
});

describe('a table that is upgraded from v2 to v3', () => {
  it('gets vectors that hold what position delete files have deleted', async () => {
    const warehouse = await createTenRowFiles();
    const { eu0, us100, us110 } = warehouse.files;
    await deleteByPosition(warehouse, [[eu0!, 0]]);
    const staged = await stageRewrites(warehouse);
    await deleteByPosition(warehouse, [
      [us100!, 1],
      [us110!, 2],
    ]);
    await deleteByPosition(warehouse, [[eu0!, 5]]);
    await warehouse.builder.upgrade(3);

    const outcome = await commitUnchanged(warehouse, staged);

    assert.deepEqual(outcome.droppedGroups, []);
    const live = await liveDeletes(warehouse);
    const vectors = live.filter(({ dataFile }) => isDeletionVector(dataFile));
    assert.deepEqual(
      vectors.map(({ dataFile }) => [dataFile.partition, dataFile.recordCount]),
      [
        [['eu'], 2],
        [['us'], 2],
      ],
    );
  });

  it('finds a vector as good as the position delete files that it took in', async () => {
    const warehouse = await createTenRowFiles();
    const { eu0 } = warehouse.files;
    await deleteByPosition(warehouse, [[eu0!, 0]]);
    await warehouse.builder.upgrade(3);
    await warehouse.builder.append([{ rows: tenRows(30, 'eu'), partition: ['eu'] }]);
    const staged = await stageRewrites(warehouse);
    await deleteByVector(warehouse, eu0!, [0, 7]);

    const outcome = await commitUnchanged(warehouse, staged);

    assert.deepEqual(outcome.droppedGroups, []);
    assert.equal(outcome.deletes.carriedOverCount, 1);
  });

  it('drops a group whose new vector has forgotten a position delete file', async () => {
    const warehouse = await createTenRowFiles();
    const { eu0 } = warehouse.files;
    await deleteByPosition(warehouse, [[eu0!, 0]]);
    await warehouse.builder.upgrade(3);
    await warehouse.builder.append([{ rows: tenRows(30, 'eu'), partition: ['eu'] }]);
    const staged = await stageRewrites(warehouse);
    await deleteByVector(warehouse, eu0!, [7]);

    const outcome = await commitUnchanged(warehouse, staged);

    assert.deepEqual(
      outcome.droppedGroups.map((drop) => [drop.groupIndex, drop.reason]),
      [[0, 'fewer-deletes']],
    );
  });
});

/** One output of both files in `us`, the rows in descending order. */
async function permuted(warehouse: Warehouse): Promise<Staged> {
  const staged = await stageRewrites(warehouse, { partitions: ['us'] });
  const group = staged.groups[0]!;
  const { deletedPositions } = group.outputs[0]!;
  const rows = group.inputs.flatMap(({ firstRowId, dataSequenceNumber }, index) =>
    tenRows(100 + 10 * index, 'us').map((each, position) => ({
      ...each,
      [ROW_ID.fieldId]: firstRowId === undefined ? null : firstRowId + BigInt(position),
      [SEQUENCE_NUMBER.fieldId]: dataSequenceNumber,
    })),
  );
  const fields = group.inputRowIds === undefined ? FIELDS : [...FIELDS, ROW_ID, SEQUENCE_NUMBER];
  const { dataFile } = await warehouse.builder.writeDataFile({
    rows: rows.reverse(),
    partition: ['us'],
    schema: createSchema(0, fields),
  });
  const descending = (last: number) => Uint32Array.from({ length: 10 }, (_, index) => last - index);
  const output = {
    dataFile,
    deletedPositions: deletedPositions.mapPositions((position) => 19 - position),
  };
  const positionMap = PositionMap.of({
    inputs: group.inputs.map(() => ({ rowCount: 10, gone: RoaringBitmap.EMPTY })),
    outputRowCounts: [20],
    rows: { kind: 'permutation', places: [descending(19), descending(9)] },
  });
  return { ...staged, groups: [{ ...group, outputs: [output], positionMap }] };
}

async function tombstonesOf({ ledger }: Warehouse): Promise<readonly string[]> {
  const locations: string[] = [];
  for await (const { location } of ledger.tombstones.list('db.orders')) locations.push(location);
  return locations.sort();
}

/** Delete files that commits have made. */
async function madeDeletes({ store }: Warehouse): Promise<readonly string[]> {
  const locations: string[] = [];
  for await (const { location } of store.list('s3://bucket/db/orders/')) {
    if (location.includes('-deletes-')) locations.push(location);
  }
  return locations.sort();
}
