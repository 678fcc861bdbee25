import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canDecompress, codecFor } from '../../shared/parquet/compression.ts';
import { COMPRESSION_CODECS } from '../../shared/parquet/layout.ts';
import type { CompressionCodec } from '../../shared/parquet/metadata-types.ts';

describe('codecs', () => {
  test('all can be opened but LZO and the framed LZ4', () => {
    const codecs = Object.keys(COMPRESSION_CODECS) as CompressionCodec[];

    assert.deepEqual(
      codecs.filter((codec) => !canDecompress(codec)),
      ['LZO', 'LZ4'],
    );
    assert.equal(codecFor('LZ4_RAW', 'page'), 'lz4-raw');
    assert.throws(() => codecFor('LZ4', 'page'), {
      kind: 'unsupported',
      message: 'page: codec LZ4 cannot be decompressed',
    });
  });
});
