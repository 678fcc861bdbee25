import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson, serializeJson } from '../../../shared/base/index.ts';
import type { OptionTexts } from '../../../shared/maintenance/index.ts';
import type { FileDeletes } from '../../../shared/operations/rewrite-data-files/file-deletes.ts';
import { parseRewriteDataFilesOptions } from '../../../shared/operations/rewrite-data-files/options.ts';
import {
  createPlanBuilder,
  type PlanBase,
  type RewriteDataFilesPlan,
} from '../../../shared/operations/rewrite-data-files/plan.ts';
import { planToJson } from '../../../shared/operations/rewrite-data-files/plan-json.ts';
import type { ScannedFile } from '../../../shared/operations/rewrite-data-files/select.ts';

const BASE: PlanBase = {
  tableUuid: '00000000-0000-4000-8000-000000000000',
  metadataLocation: 's3://bucket/t/metadata/00001-a.metadata.json',
  branch: 'main',
  startingSnapshotId: 11n,
  startingSequenceNumber: 3n,
  verifiesRows: false,
  formatVersion: 2,
  deletesTreatment: 'auto',
};

/** A file of `bytes` at a target of 100, in row groups of the given sizes. */
function file(name: string, bytes: number, other: Partial<ScannedFile> = {}): ScannedFile {
  return {
    filePath: `s3://bucket/t/data/${name}.parquet`,
    manifestPath: 's3://bucket/t/metadata/m0.avro',
    isParquet: true,
    isEncrypted: false,
    isSpecWritable: true,
    fileSizeBytes: bytes,
    recordCount: bytes,
    specId: 0,
    partitionKey: '0:',
    partition: '',
    dataSequenceNumber: 1n,
    fileSequenceNumber: 1n,
    splitOffsets: [0],
    ...other,
  };
}

function files(count: number, bytes: number, other: Partial<ScannedFile> = {}): ScannedFile[] {
  return Array.from({ length: count }, (_, index) =>
    file(`${other.partition ?? 'f'}${100 + index}`, bytes, other),
  );
}

/** Rows of one file-scoped delete; files and rows of the other kinds. Each file has 100 bytes. */
function deletesOf({
  fileScoped = 0,
  partitionScoped = [0, 0],
  equality = [0, 0],
}: {
  readonly fileScoped?: number;
  readonly partitionScoped?: readonly [number, number];
  readonly equality?: readonly [number, number];
}): FileDeletes {
  const tally = ([fileCount, rowCount]: readonly [number, number]) => ({
    fileCount,
    rowCount,
    bytes: 100 * fileCount,
  });
  return {
    fileScoped: tally([fileScoped === 0 ? 0 : 1, fileScoped]),
    partitionScoped: tally(partitionScoped),
    equality: tally(equality),
  };
}

function plan(scanned: readonly ScannedFile[], texts: OptionTexts = {}): RewriteDataFilesPlan {
  const options = parseRewriteDataFilesOptions({ 'target-file-size-bytes': '100', ...texts }, 100);
  const builder = createPlanBuilder(BASE, options);
  for (const scannedFile of scanned) builder.add(scannedFile);
  return builder.build();
}

function groupedNames(result: RewriteDataFilesPlan): readonly (readonly string[])[] {
  return result.groups.map((group) =>
    group.files.map((planned) => planned.filePath.replace(/.*\/|\.parquet$/g, '')),
  );
}

