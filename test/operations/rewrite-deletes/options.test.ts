import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRewriteDeletesOptions } from '../../../shared/operations/rewrite-deletes/options.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';

describe('parseRewriteDeletesOptions', () => {
  it('has the defaults that the README tells', () => {
    assert.deepEqual(parseRewriteDeletesOptions({}, {}), {
      deleteFileThreshold: 5,
      equalityDeleteFileThreshold: 5,
      deleteRatioThreshold: 0.1,
      deleteManifestRatioThreshold: 0.5,
      puffinGarbageRatioThreshold: 0.5,
      rewriteAll: false,
      filesToRewriteMax: 100_000,
      puffinSizeBytesMax: 64 * 1024 * 1024,
      isPartialProgressEnabled: false,
      partialProgressCommitsMax: 10,
      partialProgressFailedCommitsMax: 10,
    });
  });

  it('takes a threshold of the option, else of the table', () => {
    const properties = {
      'firn.rewrite-deletes.delete-file-threshold': '7',
      'firn.rewrite-deletes.delete-manifest-ratio-threshold': '1.5',
      'write.delete.target-file-size-bytes': '1000',
    };

    const options = parseRewriteDeletesOptions({ 'delete-file-threshold': '2' }, properties);

    assert.equal(options.deleteFileThreshold, 2);
    assert.equal(options.deleteManifestRatioThreshold, 1.5);
    assert.equal(options.puffinSizeBytesMax, 1000);
  });

  it('names all unknown options', () => {
    assert.throws(
      () => parseRewriteDeletesOptions({ 'min-input-files': '2', colour: 'red' }, {}),
      errorOfKind('invalid-config', /unknown options colour, min-input-files/),
    );
  });

  for (const [key, value] of [
    ['delete-file-threshold', '0'],
    ['equality-delete-file-threshold', 'many'],
    ['delete-ratio-threshold', '0'],
    ['delete-manifest-ratio-threshold', '-1'],
    ['puffin-garbage-ratio-threshold', '1.5'],
    ['rewrite-all', 'yes'],
    ['max-files-to-rewrite', '0'],
  ] as const) {
    it(`refuses ${key}=${value}`, () => {
      assert.throws(
        () => parseRewriteDeletesOptions({ [key]: value }, {}),
        errorOfKind('invalid-config', new RegExp(key)),
      );
    });
  }
});
