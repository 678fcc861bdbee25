import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deadlineAfter,
  IcebergError,
  ManualClock,
  parseJson,
  serializeJson,
} from '../../../shared/base/index.ts';
import { type Catalog, countingCatalog } from '../../../shared/catalog/index.ts';
import { snapshotOfRef } from '../../../shared/iceberg/index.ts';
import {
  planToJson,
  type RewriteDataFilesOutcome,
  type RewriteProgress,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { countingStore } from '../../../shared/storage/index.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import { readRowsSlowly } from '../../support/slow-reader.ts';
import {
  createWarehouse,
  FIELDS,
  rewrite,
  rows,
  smallFiles,
  type Warehouse,
} from './rewrite-fixture.ts';

async function readRows({ builder, store }: Warehouse, withLineage = false): Promise<string[]> {
  const { metadataLocation } = await builder.load();
  return readRowsSlowly({ store, metadataLocation, withLineage });
}

type Ended = Extract<RewriteDataFilesOutcome, { outcome: 'committed' | 'partial' }>;

/** The report of a run that got as far as running groups. */
function ended(outcome: RewriteDataFilesOutcome): Ended {
  assert.ok(outcome.outcome === 'committed' || outcome.outcome === 'partial', outcome.outcome);
  return outcome;
}

function states(outcome: RewriteDataFilesOutcome): readonly string[] {
  return ended(outcome).groups.map((group) => group.state);
}

describe('rewriteDataFiles', () => {
  for (const formatVersion of [1, 2, 3] as const) {
    it(`compacts a v${formatVersion} table of many small files and keeps every row`, async () => {
      const warehouse = await createWarehouse({ formatVersion });
      const withLineage = formatVersion === 3;
      const rowsBefore = await readRows(warehouse, withLineage);

      const outcome = ended(await rewrite(warehouse));

      assert.equal(outcome.outcome, 'committed');
      const rowsAfter = await readRows(warehouse, withLineage);
      assert.equal(rowsAfter.length, 120);
      assert.deepEqual(rowsAfter, rowsBefore);
      const { metadata } = await warehouse.builder.load();
      const summary = snapshotOfRef(metadata)?.summary;
      assert.equal(summary?.['total-data-files'], '2');
      assert.equal(summary?.['firn.run-id'], 'run-1');
      assert.equal(outcome.before.fileCount, 12);
      assert.equal(outcome.after.fileCount, 2);
      assert.equal(outcome.after.rowGroupCount, 12);
      assert.equal(outcome.commits.length, 1);
      assert.equal(outcome.commits[0]?.snapshotId, metadata.currentSnapshotId);
      assert.equal(outcome.requests.delete, 0);
    });

    it(`plans nothing for a v${formatVersion} table that it has just compacted`, async () => {
      const warehouse = await createWarehouse({ formatVersion });
      await rewrite(warehouse);

      const outcome = await rewrite(warehouse);

      assert.equal(outcome.outcome, 'nothing-planned');
      assert.deepEqual(outcome.outcome === 'nothing-planned' && outcome.plan.skippedGroups, {
        'too-few-files': {
          groupCount: 2,
          fileCount: 2,
          bytes: outcome.outcome === 'nothing-planned' ? outcome.before.bytes : 0,
        },
      });
    });
  }

  it('compacts again after more was appended, with ids from before', async () => {
    const warehouse = await createWarehouse({ formatVersion: 3 });
    await rewrite(warehouse);
    for (const firstId of [200, 300]) await warehouse.builder.append(smallFiles(firstId));
    const rowsBefore = await readRows(warehouse, true);

    const outcome = ended(await rewrite(warehouse));

    assert.equal(outcome.outcome, 'committed');
    assert.equal(outcome.after.fileCount, 2);
    assert.deepEqual(await readRows(warehouse, true), rowsBefore);
  });

  it('compacts an unpartitioned table', async () => {
    const warehouse = await createWarehouse({ partitionFields: [] });
    const rowsBefore = await readRows(warehouse);

    const outcome = ended(await rewrite(warehouse));

    assert.equal(outcome.after.fileCount, 1);
    assert.deepEqual(await readRows(warehouse), rowsBefore);
  });

  it('keeps every file in the spec it was written with', async () => {
    const warehouse = await createWarehouse();
    const specId = await warehouse.builder.evolveSpec([
      {
        sourceIds: [1],
        fieldId: 1001,
        name: 'id_bucket',
        transform: { kind: 'bucket', bucketCount: 4 },
      },
    ]);
    for (let batch = 0; batch < 5; batch++) {
      await warehouse.builder.append([
        { rows: rows(1000 + batch * 10, 10, 'eu'), partition: [batch % 1] },
      ]);
    }
    const rowsBefore = await readRows(warehouse);

    const outcome = ended(await rewrite(warehouse));

    assert.deepEqual(
      outcome.plan.groups.map((group) => [group.specId, group.partition, group.files.length]),
      [
        [0, 'region=eu', 6],
        [0, 'region=us', 6],
        [specId, 'id_bucket=0', 5],
      ],
    );
    assert.equal(outcome.outcome, 'committed');
    assert.deepEqual(await readRows(warehouse), rowsBefore);
  });

  it('writes the current schema, with columns that old files lack', async () => {
    const warehouse = await createWarehouse();
    const added = {
      fieldId: 4,
      name: 'note',
      isRequired: false,
      type: { kind: 'string' },
    } as const;
    await warehouse.builder.evolveSchema([FIELDS[0], FIELDS[1], added]);
    await warehouse.builder.append([
      {
        rows: [
          { 1: 900n, 2: 'eu', 4: 'first' },
          { 1: 901n, 2: 'eu' },
        ],
        partition: ['eu'],
      },
    ]);
    const rowsBefore = await readRows(warehouse);

    const outcome = ended(await rewrite(warehouse));

    assert.equal(outcome.outcome, 'committed');
    assert.deepEqual(await readRows(warehouse), rowsBefore);
  });

  it('splits a file that is too large', async () => {
    const warehouse = await createWarehouse({ appendCount: 0, partitionFields: [] });
    const [file] = await warehouse.builder.append([
      { rows: rows(0, 4000, 'eu'), layout: { rowsPerRowGroup: 500 } },
    ]);
    const rowsBefore = await readRows(warehouse);
    const targetBytes = Math.floor(file!.dataFile.fileSizeBytes / 4);

    const outcome = ended(
      await rewrite(warehouse, { 'target-file-size-bytes': String(targetBytes) }),
    );

    assert.equal(outcome.outcome, 'committed');
    assert.equal(outcome.plan.groups[0]?.reason, 'too-much-content');
    assert.ok(outcome.after.fileCount >= 4, `${outcome.after.fileCount} files`);
    assert.deepEqual(await readRows(warehouse), rowsBefore);
  });

  it('compacts a branch and leaves main alone', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.addRef('audit', 'branch');
    await warehouse.builder.append(smallFiles(500), 'audit');
    const before = await warehouse.builder.load();

    const outcome = ended(await rewrite(warehouse, {}, { branch: 'audit' }));

    const { metadata } = await warehouse.builder.load();
    assert.equal(outcome.outcome, 'committed');
    assert.equal(metadata.currentSnapshotId, before.metadata.currentSnapshotId);
    assert.equal(metadata.refs.get('audit')?.snapshotId, outcome.commits[0]?.snapshotId);
  });

  it('uses the starting sequence number of the snapshot it planned', async () => {
    const warehouse = await createWarehouse();
    const outcome = ended(await rewrite(warehouse));

    assert.equal(outcome.plan.base.startingSequenceNumber, 3n);
  });
});

