import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_GUARD_SETTINGS, LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import type { RewriteDeletesOutcome } from '../../../shared/operations/rewrite-deletes/index.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import {
  append,
  commitDeletes,
  createWarehouse,
  currentRows,
  equalityDelete,
  FIELDS,
  fileScopedDelete,
  type LiveDelete,
  liveDeletes,
  partitionScopedDelete,
  rowsBySnapshot,
  run,
  vectors,
  type Warehouse,
} from './deletes-fixture.ts';

const ALL = { 'rewrite-all': 'true' };
const GLOBAL = { specId: 1, dataFile: { partition: [] } };

/** Runs the operation, and requires that no snapshot's rows have changed and that it has nothing more to do. */
async function runUnchanged(
  warehouse: Warehouse,
  options: Readonly<Record<string, string>> = ALL,
): Promise<readonly LiveDelete[]> {
  const before = await rowsBySnapshot(warehouse);
  const rowsBefore = await currentRows(warehouse);

  const outcome = await run(warehouse, options);

  assert.equal(outcome.outcome, 'committed', JSON.stringify(outcome, bigintText));
  const after = await rowsBySnapshot(warehouse);
  for (const [id, texts] of Object.entries(before)) assert.deepEqual(after[id], texts);
  assert.deepEqual(await currentRows(warehouse), rowsBefore);
  assert.equal((await run(warehouse, options)).outcome, 'nothing-planned');
  return liveDeletes(warehouse);
}

