import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serializeJson } from '../../../shared/base/index.ts';
import { planToJson } from '../../../shared/operations/rewrite-deletes/json.ts';
import type { RewriteDeletesPlan } from '../../../shared/operations/rewrite-deletes/plan.ts';
import { dataFile, deleteFile, place, plan } from './plan-fixture.ts';

const ALL = { 'rewrite-all': 'true' };
const V2 = { formatVersion: 2 } as const;

function filePaths({ groups }: RewriteDeletesPlan): string[][] {
  return groups.map(({ partitions }) =>
    partitions.flatMap(({ files }) => files.map(({ filePath }) => filePath)),
  );
}

function removedKeys({ groups }: RewriteDeletesPlan): string[] {
  return groups.flatMap(({ removed }) => removed.map(({ deleteKey }) => deleteKey));
}

function reasons({ groups }: RewriteDeletesPlan): string[] {
  return groups.flatMap((group) => group.reasons);
}

describe('position deletes, v3', () => {
  const many = ['p1', 'p2', 'p3', 'p4', 'p5'];
  const fiveDeletes = many.map((name) =>
    deleteFile(name, 'file-scoped', { recordCount: 1, referencedDataFile: 'a' }),
  );

  it('are folded from five delete files in a partition on, not from four', () => {
    const five = plan({
      deletes: fiveDeletes,
      files: [dataFile('a', { fileScopedKeys: many })],
    });
    const four = plan({
      deletes: fiveDeletes.slice(1),
      files: [dataFile('a', { fileScopedKeys: many.slice(1) })],
    });

    assert.deepEqual(filePaths(five), [['a']]);
    assert.deepEqual(reasons(five), ['delete-file-count']);
    assert.deepEqual(five.groups[0]?.removedFileCount, 5);
    assert.deepEqual(four.groups, []);
    assert.deepEqual(four.skipped, {
      'below-thresholds': { partitionCount: 1, deleteFileCount: 4 },
    });
  });

  it('are folded once their rows are a tenth of the partition, exactly', () => {
    const of = (recordCount: number) =>
      plan({
        deletes: [deleteFile('p', 'file-scoped', { recordCount, referencedDataFile: 'a' })],
        files: [dataFile('a', { fileScopedKeys: ['p'] })],
      });

    assert.deepEqual(reasons(of(100)), ['delete-ratio']);
    assert.deepEqual(reasons(of(99)), []);
  });

  it('are folded once delete manifests weigh half as much as data manifests, from 256 KiB on', () => {
    const of = (deleteManifestBytes: number, dataManifestBytes: number) =>
      plan({
        deletes: [deleteFile('p', 'file-scoped', { referencedDataFile: 'a' })],
        files: [dataFile('a', { fileScopedKeys: ['p'] })],
        manifests: { deleteManifestBytes, dataManifestBytes },
      });

    assert.deepEqual(reasons(of(262_144, 524_288)), ['delete-manifest-ratio']);
    assert.deepEqual(reasons(of(262_143, 524_286)), []);
    assert.deepEqual(reasons(of(262_144, 524_289)), []);
  });

  it('of several data files leave the table once all of these are given a vector', () => {
    const planned = plan(
      {
        deletes: [deleteFile('p', 'partition-scoped')],
        files: ['b', 'a'].map((name) => dataFile(name, { partitionScopedKeys: ['p'] })),
      },
      ALL,
    );

    assert.deepEqual(filePaths(planned), [['a', 'b']]);
    assert.deepEqual(removedKeys(planned), ['p']);
  });

  it('do not take a data file along that has a vector, but say that it keeps it', () => {
    const planned = plan(
      {
        deletes: [
          deleteFile('p', 'partition-scoped'),
          deleteFile('v', 'vector', { referencedDataFile: 'b' }),
        ],
        files: [
          dataFile('a', { partitionScopedKeys: ['p'] }),
          dataFile('b', { vectorKeys: ['v'] }),
          dataFile('younger', { dataSequenceNumber: 3n }),
        ],
      },
      ALL,
    );

    assert.deepEqual(filePaths(planned), [['a']]);
    assert.deepEqual(planned.groups[0]?.partitions[0]?.keptPaths, ['b']);
    assert.deepEqual(planned.groups[0]?.removedFileCount, 1);
  });

  it('in Avro or ORC are left alone, with whatever else the partition has', () => {
    const planned = plan(
      {
        deletes: [
          deleteFile('p', 'partition-scoped', { unreadable: 'unsupported-format' }),
          deleteFile('e', 'equality'),
        ],
        files: [dataFile('a', { partitionScopedKeys: ['p'], equalityDeleteCount: 1 })],
      },
      ALL,
    );

    assert.deepEqual(planned.groups, []);
    assert.deepEqual(planned.skipped, {
      'unsupported-format': { partitionCount: 1, deleteFileCount: 2 },
    });
  });
});

