import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeletionVector } from '../../shared/iceberg/index.ts';
import { type CommitOutcome, commitRewriteDeletes } from '../../shared/table/index.ts';
import {
  createTenRowFiles,
  deleteByEquality,
  deleteByPosition,
  deleteByVector,
  deleteRows,
  liveDeletes,
  readAllSnapshots,
  readHead,
  type StagedDeletes,
  scanFiles,
  stageFolds,
  stageRewrites,
  tenRows,
} from './deletes-fixture.ts';
import { asRun, commit, ports, type Warehouse } from './replace-fixture.ts';

type Committed = Extract<CommitOutcome, { outcome: 'committed' }>;

function commitDeletes(warehouse: Warehouse, staged: StagedDeletes): Promise<CommitOutcome> {
  return asRun(
    ports(warehouse),
    (commitPorts) => commitRewriteDeletes({ ...staged, branch: 'main' }, commitPorts),
    'run-d',
  );
}

/** Commits, and checks that the rows of no snapshot have changed. */
async function commitUnchanged(warehouse: Warehouse, staged: StagedDeletes): Promise<Committed> {
  const before = await readAllSnapshots(warehouse);
  const headBefore = await readHead(warehouse);
  const filesBefore = await dataPaths(warehouse);

  const outcome = await commitDeletes(warehouse, staged);

  const after = await readAllSnapshots(warehouse);
  assert.ok(outcome.outcome === 'committed');
  for (const [snapshotId, rows] of before) assert.deepEqual(after.get(snapshotId), rows);
  assert.deepEqual(await readHead(warehouse), headBefore);
  assert.deepEqual(await dataPaths(warehouse), filesBefore);
  return outcome;
}

async function dataPaths(warehouse: Warehouse): Promise<readonly string[]> {
  const { files } = await scanFiles(warehouse, await warehouse.builder.load());
  return files.map(({ entry }) => entry.dataFile.filePath);
}

/** Partition, kind, rows and sequence number of each live delete file. */
async function describeDeletes(warehouse: Warehouse): Promise<readonly string[]> {
  return (await liveDeletes(warehouse))
    .map(({ dataFile, dataSequenceNumber }) => {
      const kind = isDeletionVector(dataFile) ? 'vector' : dataFile.content;
      return `${dataFile.partition} ${kind} ${dataFile.recordCount} ${dataSequenceNumber}`;
    })
    .sort();
}

function drops({ droppedGroups }: CommitOutcome): readonly (readonly [number, string])[] {
  return droppedGroups.map(({ groupIndex, reason }) => [groupIndex, reason]);
}

/** A table of v3 with position delete files from before, one of two data files, and a vector. */
async function upgradedTable() {
  const warehouse = await createTenRowFiles();
  const { eu0, eu10 } = warehouse.files;
  await deleteByPosition(warehouse, [
    [eu0!, 1],
    [eu10!, 2],
  ]);
  await deleteByPosition(warehouse, [[eu0!, 5]]);
  await warehouse.builder.upgrade(3);
  await warehouse.builder.append([{ rows: tenRows(30, 'eu'), partition: ['eu'] }]);
  await deleteByVector(warehouse, eu10!, [2, 7]);
  return warehouse;
}