function kinds(deletes: readonly LiveDelete[]): string[] {
  return deletes.map(({ kind, recordCount }) => `${kind} ${recordCount}`).sort();
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

describe('rewriteDeletes on v3', () => {
  it('folds position delete files of both kinds into one vector a data file', async () => {
    const warehouse = await createWarehouse();
    const one = await append(warehouse, 0);
    const other = await append(warehouse, 10);
    await commitDeletes(warehouse, [
      await fileScopedDelete(warehouse, one, [0, 1]),
      await fileScopedDelete(warehouse, one, [1, 2]),
      await partitionScopedDelete(warehouse, [
        { file: one, positions: [9] },
        { file: other, positions: [3, 4] },
      ]),
    ]);
    await warehouse.writer.upgrade(3);

    const live = await runUnchanged(warehouse);

    assert.deepEqual(kinds(live), ['vector 2', 'vector 4']);
    // Of the deletes they were made of, not of the commit.
    assert.deepEqual([...new Set(live.map((each) => each.dataSequenceNumber))], [3n]);
  });

  it('loads the vector that is there and leaves one, beside a delete file of several data files', async () => {
    const warehouse = await createWarehouse();
    const one = await append(warehouse, 0);
    const other = await append(warehouse, 10);
    await commitDeletes(warehouse, [
      await partitionScopedDelete(warehouse, [
        { file: one, positions: [9] },
        { file: other, positions: [3, 4] },
      ]),
    ]);
    await warehouse.writer.upgrade(3);
    // As a writer of v3 leaves it: what was deleted before, and its own.
    await commitDeletes(warehouse, await vectors(warehouse, [{ file: one, positions: [0, 9] }]));
    await commitDeletes(warehouse, [await equalityDelete(warehouse, one, [{ 1: 5n }])]);

    const live = await runUnchanged(warehouse);

    assert.deepEqual(
      live
        .map(({ kind, recordCount, referencedDataFile, dataSequenceNumber }) => [
          kind,
          recordCount,
          referencedDataFile,
          dataSequenceNumber,
        ])
        .sort(),
      [
        ['vector', 2, other.dataFile.filePath, 5n],
        ['vector', 3, one.dataFile.filePath, 5n],
      ],
    );
  });

  it('keeps a delete file of several data files that one more turns out to need', async () => {
    const warehouse = await createWarehouse();
    const file = await append(warehouse, 0);
    await commitDeletes(warehouse, [
      await partitionScopedDelete(warehouse, [{ file, positions: [1] }]),
    ]);
    await warehouse.writer.upgrade(3);
    // Its commit gives row ids to the files that are there.
    await append(warehouse, 50, 'us');
    const rowsBefore = await currentRows(warehouse);
    const { writer } = warehouse;
    const older = await writer.writeDataFile({ rows: [], partition: ['eu'] });

    // As a compaction does that carries its inputs' sequence number.
    const outcome = await run(warehouse, ALL, {
      ports: beforeSecondLoad(warehouse, async () => {
        const addedManifests = [[{ ...older, dataSequenceNumber: 1n }]];
        await writer.commit({ operation: 'replace', addedManifests });
      }),
    });

    assert.deepEqual(dropReasons(outcome), ['deletes-needed']);
    assert.deepEqual(kinds(await liveDeletes(warehouse)), ['position 1']);
    assert.deepEqual(await currentRows(warehouse), rowsBefore);
    assert.deepEqual(kinds(await runUnchanged(warehouse)), ['vector 1']);
  });

  it('converts equality deletes, null keys and renamed columns among them', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const file = await append(warehouse, 0);
    await warehouse.writer.evolveSchema(
      FIELDS.map((field) => (field.fieldId === 2 ? { ...field, name: 'area' } : field)),
    );
    await commitDeletes(warehouse, [
      await equalityDelete(warehouse, file, [{ 1: 3n }, { 1: 4n }]),
      await equalityDelete(
        warehouse,
        file,
        [
          { 1: 5n, 2: 'eu' },
          { 1: 6n, 2: null },
        ],
        FIELDS.slice(0, 2),
      ),
    ]);
    const younger = await append(warehouse, 0);

    const live = await runUnchanged(warehouse);

    assert.deepEqual(kinds(live), ['vector 3']);
    assert.equal(live[0]?.referencedDataFile, file.dataFile.filePath);
    assert.notEqual(live[0]?.referencedDataFile, younger.dataFile.filePath);
    assert.equal(live[0]?.dataSequenceNumber, 2n);
  });

  it('removes an equality delete that matches nothing, and writes no vector for it', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const file = await append(warehouse, 0);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, file, [{ 1: 99n }])]);

    assert.deepEqual(await runUnchanged(warehouse), []);
  });

  it('converts global equality deletes for every spec and partition at once', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    await append(warehouse, 0, 'eu');
    await append(warehouse, 0, 'us');
    await warehouse.writer.evolveSpec([]);
    await append(warehouse, 0, 'asia');
    await commitDeletes(warehouse, [await equalityDelete(warehouse, GLOBAL, [{ 1: 2n }])]);

    const live = await runUnchanged(warehouse);

    assert.deepEqual(kinds(live), ['vector 1', 'vector 1', 'vector 1']);
    assert.deepEqual(live.map(({ specId }) => specId).sort(), [0, 0, 1]);
  });

  it('moves vectors out of a sparse Puffin file byte for byte, with their sequence numbers', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const files = [];
    for (let index = 0; index < 20; index++) files.push(await append(warehouse, index * 10));
    const written = await vectors(
      warehouse,
      files.map((file, index) => ({ file, positions: [index % 10] })),
    );
    await commitDeletes(warehouse, written);
    // Most of the data files leave; their vectors stay behind.
    const dropped = files.slice(2).map(({ dataFile }) => dataFile.filePath);
    await warehouse.writer.commit({ operation: 'delete', removedPaths: dropped });
    const before = (await liveDeletes(warehouse)).filter(
      ({ referencedDataFile = '' }) => !dropped.includes(referencedDataFile),
    );
    const blobs = await blobTexts(warehouse, before);

    const live = await runUnchanged(warehouse, {});

    assert.deepEqual(kinds(live), ['vector 1', 'vector 1']);
    assert.deepEqual([...new Set(live.map((each) => each.dataSequenceNumber))], [21n]);
    assert.equal(new Set(live.map(({ filePath }) => filePath)).size, 1);
    assert.notEqual(live[0]?.filePath, before[0]?.filePath);
    assert.deepEqual(await blobTexts(warehouse, live), blobs);
  });
});

/** Lets somebody else commit between plan and commit. */
function beforeSecondLoad({ catalog }: Warehouse, meanwhile: () => Promise<void>) {
  let loadCount = 0;
  const racing: typeof catalog = Object.create(catalog);
  racing.loadTable = async (identifier) => {
    if (++loadCount === 2) await meanwhile();
    return catalog.loadTable(identifier);
  };
  return { catalog: racing };
}

async function blobTexts({ store }: Warehouse, deletes: readonly LiveDelete[]) {
  const texts: Record<string, string> = {};
  for (const { filePath, contentOffset = 0, contentSizeBytes = 0, referencedDataFile } of deletes) {
    const blob = await store.readRange(filePath, contentOffset, contentSizeBytes);
    texts[referencedDataFile ?? ''] = Buffer.from(blob).toString('hex');
  }
  return texts;
}

