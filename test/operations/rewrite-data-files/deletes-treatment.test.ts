import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DataFile } from '../../../shared/iceberg/index.ts';
import {
  chooseTreatment,
  deletedShare,
  expectedWork,
} from '../../../shared/operations/rewrite-data-files/deletes-treatment.ts';
import type { FileDeletes } from '../../../shared/operations/rewrite-data-files/file-deletes.ts';
import type {
  PlannedFile,
  PlannedGroup,
} from '../../../shared/operations/rewrite-data-files/group-files.ts';
import {
  type DeletesTreatment,
  type PlanBase,
  parseRewriteDataFilesOptions,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { neededMs } from '../../../shared/operations/rewrite-data-files/needed-time.ts';
import { RoaringBitmap } from '../../../shared/roaring/index.ts';

const MIB = 1024 ** 2;
const options = parseRewriteDataFilesOptions({}, 512 * MIB);
const NONE = { fileCount: 0, rowCount: 0, bytes: 0 };

/** Of 1000 rows in one row group of 1 MiB. */
function file(other: Partial<PlannedFile> = {}): PlannedFile {
  return {
    filePath: 's3://bucket/t/data/0.parquet',
    manifestPath: 's3://bucket/t/metadata/m0.avro',
    fileSizeBytes: MIB,
    recordCount: 1000,
    dataSequenceNumber: 1n,
    reason: 'too-small',
    ...other,
  };
}

function fileScoped(rowCount: number): { readonly deletes: FileDeletes } {
  const tally = { fileCount: 1, rowCount, bytes: 100 };
  return { deletes: { fileScoped: tally, partitionScoped: NONE, equality: NONE } };
}

function group(files: readonly PlannedFile[]): PlannedGroup {
  return {
    groupIndex: 0,
    specId: 0,
    partitionKey: '0',
    partition: '',
    files,
    inputBytes: files.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0),
    recordCount: files.reduce((sum, { recordCount }) => sum + recordCount, 0),
    outputSizeBytes: 512 * MIB,
    outputFileCountExpected: 1,
    reason: 'enough-input-files',
  };
}

function base(deletesTreatment: DeletesTreatment, verifiesRows = false): PlanBase {
  return {
    tableUuid: undefined,
    metadataLocation: 'm',
    branch: 'main',
    startingSnapshotId: 1n,
    startingSequenceNumber: 1n,
    formatVersion: 3,
    verifiesRows,
    deletesTreatment,
  };
}

/** The treatment of a file of which the first rows are deleted. */
function treatment(
  deletedCount: number,
  asked: DeletesTreatment,
  reason: PlannedFile['reason'] = 'too-small',
) {
  const planned = file({ reason });
  const dataFile: DataFile = {
    content: 'data',
    filePath: planned.filePath,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: planned.recordCount,
    fileSizeBytes: MIB,
    splitOffsets: [0],
    unknownFields: [],
  };
  const positions = RoaringBitmap.fromPositions(
    Array.from({ length: deletedCount }, (_, position) => position),
    'test',
  );
  const share = deletedShare(dataFile, positions, group([planned]));
  return chooseTreatment(planned, share, { asked, options });
}

describe('chooseTreatment', () => {
  it('takes what is cheaper where nothing was asked for: a tenth of the rows', () => {
    assert.deepEqual([treatment(99, 'auto'), treatment(100, 'auto')], ['carry', 'purge']);
  });

  it('does what was asked for', () => {
    assert.deepEqual([treatment(1, 'purge'), treatment(299, 'carry')], ['purge', 'carry']);
  });

  it('purges what the output would be selected for again, whatever was asked for', () => {
    assert.equal(treatment(300, 'carry'), 'purge');
    assert.equal(treatment(1, 'carry', 'delete-ratio'), 'purge');
    assert.equal(treatment(1, 'carry', 'delete-file-count'), 'purge');
  });
});

describe('expectedWork', () => {
  const work = (files: readonly PlannedFile[], asked: DeletesTreatment = 'auto') =>
    expectedWork(group(files), { base: base(asked), options });

  it('copies files without deletes', () => {
    assert.deepEqual(work([file(), file()]), {
      decodedBytes: 0,
      copiedBytes: 2 * MIB,
      carriedFileCount: 0,
    });
  });

  it('decodes what is to be purged, copies what is to be carried, and does neither with what is gone', () => {
    assert.deepEqual(work([file(fileScoped(100)), file(fileScoped(99)), file(fileScoped(1000))]), {
      decodedBytes: MIB,
      copiedBytes: MIB,
      carriedFileCount: 1,
    });
    assert.deepEqual(work([file(fileScoped(99))], 'purge').decodedBytes, MIB);
    assert.deepEqual(work([file(fileScoped(299))], 'carry').carriedFileCount, 1);
  });

  it('spreads deletes of the whole partition over the rows of the group', () => {
    const deletes = (rowCount: number): FileDeletes => ({
      fileScoped: NONE,
      partitionScoped: NONE,
      equality: { fileCount: 1, rowCount, bytes: 100 },
    });

    const few = work([file({ deletes: deletes(199) }), file({ deletes: deletes(199) })]);
    const many = work([file({ deletes: deletes(200) }), file({ deletes: deletes(200) })]);

    assert.deepEqual([few.decodedBytes, many.decodedBytes], [0, 2 * MIB]);
  });
});

describe('neededMs', () => {
  const copied = { decodedBytes: 0, copiedBytes: 16 * MIB };
  const decoded = { decodedBytes: 9 * MIB, copiedBytes: 0 };

  it('takes 16 MiB a second for what is copied, and 9 for what is purged', () => {
    assert.equal(neededMs(copied, group([file()]), base('auto')), 1024);
    assert.equal(neededMs(decoded, group([file()]), base('auto')), 1024);
  });

  it('adds the time to read all rows again, and to look up keys', () => {
    const equality = { fileCount: 1, rowCount: 1, bytes: 100 };
    const deletes = { fileScoped: NONE, partitionScoped: NONE, equality };

    assert.equal(neededMs(copied, group([file()]), base('auto', true)), 1024 + 64);
    assert.equal(neededMs(copied, group([file({ deletes })]), base('auto')), 1024 + 2.5);
  });
});
