import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { concatBytes, encodeUtf8 } from '../../shared/bytes/index.ts';
import { type BlobMetadata, readBlob, readPuffinFooter } from '../../shared/puffin/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { lz4Frame } from './lz4-frames.ts';
import { countingReader, goldenPuffin } from './puffin-files.ts';

const TEXT = encodeUtf8('snow on its way to becoming ice; '.repeat(100));

/** The metadata of a blob that lies behind the file's magic. */
function blobOf(stored: Uint8Array, compressionCodec?: string): BlobMetadata {
  return {
    type: 'some-type',
    fields: [],
    snapshotId: 1n,
    sequenceNumber: 1n,
    offset: 4,
    lengthBytes: stored.length,
    ...(compressionCodec !== undefined && { compressionCodec }),
    properties: {},
    unknownFields: {},
  };
}

function readStored(stored: Uint8Array, codec?: string, bytesMax?: number): Promise<Uint8Array> {
  const reader = bytesReader(concatBytes([encodeUtf8('PFA1'), stored]), 'file.puffin');
  return readBlob(reader, blobOf(stored, codec), bytesMax);
}

describe('readBlob', () => {
  test('reads plain, empty and zstd blobs of Iceberg Java, each with one read', async () => {
    const reader = countingReader(goldenPuffin('various-blobs.puffin'));
    const { blobs } = await readPuffinFooter(reader);
    reader.reads.length = 0;

    const contents = [];
    for (const blob of blobs) contents.push(await readBlob(reader, blob));

    assert.deepEqual(contents, [TEXT, TEXT, new Uint8Array(0)]);
    assert.deepEqual(reader.reads, [56, 3300, 0]);
  });

  test('reads lz4 blobs', async () => {
    assert.deepEqual(await readStored(lz4Frame(TEXT), 'lz4'), TEXT);
  });

  test('refuses a codec that is not known before it reads', async () => {
    await assert.rejects(
      readStored(TEXT, 'snow'),
      errorOfKind('unsupported', /^file.puffin: blob at 4: compression codec snow/),
    );
  });

  test('refuses zstd that does not say its size', async () => {
    const stream = zstdCompressSync(TEXT);
    const silent = concatBytes([stream.subarray(0, 4), Uint8Array.of(0, 0x58), stream.subarray(7)]);

    await assert.rejects(readStored(silent, 'zstd'), errorOfKind('invalid-data', /no zstd frame/));
    await assert.rejects(readStored(TEXT, 'zstd'), errorOfKind('invalid-data', /no zstd frame/));
  });

  test('refuses corrupt zstd', async () => {
    const stored = new Uint8Array(zstdCompressSync(TEXT));
    stored[stored.length - 3]! ^= 0xff;

    await assert.rejects(readStored(stored, 'zstd'), errorOfKind('invalid-data'));
  });

  test('refuses more than the limit, stored or decompressed', async () => {
    const limit = /bytes exceed the limit of 100$/;
    const zstd = new Uint8Array(zstdCompressSync(TEXT));
    assert.ok(zstd.length < 100);

    await assert.rejects(readStored(TEXT, undefined, 100), errorOfKind('unsupported', limit));
    await assert.rejects(readStored(zstd, 'zstd', 100), errorOfKind('unsupported', limit));
    await assert.rejects(readStored(lz4Frame(TEXT), 'lz4', 100), errorOfKind('unsupported'));
  });
});