describe('rewriteDeletes on v2', () => {
  it('merges the delete files of a data file into one, of the newest sequence number', async () => {
    const warehouse = await createWarehouse();
    const one = await append(warehouse, 0);
    const other = await append(warehouse, 10);
    for (const position of [1, 2, 3]) {
      await commitDeletes(warehouse, [await fileScopedDelete(warehouse, one, [position])]);
    }
    await commitDeletes(warehouse, [
      await fileScopedDelete(warehouse, other, [5]),
      await partitionScopedDelete(warehouse, [
        { file: one, positions: [8] },
        { file: other, positions: [8] },
      ]),
    ]);

    const live = await runUnchanged(warehouse);

    assert.deepEqual(kinds(live), ['position 1', 'position 2', 'position 3']);
    const merged = live.find(({ recordCount }) => recordCount === 3);
    assert.equal(merged?.referencedDataFile, one.dataFile.filePath);
    assert.equal(merged?.dataSequenceNumber, 5n);
  });

  it('splits delete files of a partition where write.delete.granularity is file', async () => {
    const warehouse = await createWarehouse({ properties: { 'write.delete.granularity': 'file' } });
    const one = await append(warehouse, 0);
    const other = await append(warehouse, 10);
    await commitDeletes(warehouse, [
      await partitionScopedDelete(warehouse, [
        { file: one, positions: [8] },
        { file: other, positions: [8, 9] },
      ]),
    ]);

    const live = await runUnchanged(warehouse);

    assert.deepEqual(kinds(live), ['position 1', 'position 2']);
  });

  it('converts equality deletes to position delete files, and keeps what needs no change', async () => {
    const warehouse = await createWarehouse();
    const one = await append(warehouse, 0);
    const other = await append(warehouse, 10);
    const kept = await fileScopedDelete(warehouse, other, [7]);
    await commitDeletes(warehouse, [await fileScopedDelete(warehouse, one, [7]), kept]);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, one, [{ 1: 3n }])]);

    const live = await runUnchanged(warehouse);

    assert.deepEqual(kinds(live), ['position 1', 'position 2']);
    assert.equal(
      live.find(({ recordCount }) => recordCount === 1)?.filePath,
      kept.dataFile.filePath,
    );
    assert.equal(live.find(({ recordCount }) => recordCount === 2)?.dataSequenceNumber, 4n);
  });
});

describe('dangling deletes', () => {
  it('leave the table, of each kind, and a global equality delete that other specs need does not', async () => {
    const warehouse = await createWarehouse();
    await append(warehouse, 0);
    await warehouse.writer.evolveSpec([]);
    const gone = await append(warehouse, 10);
    await commitDeletes(warehouse, [
      await equalityDelete(warehouse, GLOBAL, [{ 1: 3n }]),
      await fileScopedDelete(warehouse, gone, [1]),
      await partitionScopedDelete(warehouse, [{ file: gone, positions: [1] }]),
      await equalityDelete(warehouse, { specId: 0, dataFile: { partition: ['us'] } }, [{ 1: 1n }]),
    ]);
    // No live data file has the unpartitioned spec any more; the global delete still applies to the older one.
    await warehouse.writer.commit({ operation: 'delete', removedPaths: [gone.dataFile.filePath] });

    const live = await runUnchanged(warehouse, { 'delete-ratio-threshold': '10' });

    assert.deepEqual(kinds(live), ['equality 1']);
    assert.equal((await currentRows(warehouse)).length, 9);
  });

  it('stay where another writer adds a data file that needs them before the commit', async () => {
    const warehouse = await createWarehouse();
    const young = await append(warehouse, 0);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, young, [{ 1: 99n }])]);
    // Planned, there is no file as old as the delete; then a compaction commits one.
    await warehouse.writer.commit({ operation: 'delete', removedPaths: [young.dataFile.filePath] });
    const { writer } = warehouse;
    const older = await writer.writeDataFile({
      rows: [{ 1: 99n, 2: 'eu', 3: null }],
      partition: ['eu'],
    });

    const outcome = await run(
      warehouse,
      {},
      {
        ports: beforeSecondLoad(warehouse, async () => {
          const addedManifests = [[{ ...older, dataSequenceNumber: 1n }]];
          await writer.commit({ operation: 'replace', addedManifests });
        }),
      },
    );

    assert.deepEqual(dropReasons(outcome), ['deletes-needed']);
    assert.deepEqual(kinds(await liveDeletes(warehouse)), ['equality 1']);
    assert.deepEqual(await currentRows(warehouse), []);
  });
});

