import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encodeUtf8 } from '../../shared/bytes/index.ts';
import {
  type NewBlob,
  type PuffinWriteResult,
  PuffinWriter,
  readBlob,
  readPuffinFooter,
} from '../../shared/puffin/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { goldenVectorFile } from '../support/golden-vectors.ts';
import { lz4Frame } from './lz4-frames.ts';
import { blobJson, goldenPuffin, MemorySink, puffinFile } from './puffin-files.ts';

const TEXT = encodeUtf8('snow on its way to becoming ice; '.repeat(100));

async function write(
  blobs: readonly NewBlob[],
  properties?: Readonly<Record<string, string>>,
): Promise<{ readonly bytes: Uint8Array; readonly result: PuffinWriteResult }> {
  const sink = new MemorySink();
  const writer = new PuffinWriter(sink, properties);
  for (const blob of blobs) await writer.addBlob(blob);
  const result = await writer.finish();
  return { bytes: sink.bytes(), result };
}

/** All blobs of a file, copied into a new one with its properties. */
async function copyAll(source: Uint8Array): Promise<Uint8Array> {
  const reader = bytesReader(source);
  const { blobs, properties } = await readPuffinFooter(reader);
  const sink = new MemorySink();
  const writer = new PuffinWriter(sink, properties);
  for (const blob of blobs) await writer.copyBlob(reader, blob);
  await writer.finish();
  return sink.bytes();
}

describe('PuffinWriter', () => {
  test('writes what Iceberg Java writes', async () => {
    for (const golden of [
      goldenPuffin('no-blobs.puffin'),
      goldenPuffin('various-blobs.puffin'),
      goldenVectorFile,
    ]) {
      assert.deepEqual(await copyAll(golden), golden);
    }
  });

  test('says where each blob lies', async () => {
    const blob = { type: 'a', fields: [7], snapshotId: -1n, sequenceNumber: -1n };
    const { bytes, result } = await write([
      { ...blob, bytes: TEXT },
      { ...blob, bytes: TEXT, compressionCodec: 'zstd', properties: { ndv: '3' } },
      { ...blob, bytes: new Uint8Array(0) },
    ]);

    const file = await readPuffinFooter(bytesReader(bytes), {
      footerSizeBytes: result.footerSizeBytes,
    });

    assert.deepEqual(file.blobs, result.blobs);
    assert.equal(result.fileSizeBytes, bytes.length);
    assert.deepEqual(
      result.blobs.map(({ offset }) => offset),
      [4, 4 + TEXT.length, 4 + TEXT.length + result.blobs[1]!.lengthBytes],
    );
    assert.deepEqual(file.properties, { 'created-by': 'firn version 0.1.0' });
    assert.deepEqual(await readBlob(bytesReader(bytes), file.blobs[1]!), TEXT);
  });

  test('copies types, codecs, properties and members that nobody knows', async () => {
    const source = puffinFile({
      body: lz4Frame(TEXT),
      payload: JSON.stringify({
        blobs: [
          blobJson({
            type: 'future-v9',
            length: lz4Frame(TEXT).length,
            'compression-codec': 'snow',
            properties: { ['__proto__']: 'x', why: 'not' },
            'new-thing': 12,
          }),
        ],
        properties: { 'created-by': 'someone' },
      }),
    });

    assert.deepEqual(await copyAll(source), source);
  });

  test('copies a large blob in pieces', async () => {
    const large = new Uint8Array(17 * 1024 * 1024).fill(7);
    const blob = { type: 'a', fields: [], snapshotId: 1n, sequenceNumber: 1n, bytes: large };
    const { bytes } = await write([blob]);

    assert.equal(Buffer.compare(await copyAll(bytes), bytes), 0);
  });

  test('puts blobs of several files into one', async () => {
    const readers = [goldenPuffin('various-blobs.puffin'), goldenVectorFile].map((bytes) =>
      bytesReader(bytes),
    );
    const sink = new MemorySink();
    const writer = new PuffinWriter(sink);
    const wanted: Uint8Array[] = [];
    for (const reader of readers) {
      const { blobs } = await readPuffinFooter(reader);
      for (const blob of blobs.slice(1, 4)) {
        wanted.push(await readBlob(reader, blob));
        await writer.copyBlob(reader, blob);
      }
    }
    await writer.finish();

    const reader = bytesReader(sink.bytes());
    const { blobs } = await readPuffinFooter(reader);
    assert.deepEqual(await Promise.all(blobs.map((blob) => readBlob(reader, blob))), wanted);
  });

  test('writes nothing more after the end', async () => {
    const writer = new PuffinWriter(new MemorySink());
    await writer.finish();

    await assert.rejects(writer.finish(), /puffin writer: finished/);
  });

  test('refuses a footer that no reader of ours would take', async () => {
    const writer = new PuffinWriter(new MemorySink(), { large: 'x'.repeat(64 * 1024 * 1024) });

    await assert.rejects(writer.finish(), errorOfKind('unsupported', /footer of 0 blobs has/));
  });

  test('gives back any blobs and properties', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 8 });
    const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const blob = fc.record({
      type: text,
      fields: fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 3 }),
      snapshotId: long,
      sequenceNumber: long,
      bytes: fc.uint8Array({ maxLength: 40 }),
      isCompressed: fc.boolean(),
      properties: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(blob, { maxLength: 5 }), async (given) => {
        const { bytes } = await write(
          given.map(({ isCompressed, ...rest }) => ({
            ...rest,
            ...(isCompressed && { compressionCodec: 'zstd' }),
          })),
        );

        const reader = bytesReader(bytes);
        const { blobs } = await readPuffinFooter(reader);

        for (const [index, { isCompressed, bytes: content, ...rest }] of given.entries()) {
          const found = blobs[index]!;
          assert.deepEqual({ ...found, ...rest }, found);
          assert.equal(found.compressionCodec, isCompressed ? 'zstd' : undefined);
          assert.deepEqual(await readBlob(reader, found), content);
        }
        assert.equal(blobs.length, given.length);
        assert.deepEqual(await copyAll(bytes), bytes);
      }),
      { seed: 20261130, numRuns: 100 },
    );
  });
});