describe('createPlanBuilder', () => {
  it('plans nothing for no files', () => {
    const result = plan([]);

    assert.deepEqual(result.groups, []);
    assert.deepEqual(result.skippedFiles, {});
    assert.deepEqual(result.scanned, { fileCount: 0, bytes: 0 });
  });

  it('groups five small files, says why, and forecasts the output', () => {
    const result = plan(files(5, 10));

    assert.equal(result.groups.length, 1);
    const group = result.groups[0]!;
    assert.equal(group.reason, 'enough-input-files');
    assert.equal(group.inputBytes, 50);
    assert.equal(group.recordCount, 50);
    assert.equal(group.outputSizeBytes, 140);
    assert.equal(group.outputFileCountExpected, 1);
    assert.deepEqual(new Set(group.files.map((planned) => planned.reason)), new Set(['too-small']));
  });

  it('leaves four small files whose content is within the target alone', () => {
    const result = plan(files(4, 25));

    assert.deepEqual(result.groups, []);
    assert.deepEqual(result.skippedGroups, {
      'too-few-files': { groupCount: 1, fileCount: 4, bytes: 100 },
    });
  });

  it('groups two files with more content than the target', () => {
    const result = plan(files(2, 51));

    assert.equal(result.groups[0]?.reason, 'enough-content');
  });

  it('leaves sizes equal to either bound alone', () => {
    const result = plan([file('low', 75), file('high', 180)]);

    assert.deepEqual(result.skippedFiles, { 'size-in-range': { fileCount: 2, bytes: 255 } });
  });

  it('splits a single file above the maximum', () => {
    const result = plan([file('big', 181, { splitOffsets: [0, 90] })]);

    assert.equal(result.groups[0]?.reason, 'too-much-content');
    assert.equal(result.groups[0]?.outputFileCountExpected, 2);
  });

  it('cuts a row group that is larger than an output by rows', () => {
    const result = plan([file('big', 300)]);

    assert.equal(result.groups[0]?.reason, 'too-much-content');
    assert.equal(result.groups[0]?.outputFileCountExpected, 3);
  });

  it('leaves a file above the maximum alone when it is a single row', () => {
    const result = plan([file('big', 181, { recordCount: 1 })]);

    assert.deepEqual(result.skippedGroups, {
      'no-gain': { groupCount: 1, fileCount: 1, bytes: 181 },
    });
  });

  it('leaves files alone whose row groups would make as many files again', () => {
    // Any two of them exceed the largest output of 1.1 times the target.
    const result = plan(files(6, 60), { 'max-file-size-bytes': '120' });

    assert.deepEqual(result.skippedGroups, {
      'no-gain': { groupCount: 1, fileCount: 6, bytes: 360 },
    });
  });

  it('leaves a single small file alone even with min-input-files of one', () => {
    const result = plan([file('small', 10)], { 'min-input-files': '1' });

    assert.deepEqual(result.groups, []);
  });

  it('never mixes specs or partitions', () => {
    const scanned = [
      ...files(5, 10, { specId: 0, partitionKey: '0:s2:eu;', partition: 'region=eu' }),
      ...files(5, 11, { specId: 0, partitionKey: '0:s2:us;', partition: 'region=us' }),
      ...files(5, 12, { specId: 1, partitionKey: '1:s2:eu;', partition: 'zone=eu' }),
    ];

    const result = plan(scanned);

    assert.deepEqual(
      result.groups.map((group) => [group.specId, group.partition, group.inputBytes]),
      [
        [0, 'region=eu', 50],
        [0, 'region=us', 55],
        [1, 'zone=eu', 60],
      ],
    );
  });

  it('closes a group at its bytes and at its file count', () => {
    const byBytes = plan(files(12, 10), { 'max-file-group-size-bytes': '60' });
    const byFiles = plan(files(12, 10), { 'max-file-group-input-files': '6' });

    assert.deepEqual(
      byBytes.groups.map((group) => group.files.length),
      [6, 6],
    );
    assert.deepEqual(groupedNames(byBytes), groupedNames(byFiles));
  });

  it('orders files by age and then by path', () => {
    const result = plan([
      ...files(4, 10),
      file('a-young', 10, { dataSequenceNumber: 2n }),
      file('z-old', 10, { dataSequenceNumber: 0n }),
    ]);

    assert.deepEqual(groupedNames(result), [['z-old', 'f100', 'f101', 'f102', 'f103', 'a-young']]);
  });

  it('skips what it must not touch, by reason', () => {
    const deletes = deletesOf({ fileScoped: 27 });
    const result = plan([
      file('orc', 10, { isParquet: false }),
      file('secret', 10, { isEncrypted: true }),
      file('strange', 10, { isSpecWritable: false }),
      file('avro-deletes', 60, { deletes, deletesFlaw: 'unsupported-delete-format' }),
      file('float-key', 61, { deletes, deletesFlaw: 'unsupported-delete-column' }),
      file('secret-deletes', 62, { deletes, deletesFlaw: 'encrypted-deletes' }),
      file('two-vectors', 63, { deletes, deletesFlaw: 'two-vectors' }),
      file('young', 100, { deletes: deletesOf({ fileScoped: 30 }), dueAtMs: 7 }),
    ]);

    assert.deepEqual(result.groups, []);
    assert.equal(result.dueAtMs, 7);
    assert.deepEqual(result.skippedFiles, {
      'unsupported-format': { fileCount: 1, bytes: 10 },
      encrypted: { fileCount: 1, bytes: 10 },
      'unsupported-spec': { fileCount: 1, bytes: 10 },
      'unsupported-delete-format': { fileCount: 1, bytes: 60 },
      'unsupported-delete-column': { fileCount: 1, bytes: 61 },
      'encrypted-deletes': { fileCount: 1, bytes: 62 },
      'two-vectors': { fileCount: 1, bytes: 63 },
      'too-young': { fileCount: 1, bytes: 100 },
    });
  });

  it('leaves only the files alone whose deletes it cannot apply', () => {
    const deletes = deletesOf({ equality: [1, 3] });
    const result = plan([
      ...files(5, 10, { deletes }),
      file('float-key', 10, { deletes, deletesFlaw: 'unsupported-delete-column' }),
    ]);

    assert.deepEqual(groupedNames(result), [['f100', 'f101', 'f102', 'f103', 'f104']]);
    assert.deepEqual(result.skippedFiles, {
      'unsupported-delete-column': { fileCount: 1, bytes: 10 },
    });
  });

  it('leaves a path alone that is referenced twice', () => {
    const result = plan([...files(6, 10), file('f101', 10, { manifestPath: 'm1' })]);

    assert.deepEqual(groupedNames(result), [['f100', 'f102', 'f103', 'f104', 'f105']]);
    assert.deepEqual(result.skippedFiles, { 'referenced-twice': { fileCount: 2, bytes: 20 } });
  });

  it('selects by delete ratio at exactly 0.3 and by delete file count', () => {
    const below = file('below', 100, { deletes: deletesOf({ fileScoped: 29 }) });
    const at = file('at', 100, { deletes: deletesOf({ fileScoped: 30 }) });
    const equalities = file('equalities', 100, { deletes: deletesOf({ equality: [2, 60] }) });
    const shared = file('shared', 100, { deletes: deletesOf({ partitionScoped: [2, 60] }) });

    assert.deepEqual(plan([below, equalities, shared]).skippedFiles, {
      'size-in-range': { fileCount: 3, bytes: 300 },
    });
    const byRatio = plan([at]).groups;
    assert.deepEqual(
      byRatio.map(({ reason, files: [first] }) => [reason, first?.reason]),
      [['deletes', 'delete-ratio']],
    );
    const byCount = plan([below, equalities, shared], { 'delete-file-threshold': '2' });
    assert.deepEqual(groupedNames(byCount), [['equalities', 'shared']]);
    assert.deepEqual(
      byCount.groups[0]?.files.map(({ reason }) => reason),
      ['delete-file-count', 'delete-file-count'],
    );
  });

  it('counts no more deleted rows than a file has', () => {
    const deletes = deletesOf({ fileScoped: 500 });

    const result = plan([file('all', 100, { deletes })], { 'delete-ratio-threshold': '1' });

    assert.equal(result.groups[0]?.reason, 'deletes');
  });

  it('does not select a file without records by delete ratio', () => {
    const empty = file('empty', 100, { recordCount: 0, deletes: deletesOf({ fileScoped: 3 }) });

    assert.deepEqual(plan([empty]).skippedFiles, { 'size-in-range': { fileCount: 1, bytes: 100 } });
  });

  it('selects every file when the delete file threshold is 0', () => {
    const result = plan([file('good', 100)], { 'delete-file-threshold': '0' });

    assert.deepEqual(
      result.groups.map(({ reason, files: [first] }) => [reason, first?.reason]),
      [['deletes', 'delete-file-count']],
    );
  });

  it('groups one small file for its deletes', () => {
    const result = plan([file('small', 10, { deletes: deletesOf({ fileScoped: 3 }) })]);

    assert.equal(result.groups[0]?.reason, 'deletes');
    assert.equal(result.groups[0]?.files[0]?.reason, 'delete-ratio');
  });

  it('takes only the files with many deletes of a group that gains nothing otherwise', () => {
    // Any two of them exceed the largest output of 1.1 times the target.
    const deletes = deletesOf({ fileScoped: 30 });
    const result = plan([...files(6, 60), file('deleted-from', 60, { deletes })], {
      'max-file-size-bytes': '120',
    });

    assert.deepEqual(groupedNames(result), [['deleted-from']]);
    assert.equal(result.groups[0]?.reason, 'deletes');
    assert.deepEqual(result.skippedGroups, {
      'no-gain': { groupCount: 1, fileCount: 6, bytes: 360 },
    });
  });

  it('counts each delete file of a group once, and says which files have deletes', () => {
    const old = deletesOf({ fileScoped: 1, partitionScoped: [3, 12], equality: [2, 8] });
    const young = deletesOf({ fileScoped: 2, partitionScoped: [1, 5], equality: [1, 7] });

    const result = plan([
      ...files(5, 10),
      file('old', 10, { deletes: old }),
      file('young', 10, { deletes: young, dataSequenceNumber: 2n }),
    ]);

    assert.deepEqual(result.groups[0]?.deletes, {
      fileScoped: { fileCount: 2, rowCount: 3, bytes: 200 },
      partitionScoped: { fileCount: 3, rowCount: 12, bytes: 300 },
      equality: { fileCount: 2, rowCount: 8, bytes: 200 },
    });
    assert.deepEqual(
      result.groups[0]?.files.map(({ deletes }) => deletes),
      [...Array.from({ length: 5 }, () => undefined), old, young],
    );
    const json = planToJson(result);
    assert.deepEqual(parseJson(serializeJson(json), 'plan'), json);
  });

  it('cuts within a group at max-files-to-rewrite and forecasts again', () => {
    const scanned = [
      ...files(6, 10, { partitionKey: '0:i1;', partition: 'p=1' }),
      ...files(8, 10, { partitionKey: '0:i2;', partition: 'p=2' }),
    ];

    const result = plan(scanned, { 'max-files-to-rewrite': '12' });

    assert.deepEqual(
      result.groups.map((group) => [group.files.length, group.inputBytes]),
      [
        [6, 60],
        [6, 60],
      ],
    );
    assert.deepEqual(result.skippedFiles, { 'max-files-to-rewrite': { fileCount: 2, bytes: 20 } });
  });

  it('judges the group that was cut again, so that no group of one file is left', () => {
    const scanned = [
      ...files(6, 10, { partitionKey: '0:i1;', partition: 'p=1' }),
      ...files(8, 10, { partitionKey: '0:i2;', partition: 'p=2' }),
    ];

    const result = plan(scanned, { 'max-files-to-rewrite': '7' });

    assert.equal(result.groups.length, 1);
    assert.deepEqual(result.skippedGroups, {
      'too-few-files': { groupCount: 1, fileCount: 1, bytes: 10 },
    });
    assert.deepEqual(result.skippedFiles, { 'max-files-to-rewrite': { fileCount: 7, bytes: 70 } });
  });

  it('runs groups in the job order and keeps their plan position as name', () => {
    const scanned = [
      ...files(6, 10, { partitionKey: '0:i1;', partition: 'p=1' }),
      ...files(5, 14, { partitionKey: '0:i2;', partition: 'p=2' }),
    ];
    const order = (name: string): number[] =>
      plan(scanned, { 'rewrite-job-order': name }).groups.map((group) => group.groupIndex);

    assert.deepEqual(order('none'), [0, 1]);
    assert.deepEqual(order('bytes-asc'), [0, 1]);
    assert.deepEqual(order('bytes-desc'), [1, 0]);
    assert.deepEqual(order('files-asc'), [1, 0]);
    assert.deepEqual(order('files-desc'), [0, 1]);
  });

  it('takes every file and every group with rewrite-all', () => {
    const result = plan([file('good', 100)], { 'rewrite-all': 'true' });

    assert.equal(result.groups[0]?.reason, 'rewrite-all');
    assert.equal(result.groups[0]?.files[0]?.reason, 'rewrite-all');
  });

  it('finds the output size that row groups of 60 need to reach the expected count', () => {
    const result = plan(files(10, 60));

    assert.equal(result.groups[0]?.outputSizeBytes, 140);
    assert.equal(result.groups[0]?.outputFileCountExpected, 5);
  });

  it('takes a file of unknown row groups as pieces of the target', () => {
    const { splitOffsets: _, ...unknown } = file('unknown', 250);

    assert.equal(plan([unknown]).groups[0]?.outputFileCountExpected, 3);
    assert.equal(plan([{ ...unknown, splitOffsets: [9, 4] }]).groups.length, 1);
  });
});