function dropReasons(outcome: RewriteDeletesOutcome): string[] {
  assert.ok(outcome.outcome === 'partial', outcome.outcome);
  return outcome.groups.flatMap((group) => (group.state === 'dropped' ? [group.reason] : []));
}

describe('other writers', () => {
  it('that replace a vector meanwhile win: the group is dropped, and nothing lost', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const file = await append(warehouse, 0);
    const [vector] = await vectors(warehouse, [{ file, positions: [1] }]);
    await commitDeletes(warehouse, [vector!, await equalityDelete(warehouse, file, [{ 1: 2n }])]);

    const outcome = await run(warehouse, ALL, {
      ports: beforeSecondLoad(warehouse, async () => {
        const larger = await vectors(warehouse, [{ file, positions: [1, 9] }]);
        await commitDeletes(warehouse, larger, [vector!.dataFile.filePath]);
      }),
    });

    assert.equal(dropReasons(outcome).length, 1);
    assert.equal((await currentRows(warehouse)).length, 7);
    await runUnchanged(warehouse);
  });

  it('keep the partitions they delete from, until these are cold', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const cold = await append(warehouse, 0, 'eu');
    const warm = await append(warehouse, 0, 'us');
    await commitDeletes(warehouse, [await equalityDelete(warehouse, cold, [{ 1: 2n }])]);
    warehouse.clock.advanceMs(3_600_000);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, warm, [{ 1: 2n }])]);
    const guards = { ...DEFAULT_GUARD_SETTINGS, minFileAgeMsDerivedMax: 900_000 };

    const first = await run(warehouse, ALL, { guards });

    assert.equal(first.outcome, 'committed');
    assert.deepEqual(kinds(await liveDeletes(warehouse)), ['equality 1', 'vector 1']);
    assert.ok('plan' in first && first.plan.skipped['too-warm'] !== undefined);
    const touchedMs = warehouse.clock.nowMs() - 1_000;
    assert.ok(Math.abs((first.plan.dueAtMs ?? 0) - touchedMs - 1_800_000) <= 1_000);
    warehouse.clock.advanceMs(1_800_000);
    assert.equal((await run(warehouse, ALL, { guards })).outcome, 'committed');
    assert.deepEqual(kinds(await liveDeletes(warehouse)), ['vector 1', 'vector 1']);
  });

  it('keep all partitions with one equality delete of all', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const file = await append(warehouse, 0, 'eu');
    await commitDeletes(warehouse, [await equalityDelete(warehouse, file, [{ 1: 2n }])]);
    await warehouse.writer.evolveSpec([]);
    warehouse.clock.advanceMs(3_600_000);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, GLOBAL, [{ 1: 77n }])]);
    const guards = { ...DEFAULT_GUARD_SETTINGS, minFileAgeMsDerivedMax: 900_000 };

    assert.equal((await run(warehouse, ALL, { guards })).outcome, 'nothing-planned');
  });
});

