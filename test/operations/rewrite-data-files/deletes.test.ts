import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deleteFileOf } from '../../../local/table-writer/index.ts';
import { deadlineAfter } from '../../../shared/base/index.ts';
import { type Catalog, countingCatalog } from '../../../shared/catalog/index.ts';
import type { FileOfSpec, FormatVersion } from '../../../shared/iceberg/index.ts';
import type { OptionTexts } from '../../../shared/maintenance/index.ts';
import {
  deletesOf,
  type RewriteDataFilesOutcome,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { neededMs } from '../../../shared/operations/rewrite-data-files/needed-time.ts';
import { countingStore, type ObjectStore } from '../../../shared/storage/index.ts';
import { readRowsSlowly } from '../../support/slow-reader.ts';
import {
  append,
  BY_REGION,
  commitDeletes,
  createWarehouse,
  equalityDelete,
  FIELDS,
  fileScopedDelete,
  liveDeletes,
  partitionScopedDelete,
  vectors,
  type Warehouse,
} from '../rewrite-deletes/deletes-fixture.ts';
import { compact } from './compact-deletes.ts';

const VERIFY = { 'firn.verify': 'rows' };

type Ended = Extract<RewriteDataFilesOutcome, { outcome: 'committed' | 'partial' }>;

function committed(outcome: RewriteDataFilesOutcome): Ended {
  assert.equal(outcome.outcome, 'committed');
  assert.ok(outcome.outcome === 'committed');
  return outcome;
}

/** Rows of every retained snapshot, with their lineage in v3. */
async function allRows({ store, writer }: Warehouse): Promise<Map<bigint, readonly string[]>> {
  const { metadata, metadataLocation } = await writer.load();
  const withLineage = metadata.formatVersion >= 3;
  const found = new Map<bigint, readonly string[]>();
  for (const { snapshotId } of metadata.snapshots) {
    const options = { store, metadataLocation, snapshotId, withLineage };
    found.set(snapshotId, await readRowsSlowly(options));
  }
  return found;
}

/** Runs `work`; the rows of every snapshot from before, and of the current one, must be as they were. */
async function keepingRows<Result>(
  warehouse: Warehouse,
  work: () => Promise<Result>,
): Promise<Result> {
  const headBefore = (await warehouse.writer.load()).metadata.currentSnapshotId!;
  const before = await allRows(warehouse);
  const result = await work();
  const after = await allRows(warehouse);
  for (const [snapshotId, rows] of before) assert.deepEqual(after.get(snapshotId), rows);
  const headAfter = (await warehouse.writer.load()).metadata.currentSnapshotId!;
  assert.deepEqual(after.get(headAfter), before.get(headBefore));
  return result;
}

/** Six files of twenty rows in one region, and five in another. */
async function twoRegions(
  formatVersion: FormatVersion,
  properties: Readonly<Record<string, string>> = {},
): Promise<{ readonly warehouse: Warehouse; readonly files: readonly FileOfSpec[] }> {
  const warehouse = await createWarehouse({
    formatVersion,
    properties: { ...VERIFY, ...properties },
  });
  const files: FileOfSpec[] = [];
  for (let index = 0; index < 6; index++) {
    files.push(await append(warehouse, index * 100, 'eu', 20));
  }
  for (let index = 0; index < 5; index++) await append(warehouse, 1000 + index * 100, 'us', 20);
  return { warehouse, files };
}

const ids = (...values: readonly number[]) => values.map((value) => ({ 1: BigInt(value) }));

/** How rows of the first region are deleted. */
const KINDS: readonly {
  readonly name: string;
  readonly formatVersion: FormatVersion;
  readonly deleteRows: (warehouse: Warehouse, files: readonly FileOfSpec[]) => Promise<void>;
  readonly deletedCount: number;
  readonly appliedCount: number;
  /**
   * Rows of delete files that stay. Outputs have the sequence number of the planned snapshot, and a position delete file of
   * the partition from that very snapshot might name them, as far as its entry tells.
   */
  readonly leftCount?: number;
}[] = [
  {
    name: 'v2 position deletes of one file each',
    formatVersion: 2,
    deleteRows: async (warehouse, [one, two]) => {
      await commitDeletes(warehouse, [
        await fileScopedDelete(warehouse, one!, [0, 7, 8]),
        await fileScopedDelete(warehouse, two!, [19]),
      ]);
      await commitDeletes(warehouse, [await fileScopedDelete(warehouse, one!, [7, 9])]);
    },
    deletedCount: 5,
    appliedCount: 3,
  },
  {
    name: 'v2 position deletes of a partition',
    formatVersion: 2,
    deleteRows: async (warehouse, [one, two, three]) => {
      const deletes = [
        { file: one!, positions: [1, 2] },
        { file: two!, positions: [0] },
        { file: three!, positions: [3, 4, 5] },
      ];
      await commitDeletes(warehouse, [await partitionScopedDelete(warehouse, deletes)]);
    },
    deletedCount: 6,
    appliedCount: 1,
    leftCount: 6,
  },
  {
    name: 'v2 equality deletes, some of which hit nothing or rows deleted already',
    formatVersion: 2,
    deleteRows: async (warehouse, [one]) => {
      await commitDeletes(warehouse, [
        await fileScopedDelete(warehouse, one!, [3]),
        await equalityDelete(warehouse, one!, ids(3, 4, 105, 99_999)),
      ]);
      await commitDeletes(warehouse, [await equalityDelete(warehouse, one!, ids(219))]);
    },
    deletedCount: 4,
    appliedCount: 3,
  },
  {
    name: 'v3 vectors in one Puffin file',
    formatVersion: 3,
    deleteRows: async (warehouse, [one, two]) =>
      commitDeletes(
        warehouse,
        await vectors(warehouse, [
          { file: one!, positions: [0, 1, 19] },
          { file: two!, positions: [5] },
        ]),
      ),
    deletedCount: 4,
    appliedCount: 2,
  },
  {
    name: 'v3 vectors and equality deletes',
    formatVersion: 3,
    deleteRows: async (warehouse, [one, two]) => {
      await commitDeletes(warehouse, await vectors(warehouse, [{ file: one!, positions: [0] }]));
      await commitDeletes(warehouse, [await equalityDelete(warehouse, two!, ids(0, 1, 119))]);
    },
    deletedCount: 3,
    appliedCount: 2,
  },
];

describe('rewriteDataFiles of files with deletes', () => {
  for (const { name, formatVersion, deleteRows, deletedCount, ...kind } of KINDS) {
    for (const treatment of ['purge', 'carry'] as const) {
      it(`${name}: ${treatment} keeps the rows of every snapshot`, async () => {
        const { warehouse, files } = await twoRegions(formatVersion, {
          'firn.rewrite-data-files.deletes': treatment,
        });
        await deleteRows(warehouse, files);

        const outcome = committed(await keepingRows(warehouse, () => compact(warehouse)));

        const purgedRowCount = treatment === 'purge' ? deletedCount : 0;
        const { carriedOverRowCount, ...done } = deletesOf(outcome);
        assert.equal(carriedOverRowCount, 0);
        assert.deepEqual(
          {
            appliedFileCount: done.appliedFileCount,
            purgedRowCount: done.purgedRowCount,
            carriedRowCount: done.carriedRowCount,
            addedFileCount: done.addedFileCount,
          },
          {
            appliedFileCount: kind.appliedCount,
            purgedRowCount,
            carriedRowCount: deletedCount - purgedRowCount,
            addedFileCount: treatment === 'purge' ? 0 : 1,
          },
        );
        const left = await liveDeletes(warehouse);
        const deleteRowCount = left.reduce((sum, { recordCount }) => sum + recordCount, 0);
        const { leftCount = 0 } = kind;
        assert.equal(deleteRowCount, leftCount + deletedCount - purgedRowCount);
        assert.equal(outcome.after.deleteRowCount, deleteRowCount);
        assert.equal(outcome.after.fileCount, 2);
        const next = await compact(warehouse);
        assert.equal(next.outcome, 'nothing-planned');
      });
    }
  }

  it('applies position deletes of v2 and vectors of an upgraded table', async () => {
    const { warehouse, files } = await twoRegions(2);
    const [one, two, three] = files;
    const deletes = [
      { file: one!, positions: [1, 2] },
      { file: two!, positions: [0] },
    ];
    await commitDeletes(warehouse, [
      await partitionScopedDelete(warehouse, deletes),
      await fileScopedDelete(warehouse, two!, [3, 4]),
    ]);
    await warehouse.writer.upgrade(3);
    await append(warehouse, 5000, 'eu', 20);
    const vector = { file: three!, positions: [0, 10] };
    await commitDeletes(warehouse, await vectors(warehouse, [vector]));
    // A vector takes the place of the position deletes: it has to hold what they say.
    const folded = { file: one!, positions: [1, 2, 19] };
    await commitDeletes(warehouse, await vectors(warehouse, [folded]));

    const outcome = committed(await keepingRows(warehouse, () => compact(warehouse)));

    assert.equal(deletesOf(outcome).purgedRowCount, 3 + 3 + 2);
    assert.equal(outcome.after.fileCount, 2);
    assert.deepEqual(await liveDeletes(warehouse), []);
  });

  it('applies global equality deletes to files of every spec', async () => {
    const warehouse = await createWarehouse({ partitionFields: [], properties: VERIFY });
    let file: FileOfSpec | undefined;
    for (let index = 0; index < 5; index++) file = await append(warehouse, index * 100);
    await warehouse.writer.evolveSpec(BY_REGION);
    for (let index = 5; index < 10; index++) await append(warehouse, index * 100);
    const global = await equalityDelete(warehouse, file!, ids(1, 2, 101, 501, 909));
    await commitDeletes(warehouse, [global]);

    const outcome = committed(await keepingRows(warehouse, () => compact(warehouse)));

    assert.equal(outcome.plan.groups.length, 2);
    const { purgedRowCount, carriedRowCount } = deletesOf(outcome);
    assert.equal(purgedRowCount + carriedRowCount, 5);
  });

  it('leaves nothing of a group of which all is deleted', async () => {
    for (const formatVersion of [2, 3] as const) {
      const { warehouse, files } = await twoRegions(formatVersion);
      const [first] = files;
      const all = files.flatMap((_, index) =>
        ids(...Array.from({ length: 20 }, (_, row) => index * 100 + row)),
      );
      await commitDeletes(warehouse, [await equalityDelete(warehouse, first!, all)]);

      const outcome = committed(await keepingRows(warehouse, () => compact(warehouse)));

      const [group] = outcome.groups;
      assert.ok(group?.state === 'committed');
      assert.deepEqual([group.inputFileCount, group.outputFileCount], [6, 0]);
      assert.equal(outcome.after.fileCount, 1);
      assert.equal(deletesOf(outcome).purgedRowCount, 120);
    }
  });

  it('purges what is much, and carries what is little, unless told otherwise', async () => {
    const { warehouse, files } = await twoRegions(3);
    const [one, two] = files;
    await commitDeletes(
      warehouse,
      await vectors(warehouse, [
        { file: one!, positions: [4] },
        { file: two!, positions: [0, 1, 2] },
      ]),
    );

    const outcome = committed(await keepingRows(warehouse, () => compact(warehouse)));

    const { purgedRowCount, carriedRowCount } = deletesOf(outcome);
    assert.deepEqual(
      { purgedRowCount, carriedRowCount },
      { purgedRowCount: 3, carriedRowCount: 1 },
    );
    const [vector] = await liveDeletes(warehouse);
    assert.equal(vector?.kind, 'vector');
    assert.equal(vector.recordCount, 1);
    assert.ok(!files.some(({ dataFile }) => dataFile.filePath === vector.referencedDataFile));
  });

  it('moves the row ids of rows that are carried, purged around, or inherited', async () => {
    const { warehouse, files } = await twoRegions(3);
    const deletes = files.map((file, index) => ({ file, positions: [index, index + 3] }));
    await commitDeletes(warehouse, await vectors(warehouse, deletes));
    await keepingRows(warehouse, () => compact(warehouse));
    for (let index = 0; index < 5; index++) await append(warehouse, 7000 + index * 50, 'eu', 20);
    await commitDeletes(warehouse, [await equalityDelete(warehouse, files[0]!, ids(15, 7000))]);

    const outcome = committed(await keepingRows(warehouse, () => compact(warehouse)));

    // Those of the first output that were carried, and the equality deletes.
    assert.equal(deletesOf(outcome).appliedFileCount, 2);
  });
});

describe('deletes of other writers during a compaction', () => {
  /** Does `work` when the table is loaded for the commit. */
  function overtaken({ catalog }: Warehouse, work: () => Promise<void>): Catalog {
    let loadCount = 0;
    return {
      ...countingCatalog(catalog),
      loadTable: async (identifier) => {
        // The first is for the plan, the second for the commit.
        if (++loadCount === 2) await work();
        return catalog.loadTable(identifier);
      },
    };
  }

  for (const formatVersion of [2, 3] as const) {
    it(`of rows of inputs are carried over to a v${formatVersion} table's outputs, on top of purged and carried ones`, async () => {
      const { warehouse, files } = await twoRegions(formatVersion);
      const [one, two, three] = files;
      const deletesAt = async (positions: readonly (readonly number[])[]) => {
        const all = positions.map((some, index) => ({ file: files[index]!, positions: some }));
        const deletes = all.filter((each) => each.positions.length > 0);
        if (formatVersion === 3) return vectors(warehouse, deletes);
        return Promise.all(
          deletes.map((each) => fileScopedDelete(warehouse, each.file, each.positions)),
        );
      };
      await commitDeletes(warehouse, await deletesAt([[0, 1, 2], [5], []]));
      const removed = (await liveDeletes(warehouse)).map(({ filePath }) => filePath);
      let rowsExpected: readonly string[] = [];
      const catalog = overtaken(warehouse, async () => {
        const isVector = formatVersion === 3;
        // A vector takes the place of the one before; position deletes add up.
        const positions = isVector ? [[0, 1, 2, 9], [5, 6], [19]] : [[9], [6], [19]];
        const deletes = await deletesAt(positions);
        await commitDeletes(warehouse, deletes, isVector ? removed : []);
        rowsExpected = await readRowsSlowly({
          store: warehouse.store,
          metadataLocation: (await warehouse.writer.load()).metadataLocation,
        });
      });

      const outcome = committed(await compact(warehouse, {}, { ports: { catalog } }));

      const { purgedRowCount, carriedRowCount, carriedOverRowCount } = deletesOf(outcome);
      assert.deepEqual(
        { purgedRowCount, carriedRowCount, carriedOverRowCount },
        { purgedRowCount: 3, carriedRowCount: 1, carriedOverRowCount: 3 },
      );
      const { metadataLocation } = await warehouse.writer.load();
      const rows = await readRowsSlowly({ store: warehouse.store, metadataLocation });
      assert.equal(rows.length, 220 - 7);
      assert.deepEqual(rows, rowsExpected);
      for (const file of [one, two, three]) {
        const left = await liveDeletes(warehouse);
        const path = file?.dataFile.filePath;
        assert.ok(!left.some(({ referencedDataFile }) => referencedDataFile === path));
      }
    });
  }

  it('by equality go on applying to the outputs', async () => {
    const { warehouse, files } = await twoRegions(3);
    const [one] = files;
    await commitDeletes(warehouse, [await equalityDelete(warehouse, one!, ids(3))]);
    const catalog = overtaken(warehouse, async () =>
      commitDeletes(warehouse, [await equalityDelete(warehouse, one!, ids(4, 104))]),
    );

    committed(await compact(warehouse, {}, { ports: { catalog } }));

    const { metadataLocation } = await warehouse.writer.load();
    const rows = await readRowsSlowly({ store: warehouse.store, metadataLocation });
    assert.equal(rows.length, 220 - 3);
  });
});

describe('what files are selected for', () => {
  /** Sizes that a file of the table is in range of. */
  const inRange = ({ dataFile: { fileSizeBytes } }: FileOfSpec): OptionTexts => ({
    'target-file-size-bytes': String(fileSizeBytes + 1),
    'min-file-size-bytes': '1',
    'max-file-size-bytes': String(fileSizeBytes * 2),
  });

  it('is a share of exactly 0.3 deleted by a position delete file with equal bounds', async () => {
    const warehouse = await createWarehouse({ properties: VERIFY });
    const file = await append(warehouse, 0);
    const { specId, dataFile } = await fileScopedDelete(warehouse, file, [1, 5, 9]);
    const { referencedDataFile: _, ...byBounds } = dataFile;
    await commitDeletes(warehouse, [{ specId, dataFile: byBounds }]);

    const outcome = committed(
      await keepingRows(warehouse, () => compact(warehouse, inRange(file))),
    );

    assert.deepEqual(
      outcome.plan.groups.map(({ reason, files: [first] }) => [reason, first?.reason]),
      [['deletes', 'delete-ratio']],
    );
    assert.equal(
      outcome.groups[0]?.state === 'committed' && outcome.groups[0].deletes.purgedRowCount,
      3,
    );
    assert.deepEqual(await liveDeletes(warehouse), []);
  });

  it('is no share below, and not two equality deletes', async () => {
    const warehouse = await createWarehouse({ properties: VERIFY });
    const file = await append(warehouse, 0);
    await commitDeletes(warehouse, [await fileScopedDelete(warehouse, file, [1, 5])]);
    for (const id of [2, 3]) {
      await commitDeletes(warehouse, [await equalityDelete(warehouse, file, ids(id))]);
    }

    const outcome = await compact(warehouse, inRange(file));

    assert.equal(outcome.outcome, 'nothing-planned');
  });

  it('is three delete files where three are asked for, and then they are purged whatever was said', async () => {
    const warehouse = await createWarehouse({
      formatVersion: 3,
      properties: { ...VERIFY, 'firn.rewrite-data-files.deletes': 'carry' },
    });
    const file = await append(warehouse, 0, 'eu', 20);
    await commitDeletes(warehouse, await vectors(warehouse, [{ file, positions: [1] }]));
    for (const id of [2, 3]) {
      await commitDeletes(warehouse, [await equalityDelete(warehouse, file, ids(id))]);
    }
    const options = { ...inRange(file), 'delete-file-threshold': '3' };

    const outcome = committed(await keepingRows(warehouse, () => compact(warehouse, options)));

    assert.equal(outcome.plan.groups[0]?.files[0]?.reason, 'delete-file-count');
    const { purgedRowCount, carriedRowCount } = deletesOf(outcome);
    assert.deepEqual(
      { purgedRowCount, carriedRowCount },
      { purgedRowCount: 3, carriedRowCount: 0 },
    );
  });
});

describe('deletes that cannot be applied', () => {
  it('leave their own files alone, by reason, and no others', async () => {
    const { warehouse, files } = await twoRegions(2);
    const [one, two, three] = files;
    const deletes = [
      deleteFileOf(one!, 'position-deletes', {
        fileFormat: 'AVRO',
        filePath: 's3://bucket/db/orders/data/1.avro',
        referencedDataFile: one!.dataFile.filePath,
      }),
      deleteFileOf(two!, 'position-deletes', {
        keyMetadata: new Uint8Array([1]),
        filePath: 's3://bucket/db/orders/data/2.parquet',
        referencedDataFile: two!.dataFile.filePath,
      }),
    ];
    await commitDeletes(warehouse, deletes);
    await commitDeletes(warehouse, [await fileScopedDelete(warehouse, three!, [0, 1])]);

    const outcome = committed(await compact(warehouse, { 'min-input-files': '2' }));

    assert.deepEqual(outcome.plan.skippedFiles, {
      'unsupported-delete-format': { fileCount: 1, bytes: one!.dataFile.fileSizeBytes },
      'encrypted-deletes': { fileCount: 1, bytes: two!.dataFile.fileSizeBytes },
    });
    assert.deepEqual(
      outcome.groups.map((group) => group.state === 'committed' && group.inputFileCount),
      [4, 5],
    );
    assert.equal(deletesOf(outcome).purgedRowCount, 2);
    const left = await liveDeletes(warehouse);
    assert.deepEqual(
      left.map(({ referencedDataFile }) => referencedDataFile),
      [one!.dataFile.filePath, two!.dataFile.filePath],
    );
  });

  it('by a double leave older files of the partition alone', async () => {
    const { warehouse, files } = await twoRegions(2);
    const byAmount = await equalityDelete(warehouse, files[0]!, [{ 3: 0.25 }], [FIELDS[2]]);
    await commitDeletes(warehouse, [byAmount]);

    const outcome = committed(await keepingRows(warehouse, () => compact(warehouse)));

    assert.deepEqual(
      outcome.plan.groups.map(({ partition }) => partition),
      ['region=us'],
    );
    assert.equal(outcome.plan.skippedFiles['unsupported-delete-column']?.fileCount, 6);
  });

  it('as only reading them shows, fail their group and no other', async () => {
    const { warehouse, files } = await twoRegions(2);
    const id = { ...FIELDS[0], type: { kind: 'string' } } as const;
    await commitDeletes(warehouse, [
      await equalityDelete(warehouse, files[0]!, [{ 1: 'one' }], [id]),
    ]);

    const outcome = await compact(warehouse);

    assert.ok(outcome.outcome === 'partial');
    assert.deepEqual(
      outcome.groups.map((group) => [group.state, group.state === 'failed' && group.error.kind]),
      [
        ['failed', 'unsupported'],
        ['committed', false],
      ],
    );
  });
});

describe('a group with deletes', () => {
  it('is not begun where its deletes, once read, leave too little time', async () => {
    const warehouse = await createWarehouse();
    // Long texts, so that decoding them takes longer than looking up keys.
    const rows = Array.from({ length: 20 }, (_, row) => ({
      1: row % 2 === 0 ? 7n : BigInt(row),
      2: Array.from({ length: 200 }, (_, index) => (row * 7919 + index * 104_729) % 9973).join(),
    }));
    let file: FileOfSpec | undefined;
    for (let index = 0; index < 6; index++) {
      [file] = await warehouse.writer.append([{ rows, partition: ['eu'] }]);
    }
    // One key, which half of the rows have.
    await commitDeletes(warehouse, [await equalityDelete(warehouse, file!, ids(7))]);
    const observed = await compact(warehouse, {}, { mode: 'observe' });
    assert.ok(observed.outcome === 'observed');
    const { base, groups } = observed.plan;
    const [group] = groups;
    const copied = { decodedBytes: 0, copiedBytes: group!.inputBytes };
    const enoughToCopyMs = 30_000 + neededMs(copied, group!, base) + 0.01;
    const deadline = deadlineAfter(warehouse.clock, enoughToCopyMs);

    const outcome = await compact(warehouse, {}, { ports: { deadline } });

    assert.ok(outcome.outcome === 'partial');
    assert.deepEqual(outcome.groups, [{ state: 'not-started', groupIndex: 0 }]);
    assert.equal(outcome.requests.openWriter, 0);
  });

  it('holds delete files of a partition only while no other group does', async () => {
    const { warehouse, files } = await twoRegions(2);
    const us = { specId: files[0]!.specId, dataFile: { partition: ['us'] } };
    const deletes = [
      await equalityDelete(warehouse, files[0]!, ids(0, 100)),
      await equalityDelete(warehouse, us, ids(1000, 1100)),
    ];
    await commitDeletes(warehouse, deletes);
    const read: string[] = [];
    const counting = countingStore(warehouse.store);
    const store: ObjectStore = {
      ...counting,
      readRange: (location, offset, lengthBytes) => {
        read.push(location);
        return counting.readRange(location, offset, lengthBytes);
      },
    };

    const outcome = await compact(warehouse, {}, { ports: { store } });

    assert.deepEqual(
      committed(outcome).groups.map(({ state }) => state),
      ['committed', 'committed'],
    );
    const [first, second] = deletes.map(({ dataFile }) => read.indexOf(dataFile.filePath));
    const keysRead = files.map(({ dataFile }) => read.indexOf(dataFile.filePath));
    assert.ok(first! >= 0);
    assert.deepEqual(
      keysRead.map((index) => index > first! && index < second!),
      files.map(() => true),
    );
  });
});