describe('rewriteDataFiles without anything to do', () => {
  it('reports a table without snapshots', async () => {
    const warehouse = await createWarehouse({ appendCount: 0 });

    assert.equal((await rewrite(warehouse)).outcome, 'no-snapshot');
  });

  it('skips a table that places its files by a class of its own', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.setProperties({ 'write.location-provider.impl': 'com.example.Mine' });

    const { requests: _, ...outcome } = await rewrite(warehouse);

    assert.deepEqual(outcome, {
      outcome: 'skipped',
      reason: 'custom-location-provider',
      detail: 'com.example.Mine',
    });
  });

  it('writes nothing when it observes', async () => {
    const warehouse = await createWarehouse();
    const before = await warehouse.builder.load();

    const outcome = await rewrite(warehouse, {}, { mode: 'observe' });

    assert.equal(outcome.outcome, 'observed');
    assert.equal(outcome.requests.write + outcome.requests.openWriter, 0);
    assert.equal((await warehouse.builder.load()).metadataLocation, before.metadataLocation);
  });

  it('refuses unknown options, unsupported ones and a branch that is a tag', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.addRef('v1', 'tag');

    await assert.rejects(rewrite(warehouse, { best: '1' }), errorOfKind('invalid-config', /best/));
    await assert.rejects(rewrite(warehouse, { strategy: 'sort' }), errorOfKind('unsupported'));
    await assert.rejects(rewrite(warehouse, {}, { branch: 'v1' }), errorOfKind('invalid-config'));
  });

  it('refuses a malformed table property', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.setProperties({ 'write.target-file-size-bytes': 'huge' });

    await assert.rejects(
      rewrite(warehouse),
      errorOfKind('invalid-config', /write.target-file-size-bytes/),
    );
  });
});