describe('hostile deletes', () => {
  it('end the run by name whatever byte of a vector is flipped, and nothing is committed', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const file = await append(warehouse, 0);
    const [vector] = await vectors(warehouse, [{ file, positions: [1, 2] }]);
    await commitDeletes(warehouse, [vector!, await equalityDelete(warehouse, file, [{ 1: 5n }])]);
    const { store, writer } = warehouse;
    const { filePath, contentOffset = 0, contentSizeBytes = 0 } = vector!.dataFile;
    const sound = await store.read(filePath, 1_000_000);
    const { metadataLocation } = await writer.load();

    assert.ok(contentSizeBytes > 20);
    for (let index = 0; index < contentSizeBytes; index++) {
      const bytes = sound.slice();
      bytes[contentOffset + index]! ^= 0x10;
      await store.write(filePath, bytes);
      await assert.rejects(run(warehouse, ALL), errorOfKind('invalid-data', /deletion vector at/));
    }

    assert.equal((await writer.load()).metadataLocation, metadataLocation);
  });

  it('are never copied to another Puffin file', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const files = [];
    for (let index = 0; index < 8; index++) files.push(await append(warehouse, index * 10));
    const written = await vectors(
      warehouse,
      files.map((file) => ({ file, positions: [1] })),
    );
    await commitDeletes(warehouse, written);
    const dropped = files.slice(1).map(({ dataFile }) => dataFile.filePath);
    await warehouse.writer.commit({ operation: 'delete', removedPaths: dropped });
    const { filePath, contentOffset = 0 } = written[0]!.dataFile;
    const bytes = (await warehouse.store.read(filePath, 1_000_000)).slice();
    bytes[contentOffset + 10]! ^= 1;
    await warehouse.store.write(filePath, bytes);

    await assert.rejects(run(warehouse), errorOfKind('invalid-data', /deletion vector at/));
  });

  it('by a column of double are left, with their reason', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const file = await append(warehouse, 0);
    await commitDeletes(warehouse, [
      await equalityDelete(warehouse, file, [{ 3: 0.25 }], [FIELDS[2]]),
    ]);

    const outcome = await run(warehouse, ALL);

    assert.ok(outcome.outcome === 'nothing-planned');
    assert.deepEqual(outcome.plan.skipped, {
      'unsupported-column': { partitionCount: 1, deleteFileCount: 1 },
    });
  });

  it('fail their own group alone with partial progress', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const bad = await append(warehouse, 0, 'eu');
    const good = await append(warehouse, 0, 'us');
    const broken = await equalityDelete(warehouse, bad, [{ 1: 5n }]);
    await commitDeletes(warehouse, [broken, await equalityDelete(warehouse, good, [{ 1: 5n }])]);
    await warehouse.store.write(
      broken.dataFile.filePath,
      new Uint8Array(broken.dataFile.fileSizeBytes),
    );

    const outcome = await run(warehouse, { ...ALL, 'partial-progress.enabled': 'true' });

    assert.ok(outcome.outcome === 'partial');
    assert.deepEqual(
      outcome.groups.map(({ state }) => state),
      ['failed', 'committed'],
    );
    assert.deepEqual(kinds(await liveDeletes(warehouse)), ['equality 1', 'vector 1']);
  });

  it('beyond the rows of their data file are refused', async () => {
    const warehouse = await createWarehouse();
    const file = await append(warehouse, 0);
    await commitDeletes(warehouse, [
      await partitionScopedDelete(warehouse, [{ file, positions: [10] }]),
    ]);
    await warehouse.writer.upgrade(3);

    await assert.rejects(
      run(warehouse, ALL),
      errorOfKind('invalid-data', /position 10 is deleted/),
    );
  });
});

describe('how it is told', () => {
  it('reports a run with its reasons, what left and what came', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const file = await append(warehouse, 0);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, file, [{ 1: 2n }])]);

    await run(warehouse, ALL, { trigger: 'a test' });

    const { reports } = await warehouse.ledger.reports.list({
      table: 'db.orders',
      reportCountMax: 10,
    });
    const [report] = reports;
    assert.equal(report?.operation, 'rewrite-deletes');
    assert.equal(report?.outcome, 'committed');
    assert.equal(report?.reason, 'delete-ratio,rewrite-all');
    assert.equal(report?.facts['removedDeleteFileCount'], 1);
    assert.equal(report?.facts['addedDeleteFileCount'], 1);
    assert.equal(report?.facts['trigger'], 'a test');
  });

  it('observes without a lease, and writes nothing', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    const file = await append(warehouse, 0);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, file, [{ 1: 2n }])]);
    const { metadataLocation } = await warehouse.writer.load();

    const outcome = await run(warehouse, ALL, { mode: 'observe' });

    assert.equal(outcome.outcome, 'observed');
    assert.equal(outcome.requests.write + outcome.requests.openWriter, 0);
    assert.equal((await warehouse.writer.load()).metadataLocation, metadataLocation);
  });

  it('has nothing to say of a table without snapshots, and waits where a rule holds it back', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    assert.equal((await run(warehouse)).outcome, 'no-snapshot');
    const file = await append(warehouse, 0);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, file, [{ 1: 2n }])]);
    await run(warehouse, ALL);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, file, [{ 1: 3n }])]);

    const outcome = await run(warehouse, ALL, {
      guards: { ...LOWERED_GUARD_SETTINGS, commitIntervalMsFloor: 3_600_000 },
    });

    assert.equal(outcome.outcome, 'held-back');
  });

  it('refuses malformed properties before anything is read of the table', async () => {
    const warehouse = await createWarehouse({
      properties: { 'firn.rewrite-deletes.delete-file-threshold': 'few' },
    });
    await append(warehouse, 0);

    await assert.rejects(run(warehouse), errorOfKind('invalid-config', /delete-file-threshold/));
  });
});