describe('position deletes, v2', () => {
  it('of one data file are merged where there are two, and left where there is one', () => {
    const planned = plan(
      {
        deletes: ['p1', 'p2', 'p3'].map((name) => deleteFile(name, 'file-scoped')),
        files: [
          dataFile('a', { fileScopedKeys: ['p1', 'p2'] }),
          dataFile('b', { fileScopedKeys: ['p3'] }),
        ],
      },
      ALL,
      V2,
    );

    assert.deepEqual(filePaths(planned), [['a']]);
    assert.deepEqual(planned.groups[0]?.removedFileCount, 2);
  });

  it('of a partition are split where the table wants one file a data file, and left otherwise', () => {
    const scanned = {
      deletes: [deleteFile('p', 'partition-scoped')],
      files: [dataFile('a', { partitionScopedKeys: ['p'] })],
    };

    assert.deepEqual(plan(scanned, ALL, V2).groups, []);
    const split = plan(scanned, ALL, { ...V2, splitsPartitionScoped: true });
    assert.deepEqual(filePaths(split), [['a']]);
    assert.deepEqual(removedKeys(split), ['p']);
  });
});

describe('equality deletes', () => {
  const five = ['e1', 'e2', 'e3', 'e4', 'e5'].map((name) =>
    deleteFile(name, 'equality', { recordCount: 1 }),
  );

  it('are converted from five on, for all data files that are older', () => {
    const planned = plan({
      deletes: five,
      files: [
        dataFile('old', { equalityDeleteCount: 5 }),
        dataFile('new', { dataSequenceNumber: 2n }),
      ],
    });

    assert.deepEqual(reasons(planned), ['equality-delete-file-count']);
    assert.deepEqual(filePaths(planned), [['old']]);
    assert.equal(planned.groups[0]?.partitions[0]?.isConverted, true);
    assert.deepEqual(removedKeys(planned), ['e1', 'e2', 'e3', 'e4', 'e5']);
    assert.equal(
      plan({ deletes: five.slice(1), files: [dataFile('old', { equalityDeleteCount: 4 })] }).groups
        .length,
      0,
    );
  });

  it('of all partitions are converted in one group that covers every older data file', () => {
    const planned = plan(
      {
        deletes: [deleteFile('e', 'equality', { isGlobal: true, specId: 0, partitionKey: '0:' })],
        files: [
          dataFile('a', { ...place('eu'), equalityDeleteCount: 1 }),
          dataFile('b', { ...place('us'), equalityDeleteCount: 1 }),
          dataFile('c', { ...place('asia'), dataSequenceNumber: 2n }),
        ],
      },
      ALL,
    );

    assert.deepEqual(filePaths(planned), [['a', 'b']]);
    assert.deepEqual(removedKeys(planned), ['e']);
  });

  it('of all partitions wait until none of them is warm; those of a partition alone do not', () => {
    const planned = plan(
      {
        deletes: [
          deleteFile('global', 'equality', { isGlobal: true, specId: 0, partitionKey: '0:' }),
          deleteFile('own', 'equality', place('eu')),
        ],
        files: [
          dataFile('a', { ...place('eu'), equalityDeleteCount: 2 }),
          dataFile('b', { ...place('us'), equalityDeleteCount: 1, dueAtMs: 77 }),
        ],
      },
      ALL,
    );

    assert.deepEqual(filePaths(planned), [['a']]);
    assert.deepEqual(removedKeys(planned), ['own']);
    assert.deepEqual(planned.skipped, {
      'others-not-ready': { partitionCount: 1, deleteFileCount: 1 },
      'too-warm': { partitionCount: 1, deleteFileCount: 1 },
    });
    assert.equal(planned.dueAtMs, 77);
  });

  it('by columns that have no equality are left, and position deletes beside them are not', () => {
    const planned = plan(
      {
        deletes: [
          deleteFile('e', 'equality', { unreadable: 'unsupported-column' }),
          deleteFile('p', 'file-scoped'),
        ],
        files: [dataFile('a', { fileScopedKeys: ['p'], equalityDeleteCount: 1 })],
      },
      ALL,
    );

    assert.deepEqual(filePaths(planned), [['a']]);
    assert.equal(planned.groups[0]?.partitions[0]?.isConverted, false);
    assert.deepEqual(removedKeys(planned), []);
    assert.deepEqual(planned.skipped, {
      'unsupported-column': { partitionCount: 1, deleteFileCount: 1 },
    });
  });
});