describe('rewriteDataFiles with properties that the commit needs', () => {
  for (const [key, value] of [
    ['commit.retry.min-wait-ms', 'soon'],
    ['commit.manifest-merge.enabled', 'perhaps'],
    ['write.metadata.previous-versions-max', 'many'],
    ['write.metadata.metrics.column.id', 'truncate(x)'],
    ['write.summary.partition-limit', '-1'],
    ['write.parquet.page-row-limit', '0'],
    ['firn.enabled', 'maybe'],
  ] as const) {
    it(`refuses ${key}=${value} before anything is written`, async () => {
      const warehouse = await createWarehouse();
      await warehouse.builder.edit((json) => ({ ...json, properties: { [key]: value } }));
      const store = countingStore(warehouse.store);

      await assert.rejects(
        rewrite(warehouse, {}, { ports: { store } }),
        errorOfKind(
          'invalid-config',
          new RegExp(RegExp.escape(`property ${key}: value ${value} is`)),
        ),
      );

      assert.equal(store.requestCounts.write + store.requestCounts.openWriter, 0);
    });
  }

  it('does not mind malformed ones that it has no use for', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.setProperties({ 'write.wap.enabled': 'perhaps' });

    assert.equal((await rewrite(warehouse)).outcome, 'committed');
  });
});

