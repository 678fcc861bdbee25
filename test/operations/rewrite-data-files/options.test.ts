import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isIcebergError } from '../../../shared/base/index.ts';
import type { OptionTexts } from '../../../shared/maintenance/index.ts';
import {
  FILE_GROUP_SIZE_BYTES_DEFAULT,
  FILES_TO_REWRITE_DEFAULT,
  parseRewriteDataFilesOptions,
} from '../../../shared/operations/rewrite-data-files/options.ts';

const TARGET = 512 * 1024 * 1024;

describe('parseRewriteDataFilesOptions', () => {
  it('fills in the defaults from the table target', () => {
    assert.deepEqual(parseRewriteDataFilesOptions({}, TARGET), {
      targetFileSizeBytes: 536_870_912,
      fileSizeBytesMin: 402_653_184,
      fileSizeBytesMax: 966_367_641,
      minInputFiles: 5,
      rewriteAll: false,
      fileGroupSizeBytesMax: FILE_GROUP_SIZE_BYTES_DEFAULT,
      fileGroupInputFilesMax: Number.MAX_SAFE_INTEGER,
      deleteFileThreshold: 2_147_483_647,
      deleteRatioThreshold: 0.3,
      filesToRewriteMax: FILES_TO_REWRITE_DEFAULT,
      rewriteJobOrder: 'none',
      concurrentFileGroupRewritesMax: 2,
      isPartialProgressEnabled: false,
      partialProgressCommitsMax: 10,
      partialProgressFailedCommitsMax: 10,
    });
  });

  it('derives the bounds from an overridden target', () => {
    const options = parseRewriteDataFilesOptions({ 'target-file-size-bytes': '100' }, TARGET);

    assert.equal(options.fileSizeBytesMin, 75);
    assert.equal(options.fileSizeBytesMax, 180);
  });

  it('lets max-failed-commits follow max-commits', () => {
    const options = parseRewriteDataFilesOptions(
      { 'partial-progress.enabled': 'TRUE', 'partial-progress.max-commits': '3' },
      TARGET,
    );

    assert.equal(options.isPartialProgressEnabled, true);
    assert.equal(options.partialProgressFailedCommitsMax, 3);
  });

  it('reads the largest long of Java as no bound', () => {
    const options = parseRewriteDataFilesOptions(
      { 'max-file-group-input-files': '9223372036854775807' },
      TARGET,
    );

    assert.equal(options.fileGroupInputFilesMax, Number.MAX_SAFE_INTEGER);
  });

  it('takes the job order in any case', () => {
    const options = parseRewriteDataFilesOptions({ 'rewrite-job-order': 'Bytes-Desc' }, TARGET);

    assert.equal(options.rewriteJobOrder, 'bytes-desc');
  });

  it('names all unknown keys at once', () => {
    assert.throws(
      () => parseRewriteDataFilesOptions({ b: '1', 'min-input-files': '2', a: '1' }, TARGET),
      (error) => isIcebergError(error, 'invalid-config') && /options a, b$/.test(error.message),
    );
  });

  const refused: readonly OptionTexts[] = [
    { 'target-file-size-bytes': '0' },
    { 'target-file-size-bytes': 'ten' },
    { 'target-file-size-bytes': '9223372036854775808' },
    { 'target-file-size-bytes': '100', 'min-file-size-bytes': '100' },
    { 'target-file-size-bytes': '100', 'max-file-size-bytes': '100' },
    { 'min-file-size-bytes': '-1' },
    { 'min-input-files': '0' },
    { 'rewrite-all': 'yes' },
    { 'max-file-group-size-bytes': '0' },
    { 'max-file-group-input-files': '0' },
    { 'delete-file-threshold': '-1' },
    { 'delete-ratio-threshold': '0' },
    { 'delete-ratio-threshold': '1.01' },
    { 'delete-ratio-threshold': '1e-1' },
    { 'max-files-to-rewrite': '0' },
    { 'rewrite-job-order': 'size' },
    { 'max-concurrent-file-group-rewrites': '0' },
    { 'max-concurrent-file-group-rewrites': '65' },
    { 'partial-progress.max-commits': '0' },
    { 'partial-progress.max-failed-commits': '-1' },
    { strategy: 'best' },
  ];
  for (const texts of refused) {
    it(`refuses ${JSON.stringify(texts)} as invalid-config`, () => {
      assert.throws(
        () => parseRewriteDataFilesOptions(texts, TARGET),
        (error) => isIcebergError(error, 'invalid-config'),
      );
    });
  }

  const unsupported: readonly OptionTexts[] = [
    { 'output-spec-id': '1' },
    { strategy: 'sort' },
    { strategy: 'ZORDER' },
    { 'shuffle-partitions-per-file': '2' },
    { 'compression-factor': '1.5' },
    { 'max-output-size': '8' },
    { 'var-length-contribution': '8' },
    { 'use-starting-sequence-number': 'false' },
    { 'remove-dangling-deletes': 'true' },
  ];
  for (const texts of unsupported) {
    it(`says that ${JSON.stringify(texts)} is unsupported`, () => {
      assert.throws(
        () => parseRewriteDataFilesOptions(texts, TARGET),
        (error) => isIcebergError(error, 'unsupported'),
      );
    });
  }
});
