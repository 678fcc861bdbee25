import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AttachedDeletes,
  createDeleteIndex,
  createPartitionSpec,
  type DataFile,
  type ManifestEntry,
  type Partition,
} from '../../shared/iceberg/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const DATA_PATH = 's3://bucket/t/data/a.parquet';
const FILE_PATH_FIELD_ID = 2147483546;

const SPECS = [
  createPartitionSpec(0, [
    { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
  ]),
  createPartitionSpec(1, []),
  createPartitionSpec(2, [
    { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'void' } },
  ]),
  createPartitionSpec(3, [
    { sourceIds: [2], fieldId: 1001, name: 'zone', transform: { kind: 'identity' } },
  ]),
];

interface EntryOptions {
  readonly sequenceNumber?: bigint;
  readonly specId?: number;
  readonly partition?: Partition;
  readonly fields?: Partial<DataFile>;
}

function entry(content: DataFile['content'], options: EntryOptions = {}): ManifestEntry {
  const { sequenceNumber = 5n, specId = 0, partition = ['eu'], fields = {} } = options;
  return {
    status: 'added',
    snapshotId: 1n,
    dataSequenceNumber: sequenceNumber,
    fileSequenceNumber: sequenceNumber,
    specId,
    dataFile: {
      content,
      filePath: content === 'data' ? DATA_PATH : `deletes-${sequenceNumber}`,
      fileFormat: 'PARQUET',
      partition,
      recordCount: 1,
      fileSizeBytes: 1,
      unknownFields: [],
      ...fields,
    },
    unknownFields: [],
  };
}

function vector(sequenceNumber: bigint, referencedDataFile = DATA_PATH): ManifestEntry {
  return entry('position-deletes', {
    sequenceNumber,
    fields: { fileFormat: 'puffin', referencedDataFile, contentOffset: 4, contentSizeBytes: 9 },
  });
}

function attached(deletes: readonly ManifestEntry[], dataFile: EntryOptions = {}): AttachedDeletes {
  const index = createDeleteIndex(SPECS);
  for (const each of deletes) index.add(each);
  return index.attachedTo(entry('data', dataFile));
}

function counts(attachedDeletes: AttachedDeletes): readonly number[] {
  const { deletionVectors, equalityDeleteFiles, ...position } = attachedDeletes;
  return [
    deletionVectors.length,
    position.fileScopedPositionDeleteFiles.length,
    position.partitionScopedPositionDeleteFiles.length,
    equalityDeleteFiles.length,
  ];
}

describe('createDeleteIndex', () => {
  it('attaches nothing when there are no deletes', () => {
    assert.deepEqual(counts(attached([])), [0, 0, 0, 0]);
  });

  it('attaches a position delete of the same sequence number, and none that is older', () => {
    const same = entry('position-deletes', { sequenceNumber: 5n });
    const older = entry('position-deletes', { sequenceNumber: 4n });

    assert.deepEqual(attached([same, older]).partitionScopedPositionDeleteFiles, [same]);
  });

  it('attaches an equality delete only when it is newer', () => {
    const same = entry('equality-deletes', { sequenceNumber: 5n });
    const newer = entry('equality-deletes', { sequenceNumber: 6n });

    assert.deepEqual(attached([newer, same]).equalityDeleteFiles, [newer]);
  });

  it('keeps deletes within their spec and partition', () => {
    const deletes = (['position-deletes', 'equality-deletes'] as const).flatMap((content) => [
      entry(content, { sequenceNumber: 9n, partition: ['us'] }),
      entry(content, { sequenceNumber: 9n, partition: [null] }),
      entry(content, { sequenceNumber: 9n, specId: 3 }),
    ]);

    assert.deepEqual(counts(attached(deletes)), [0, 0, 0, 0]);
  });

  it('applies equality deletes of an unpartitioned or void spec to every data file', () => {
    const deletes = [
      entry('equality-deletes', { sequenceNumber: 9n, specId: 1, partition: [] }),
      entry('equality-deletes', { sequenceNumber: 9n, specId: 2, partition: [null] }),
    ];

    assert.deepEqual(counts(attached(deletes)), [0, 0, 0, 2]);
  });

  it('does not apply position deletes of an unpartitioned spec to other specs', () => {
    const deletes = [entry('position-deletes', { specId: 1, partition: [] })];

    assert.deepEqual(counts(attached(deletes)), [0, 0, 0, 0]);
  });

  it('finds a file-scoped position delete by its reference', () => {
    const deletes = [
      entry('position-deletes', { fields: { referencedDataFile: DATA_PATH } }),
      entry('position-deletes', { fields: { referencedDataFile: 'another' } }),
    ];

    assert.deepEqual(counts(attached(deletes)), [0, 1, 0, 0]);
  });

  it('finds a file-scoped position delete by equal path bounds', () => {
    const bounds = (path: string) =>
      new Map([[FILE_PATH_FIELD_ID, new TextEncoder().encode(path)]]);
    const scoped = { lowerBounds: bounds(DATA_PATH), upperBounds: bounds(DATA_PATH) };
    const wide = { lowerBounds: bounds(DATA_PATH), upperBounds: bounds('z') };

    const found = attached([
      entry('position-deletes', { fields: scoped }),
      entry('position-deletes', { fields: wide }),
    ]);

    assert.deepEqual(counts(found), [0, 1, 1, 0]);
  });

  it('lets a deletion vector stand for all position deletes', () => {
    const deletes = [
      vector(7n),
      entry('position-deletes', { fields: { referencedDataFile: DATA_PATH } }),
      entry('position-deletes'),
      entry('equality-deletes', { sequenceNumber: 8n }),
    ];

    assert.deepEqual(counts(attached(deletes)), [1, 0, 0, 1]);
  });

  it('refuses a deletion vector that is older than its data file', () => {
    assert.throws(() => attached([vector(4n)]), errorOfKind('invalid-data', /older than/));
  });

  it('refuses a deletion vector that names no data file', () => {
    const { referencedDataFile: _, ...fields } = vector(7n).dataFile;

    assert.throws(
      () => attached([{ ...vector(7n), dataFile: fields }]),
      errorOfKind('invalid-data', /without referenced_data_file/),
    );
  });

  it('finds the newer of many deletes added in any order', () => {
    const deletes = [9n, 2n, 7n, 5n, 6n, 3n].map((sequenceNumber) =>
      entry('equality-deletes', { sequenceNumber }),
    );

    assert.deepEqual(
      attached(deletes).equalityDeleteFiles.map((each) => each.dataSequenceNumber),
      [6n, 7n, 9n],
    );
  });
});