describe('rewriteDataFiles with partial progress', () => {
  const PARTIAL = { 'partial-progress.enabled': 'true' };

  it('commits group by group', async () => {
    const warehouse = await createWarehouse();
    const rowsBefore = await readRows(warehouse);

    const outcome = ended(await rewrite(warehouse, PARTIAL));

    assert.equal(outcome.outcome, 'committed');
    assert.deepEqual(
      outcome.commits.map((commit) => commit.groupIndexes),
      [[0], [1]],
    );
    assert.deepEqual(await readRows(warehouse), rowsBefore);
  });

  it('commits several groups at a time when there are more than max-commits', async () => {
    const warehouse = await createWarehouse();

    const outcome = ended(
      await rewrite(warehouse, { ...PARTIAL, 'partial-progress.max-commits': '1' }),
    );

    assert.deepEqual(
      outcome.commits.map((commit) => commit.groupIndexes),
      [[0, 1]],
    );
  });

  it('records a group that fails and commits the others', async () => {
    const warehouse = await createWarehouse();
    await breakFirstFile(warehouse);

    const outcome = ended(await rewrite(warehouse, PARTIAL));

    assert.equal(outcome.outcome, 'partial');
    assert.deepEqual(states(outcome), ['failed', 'committed']);
    assert.equal(outcome.after.fileCount, 7);
  });

  it('stops at the first group that fails without it', async () => {
    const warehouse = await createWarehouse();
    await breakFirstFile(warehouse);
    const before = await warehouse.builder.load();

    await assert.rejects(rewrite(warehouse), errorOfKind('invalid-data'));
    assert.equal((await warehouse.builder.load()).metadataLocation, before.metadataLocation);
  });

  it('goes on after a commit that gave up, and counts it', async () => {
    const race = { conflictCount: 0 };
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (race.conflictCount-- > 0 ? 'conflict' : undefined) },
    });
    await warehouse.builder.setProperties({ 'commit.retry.num-retries': '1' });
    race.conflictCount = 2;

    const outcome = ended(await rewrite(warehouse, PARTIAL));

    assert.deepEqual(states(outcome), ['commit-failed', 'committed']);
  });

  it('keeps and reports what was committed before an error ended the run', async () => {
    const state = { writeCount: Number.NEGATIVE_INFINITY };
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (++state.writeCount > 1 ? 'lost-before' : undefined) },
    });
    for (const region of ['fr', 'de']) {
      const five = Array.from({ length: 5 }, (_, index) => ({
        rows: rows(1000 + index * 10, 10, region),
        partition: [region],
      }));
      await warehouse.builder.append(five);
    }
    const rowsBefore = await readRows(warehouse);
    state.writeCount = 0;
    let asked = 0;
    // Nobody can be asked what became of the second commit either.
    const catalog: Catalog = {
      ...countingCatalog(warehouse.catalog),
      loadTable: (identifier) => {
        if (state.writeCount > 1 && ++asked > 0) {
          return Promise.reject(new IcebergError('unavailable', 'catalog: no answer'));
        }
        return warehouse.catalog.loadTable(identifier);
      },
    };

    const outcome = ended(await rewrite(warehouse, PARTIAL, { ports: { catalog } }));

    assert.equal(outcome.outcome, 'partial');
    assert.deepEqual(states(outcome), ['committed', 'failed', 'not-started', 'not-started']);
    const failed = outcome.groups[1];
    assert.ok(failed?.state === 'failed');
    assert.equal(failed.error.kind, 'commit-state-unknown');
    assert.equal(outcome.commits.length, 1);
    const { reports } = await warehouse.ledger.reports.list({
      table: 'db.orders',
      reportCountMax: 1,
    });
    const { facts } = reports[0]!;
    assert.equal(reports[0]!.outcome, 'partial');
    assert.deepEqual(
      [facts['committedGroupCount'], facts['failedGroupCount'], facts['notStartedGroupCount']],
      [1, 1, 2],
    );
    assert.deepEqual(await readRows(warehouse), rowsBefore);
  });

  it('fails when more commits gave up than it may lose', async () => {
    const race = { conflictCount: 0 };
    const warehouse = await createWarehouse({
      faults: { onWrite: () => (race.conflictCount-- > 0 ? 'conflict' : undefined) },
    });
    await warehouse.builder.setProperties({ 'commit.retry.num-retries': '0' });
    race.conflictCount = 1;

    await assert.rejects(
      rewrite(warehouse, { ...PARTIAL, 'partial-progress.max-failed-commits': '0' }),
      errorOfKind('commit-conflict', /1 commits failed, 0 may/),
    );
  });

  it('ends the run when a commit cannot be settled', async () => {
    const state = { isLost: false };
    const warehouse = await createWarehouse({
      faults: {
        onWrite: () => (state.isLost ? 'lost-before' : undefined),
      },
    });
    state.isLost = true;

    await assert.rejects(rewrite(warehouse, PARTIAL), errorOfKind('commit-state-unknown'));
  });
});

/** Overwrites the footer of the first file of the first group. */
async function breakFirstFile(warehouse: Warehouse): Promise<void> {
  const observed = await rewrite(warehouse, {}, { mode: 'observe' });
  assert.equal(observed.outcome, 'observed');
  const { filePath } = observed.plan.groups[0]!.files[0]!;
  const bytes = await warehouse.store.read(filePath, 1e6);
  bytes.fill(0, bytes.length - 40);
  await warehouse.store.write(filePath, bytes);
}