describe('dangling deletes', () => {
  it('are those that no live data file needs, of each kind', () => {
    const planned = plan({
      deletes: [
        deleteFile('equal', 'equality', { dataSequenceNumber: 5n }),
        deleteFile('needed', 'equality', { dataSequenceNumber: 6n, recordCount: 1 }),
        deleteFile('vector', 'vector', { referencedDataFile: 'gone' }),
        deleteFile('file', 'file-scoped', { referencedDataFile: 'gone' }),
        deleteFile('partition', 'partition-scoped', place('empty')),
      ],
      files: [dataFile('a', { dataSequenceNumber: 5n, equalityDeleteCount: 1 })],
    });

    assert.deepEqual(removedKeys(planned).sort(), ['equal', 'file', 'partition', 'vector']);
    assert.deepEqual([...new Set(reasons(planned))], ['dangling']);
  });

  it('do not count a global equality delete that older files of another spec need', () => {
    const global = { isGlobal: true, specId: 0, partitionKey: '0:', partition: '' };
    const needed = plan({
      deletes: [deleteFile('e', 'equality', global)],
      files: [dataFile('a', { equalityDeleteCount: 1 })],
    });
    const dangling = plan({
      deletes: [deleteFile('e', 'equality', global)],
      files: [dataFile('a', { dataSequenceNumber: 2n })],
    });

    assert.deepEqual(removedKeys(needed), []);
    assert.deepEqual(removedKeys(dangling), ['e']);
  });

  it('are position deletes that a vector has taken over, whose data file keeps it', () => {
    const planned = plan({
      deletes: [
        deleteFile('p', 'file-scoped', { referencedDataFile: 'a' }),
        deleteFile('v', 'vector', { referencedDataFile: 'a' }),
      ],
      files: [dataFile('a', { vectorKeys: ['v'] })],
    });

    assert.deepEqual(removedKeys(planned), ['p']);
    assert.deepEqual(planned.groups[0]?.partitions[0]?.keptPaths, ['a']);
  });
});

describe('Puffin files', () => {
  const vector = (
    name: string,
    contentSizeBytes: number,
    fileSizeBytes: number,
    puffin = 'puffin',
  ) =>
    deleteFile(`${puffin} ${name}`, 'vector', {
      filePath: puffin,
      fileSizeBytes,
      contentSizeBytes,
      referencedDataFile: name,
    });

  it('are emptied from half garbage on; their footers are none', () => {
    const of = (fileSizeBytes: number) =>
      plan({
        deletes: [vector('a', 1_000, fileSizeBytes)],
        files: [dataFile('a', { vectorKeys: ['puffin a'] })],
      });

    // 1,000 of the blob, 221 of its line in the footer, 150 around it.
    assert.deepEqual(of(2_741).groups, []);
    const copied = of(2_742);
    assert.deepEqual(reasons(copied), ['puffin-garbage']);
    assert.deepEqual(
      copied.groups[0]?.copies.map(({ deleteKey, dataSequenceNumber }) => [
        deleteKey,
        dataSequenceNumber,
      ]),
      [['puffin a', 2n]],
    );
  });

  it('are not emptied as long as one of their vectors is in a warm partition', () => {
    const planned = plan({
      deletes: [
        vector('a', 100, 9_000),
        { ...vector('b', 100, 9_000), ...place('us'), dueAtMs: 5 },
      ],
      files: [
        dataFile('a', { vectorKeys: ['puffin a'] }),
        dataFile('b', { ...place('us'), dueAtMs: 5, vectorKeys: ['puffin b'] }),
      ],
    });

    assert.deepEqual(planned.groups, []);
    assert.deepEqual(planned.skipped, { 'too-warm': { partitionCount: 0, deleteFileCount: 2 } });
  });

  it('do not give up vectors that other groups replace', () => {
    const planned = plan(
      {
        deletes: [vector('a', 100, 9_000), vector('b', 100, 9_000), deleteFile('e', 'equality')],
        files: [
          dataFile('a', { vectorKeys: ['puffin a'], equalityDeleteCount: 1 }),
          dataFile('b', { ...place('us'), vectorKeys: ['puffin b'] }),
        ],
      },
      ALL,
    );

    assert.deepEqual(
      planned.groups.map(({ copies }) =>
        copies.map(({ referencedDataFile }) => referencedDataFile),
      ),
      [[], ['b']],
    );
  });

  it('share a new one up to the target size', () => {
    const deletes = ['a', 'b', 'c'].map((name) => vector(name, 1_000, 9_000, `puffin-${name}`));
    const files = ['a', 'b', 'c'].map((name) =>
      dataFile(name, { vectorKeys: [`puffin-${name} ${name}`] }),
    );

    const planned = plan({ deletes, files }, { 'target-file-size-bytes': '3000' });

    assert.deepEqual(
      planned.groups.map(({ copies }) => copies.length),
      [2, 1],
    );
  });
});