describe('commitRewriteDeletes', () => {
  it('folds position delete files and vectors into one vector for each data file', async () => {
    const warehouse = await upgradedTable();
    const staged = await stageFolds(warehouse);

    const outcome = await commitUnchanged(warehouse, staged);

    assert.deepEqual(await describeDeletes(warehouse), ['eu vector 2 4', 'eu vector 2 6']);
    const { summary } = outcome.table.metadata.snapshots.at(-1)!;
    assert.equal(summary['operation'], 'replace');
    assert.equal(summary['added-dvs'], '2');
    assert.equal(summary['removed-dvs'], '1');
    assert.equal(summary['removed-position-delete-files'], '2');
    assert.equal(summary['added-data-files'], undefined);
  });

  it('drops a group whose wide delete file is left for a data file that it did not read', async () => {
    const warehouse = await upgradedTable();
    const staged = await stageFolds(warehouse, { isSplit: true });
    // Of the two data files that the wide delete file names, the second one is not covered any more.
    const partly = { ...staged, groups: staged.groups.slice(0, 1) };
    const before = (await warehouse.builder.load()).metadataLocation;

    const outcome = await commitDeletes(warehouse, partly);

    assert.deepEqual(outcome.outcome, 'all-dropped');
    assert.deepEqual(drops(outcome), [[0, 'deletes-needed']]);
    assert.equal((await warehouse.builder.load()).metadataLocation, before);
  });

  for (const formatVersion of [2, 3] as const) {
    it(`turns equality deletes into deletes by position, in v${formatVersion}`, async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0, eu10 } = warehouse.files;
      await deleteRows(warehouse, eu0!, [3, 4]);
      await deleteByEquality(warehouse, eu0!, [4, 5, 15, 99]);
      await deleteByEquality(warehouse, eu10!, [16]);
      const staged = await stageFolds(warehouse, { convertsEquality: true });

      const outcome = await commitUnchanged(warehouse, staged);

      const kind = formatVersion === 3 ? 'vector' : 'position-deletes';
      assert.deepEqual(await describeDeletes(warehouse), [`eu ${kind} 2 5`, `eu ${kind} 3 5`]);
      assert.equal(outcome.deletes.removedCount, 3);
    });

    it(`leaves equality deletes that came since, in v${formatVersion}`, async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0 } = warehouse.files;
      await deleteByEquality(warehouse, eu0!, [4]);
      const staged = await stageFolds(warehouse, { convertsEquality: true });
      await deleteByEquality(warehouse, eu0!, [5]);

      await commitUnchanged(warehouse, staged);

      const kind = formatVersion === 3 ? 'vector' : 'position-deletes';
      assert.deepEqual(await describeDeletes(warehouse), [
        'eu equality-deletes 1 4',
        `eu ${kind} 1 3`,
      ]);
    });

    it(`keeps an equality delete when older data has come since, in v${formatVersion}`, async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0 } = warehouse.files;
      await deleteByEquality(warehouse, eu0!, [4]);
      const staged = await stageFolds(warehouse, { convertsEquality: true });
      const late = await warehouse.builder.writeDataFile({
        rows: tenRows(0, 'eu'),
        partition: ['eu'],
      });
      await warehouse.builder.commit({
        operation: 'replace',
        addedManifests: [[{ ...late, dataSequenceNumber: 2n }]],
      });

      const outcome = await commitDeletes(warehouse, staged);

      assert.deepEqual(drops(outcome), [[0, 'deletes-needed']]);
    });

    it(`drops a group whose data file was compacted meanwhile, in v${formatVersion}`, async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0, us100 } = warehouse.files;
      await deleteRows(warehouse, eu0!, [3, 4]);
      await deleteRows(warehouse, us100!, [3]);
      const staged = await stageFolds(warehouse);
      await commit(await stageRewrites(warehouse, { partitions: ['eu'] }), ports(warehouse));

      const outcome = await commitUnchanged(warehouse, staged);

      assert.deepEqual(drops(outcome), [[0, 'input-gone']]);
      assert.deepEqual(outcome.committedGroups, [1]);
    });

    it(`removes deletes that nothing needs, in v${formatVersion}`, async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const { eu0, us100, us110 } = warehouse.files;
      const named = await deleteRows(warehouse, us100!, [1]);
      const equality = await deleteByEquality(warehouse, us110!, [110]);
      await deleteRows(warehouse, eu0!, [2]);
      await warehouse.builder.commit({
        operation: 'delete',
        removedPaths: [us100!.dataFile.filePath, us110!.dataFile.filePath],
      });
      const table = await warehouse.builder.load();
      const { deletes } = await scanFiles(warehouse, table);
      const dangling = [named, equality].map(({ dataFile }) => dataFile.filePath);
      const removedDeletes = deletes.filter(({ dataFile }) => dangling.includes(dataFile.filePath));
      const groups = [{ groupIndex: 0, dataFiles: [], removedDeletes }];

      const outcome = await commitUnchanged(warehouse, {
        ...{ table, groups },
        startingSequenceNumber: 6n,
      });

      assert.equal(outcome.deletes.removedCount, 2);
      assert.equal((await liveDeletes(warehouse)).length, 1);
    });

    it(`removes nothing that only seems to dangle, in v${formatVersion}`, async () => {
      const warehouse = await createTenRowFiles({ formatVersion });
      const specId = await warehouse.builder.evolveSpec([]);
      const global = { specId, dataFile: { ...warehouse.files['eu0']!.dataFile, partition: [] } };
      await deleteByEquality(warehouse, global, [4]);
      await deleteRows(warehouse, warehouse.files['us100']!, [2]);
      const table = await warehouse.builder.load();
      const { deletes } = await scanFiles(warehouse, table);
      const groups = deletes.map((entry, groupIndex) => ({
        ...{ groupIndex, dataFiles: [] },
        removedDeletes: [entry],
      }));

      const outcome = await commitDeletes(warehouse, {
        ...{ table, groups },
        startingSequenceNumber: 4n,
      });

      assert.deepEqual(drops(outcome), [
        [0, 'deletes-needed'],
        [1, 'deletes-needed'],
      ]);
    });
  }

  it('drops a group whose vector was replaced meanwhile', async () => {
    const warehouse = await upgradedTable();
    const staged = await stageFolds(warehouse);
    await deleteByVector(warehouse, warehouse.files['eu10']!, [2, 7, 8]);

    const outcome = await commitDeletes(warehouse, staged);

    assert.deepEqual(drops(outcome), [[0, 'input-gone']]);
  });

  it('drops a group when a data file without one got a vector meanwhile', async () => {
    const warehouse = await upgradedTable();
    const staged = await stageFolds(warehouse);
    await deleteByVector(warehouse, warehouse.files['eu0']!, [1, 5, 6]);

    const outcome = await commitDeletes(warehouse, staged);

    assert.deepEqual(drops(outcome), [[0, 'fewer-deletes']]);
  });

  it('merges position delete files of one data file, and leaves those that came since', async () => {
    const warehouse = await createTenRowFiles();
    const { eu0 } = warehouse.files;
    await deleteByPosition(warehouse, [[eu0!, 1]]);
    await deleteByPosition(warehouse, [[eu0!, 2]]);
    const staged = await stageFolds(warehouse);
    await deleteByPosition(warehouse, [[eu0!, 3]]);

    await commitUnchanged(warehouse, staged);

    assert.deepEqual(await describeDeletes(warehouse), [
      'eu position-deletes 1 5',
      'eu position-deletes 2 4',
    ]);
  });

  it('drops a group of position delete files when the table was upgraded to v3 meanwhile', async () => {
    const warehouse = await createTenRowFiles();
    await deleteByPosition(warehouse, [[warehouse.files['eu0']!, 1]]);
    const staged = await stageFolds(warehouse);
    await warehouse.builder.upgrade(3);

    const outcome = await commitDeletes(warehouse, staged);

    assert.deepEqual(drops(outcome), [[0, 'input-changed']]);
  });

  it('drops groups that rely on another one to cover a data file when that cannot be committed', async () => {
    const warehouse = await upgradedTable();
    const staged = await stageFolds(warehouse, { isSplit: true });
    assert.equal(staged.groups.length, 3);
    await deleteByVector(warehouse, warehouse.files['eu10']!, [2, 7, 8]);

    const outcome = await commitDeletes(warehouse, staged);

    assert.deepEqual(drops(outcome), [
      [1, 'input-gone'],
      [0, 'deletes-needed'],
      [2, 'deletes-needed'],
    ]);
  });
});