describe('rewriteDataFiles within limits', () => {
  it('drops what another writer has changed while it worked', async () => {
    const warehouse = await createWarehouse();
    const observed = await rewrite(warehouse, {}, { mode: 'observe' });
    assert.equal(observed.outcome, 'observed');
    const { filePath } = observed.plan.groups[1]!.files[0]!;
    const { builder, catalog } = warehouse;
    let loads = 0;
    const overtaken: Catalog = {
      ...countingCatalog(catalog),
      loadTable: async (identifier) => {
        // The first is for the plan, the second for the commit.
        if (++loads === 2) await builder.commit({ operation: 'delete', removedPaths: [filePath] });
        return catalog.loadTable(identifier);
      },
    };

    const outcome = ended(await rewrite(warehouse, {}, { ports: { catalog: overtaken } }));

    assert.equal(outcome.outcome, 'partial');
    assert.deepEqual(states(outcome), ['committed', 'dropped']);
    assert.equal((await readRows(warehouse)).length, 110);
  });

  it('does not begin a group that it cannot finish in time', async () => {
    const warehouse = await createWarehouse();
    const before = await warehouse.builder.load();
    const deadline = deadlineAfter(warehouse.clock, 20_000);

    const outcome = ended(await rewrite(warehouse, {}, { ports: { deadline } }));

    assert.equal(outcome.outcome, 'partial');
    assert.deepEqual(states(outcome), ['not-started', 'not-started']);
    assert.equal((await warehouse.builder.load()).metadataLocation, before.metadataLocation);
  });

  it('rewrites no more than max-files-to-rewrite', async () => {
    const warehouse = await createWarehouse();

    const outcome = ended(await rewrite(warehouse, { 'max-files-to-rewrite': '6' }));

    assert.equal(outcome.after.fileCount, 7);
    assert.equal(outcome.plan.skippedFiles['max-files-to-rewrite']?.fileCount, 6);
  });

  it('tells how far it has come', async () => {
    const warehouse = await createWarehouse();
    const seen: RewriteProgress[] = [];

    await rewrite(warehouse, {}, { onProgress: (progress) => seen.push(progress) });

    assert.deepEqual(
      seen.map((progress) => progress.step),
      ['planned', 'group-rewritten', 'group-rewritten', 'committed'],
    );
  });

  it('reads each manifest of the head once', async () => {
    const warehouse = await createWarehouse();
    const store = countingStore(warehouse.store);

    const outcome = await rewrite(warehouse, {}, { ports: { store } });

    // Planning reads the list and three manifests; the commit writes, and reads back, one manifest in place of
    // those, one of added files, its list and its metadata.
    assert.equal(outcome.requests.read, 4 + 4);
    assert.equal(outcome.requests.write, 4);
    assert.equal(outcome.requests.openWriter, 2);
    assert.equal(outcome.requests.head, 2);
    assert.deepEqual(outcome.requests, { ...store.requestCounts });
  });

  it('makes the same plan, as JSON, whenever it is asked', async () => {
    const warehouse = await createWarehouse();
    const texts: string[] = [];
    for (let run = 0; run < 2; run++) {
      const outcome = await rewrite(warehouse, {}, { mode: 'observe' });
      assert.equal(outcome.outcome, 'observed');
      texts.push(serializeJson(planToJson(outcome.plan)));
    }

    assert.equal(texts[0], texts[1]);
    const json = parseJson(texts[0]!, 'plan') as Readonly<Record<string, unknown>>;
    assert.equal(json['planVersion'], 3);
    assert.equal(json['startingSequenceNumber'], '3');
    assert.match(String(json['startingSnapshotId']), /^\d+$/);
  });

  it('leaves the clock to others', async () => {
    const warehouse = await createWarehouse();
    const behind = new ManualClock(0);

    const outcome = ended(await rewrite(warehouse, {}, { ports: { clock: behind } }));

    // A clock that is behind does not make a snapshot older than its parent.
    const { metadata } = await warehouse.builder.load();
    const head = snapshotOfRef(metadata)!;
    const parent = metadata.snapshots.find((one) => one.snapshotId === head.parentSnapshotId)!;
    assert.equal(outcome.outcome, 'committed');
    assert.equal(head.timestampMs, parent.timestampMs);
  });
});