describe('what is left alone', () => {
  it('is a partition that was touched lately, dangling deletes included', () => {
    const warm = { ...place('eu'), dueAtMs: 123 };
    const planned = plan(
      {
        deletes: [
          deleteFile('p', 'file-scoped', warm),
          deleteFile('gone', 'file-scoped', { ...warm, referencedDataFile: 'gone' }),
        ],
        files: [dataFile('a', { ...warm, fileScopedKeys: ['p'] })],
      },
      ALL,
    );

    assert.deepEqual(planned.groups, []);
    assert.deepEqual(planned.skipped, { 'too-warm': { partitionCount: 1, deleteFileCount: 2 } });
    assert.equal(planned.dueAtMs, 123);
  });

  it('is a partition whose spec cannot be written, or whose files cannot be told apart', () => {
    const unknown = { ...place('eu'), isSpecWritable: false };
    const planned = plan(
      {
        deletes: [
          deleteFile('p', 'file-scoped', unknown),
          deleteFile('q', 'file-scoped', place('us')),
          deleteFile('v', 'vector', { ...place('asia'), referencedDataFile: 'c' }),
          deleteFile('w', 'vector', { ...place('asia'), referencedDataFile: 'c' }),
          deleteFile('e', 'equality', place('asia')),
        ],
        files: [
          dataFile('a', { ...unknown, fileScopedKeys: ['p'] }),
          dataFile('b', { ...place('us'), fileScopedKeys: ['q'] }),
          dataFile('b', { ...place('us'), fileScopedKeys: ['q'] }),
          dataFile('c', { ...place('asia'), vectorKeys: ['v', 'w'], equalityDeleteCount: 1 }),
        ],
      },
      ALL,
    );

    assert.deepEqual(planned.groups, []);
    assert.deepEqual(planned.skipped['unsupported-spec'], {
      partitionCount: 1,
      deleteFileCount: 1,
    });
    assert.deepEqual(planned.skipped['referenced-twice'], {
      partitionCount: 2,
      deleteFileCount: 2,
    });
  });

  it('is what exceeds the budget, but for the first group', () => {
    const deletes = ['eu', 'us'].map((region) =>
      deleteFile(region, 'partition-scoped', place(region)),
    );
    const files = ['eu', 'us'].flatMap((region) =>
      ['1', '2'].map((name) =>
        dataFile(`${region}${name}`, { ...place(region), partitionScopedKeys: [region] }),
      ),
    );

    const planned = plan({ deletes, files }, { ...ALL, 'max-files-to-rewrite': '1' });

    assert.deepEqual(filePaths(planned), [['eu1', 'eu2']]);
    assert.deepEqual(planned.skipped, {
      'max-files-to-rewrite': { partitionCount: 1, deleteFileCount: 1 },
    });
  });
});

describe('a plan', () => {
  it('does not depend on the order of files, and is JSON', () => {
    const deletes = [
      deleteFile('e', 'equality', place('us')),
      deleteFile('p', 'partition-scoped'),
      deleteFile('v', 'vector', { filePath: 'q', referencedDataFile: 'd', fileSizeBytes: 9_000 }),
      deleteFile('g', 'equality', { isGlobal: true, specId: 0, partitionKey: '0:' }),
    ];
    const files = [
      dataFile('a', { partitionScopedKeys: ['p'], equalityDeleteCount: 1 }),
      dataFile('b', { ...place('us'), equalityDeleteCount: 2 }),
      dataFile('c', { partitionScopedKeys: ['p'], equalityDeleteCount: 1 }),
      dataFile('d', { vectorKeys: ['v'], dataSequenceNumber: 2n }),
    ];

    const one = plan({ deletes, files }, ALL);
    const other = plan({ deletes: deletes.toReversed(), files: files.toReversed() }, ALL);

    assert.deepEqual(other, one);
    assert.ok(one.groups.length > 0);
    assert.equal(serializeJson(planToJson(one)), serializeJson(planToJson(other)));
  });
});
