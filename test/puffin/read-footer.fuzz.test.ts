import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError, type RangedReader } from '../../shared/base/index.ts';
import { encodeUtf8 } from '../../shared/bytes/index.ts';
import { readBlob, readPuffinFooter } from '../../shared/puffin/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { mutationsOf } from '../support/mutations.ts';
import { lz4Frame } from './lz4-frames.ts';
import { blobJson, goldenPuffin, puffinFile } from './puffin-files.ts';

const SEED = 20261130;

/** Reads the footer and all blobs; whatever is wrong must have a name. */
async function readAll(reader: RangedReader, what: string): Promise<void> {
  try {
    const { blobs, footerSizeBytes } = await readPuffinFooter(reader, { tailBytes: 64 });
    for (const blob of blobs) {
      assert.ok(blob.offset + blob.lengthBytes <= reader.fileSizeBytes - footerSizeBytes, what);
      await readBlob(reader, blob, 100_000).catch((error: unknown) => requireNamed(error, what));
    }
  } catch (error) {
    requireNamed(error, what);
  }
}

function requireNamed(error: unknown, what: string): void {
  assert.ok(isIcebergError(error), `${what}: ${String(error)}`);
  assert.ok(['invalid-data', 'unsupported'].includes(error.kind), `${what}: ${error.kind}`);
  assert.match(error.message, /^file.puffin: /, what);
}

describe('mutated Puffin files are read or refused by name', () => {
  const files: Readonly<Record<string, Uint8Array>> = {
    'of Iceberg Java': goldenPuffin('various-blobs.puffin').subarray(3300),
    'without blobs': goldenPuffin('no-blobs.puffin'),
    'with a compressed footer': puffinFile({
      payload: lz4Frame(encodeUtf8(JSON.stringify({ blobs: [blobJson(), blobJson()] })), {
        contentChecksum: true,
      }),
      flags: 1,
    }),
    'with an lz4 blob': puffinFile({
      body: lz4Frame(encodeUtf8('snow, snow, snow, snow and ice')),
      payload: JSON.stringify({
        blobs: [blobJson({ length: 30, 'compression-codec': 'lz4' })],
      }),
    }),
  };
  for (const [name, bytes] of Object.entries(files)) {
    test(name, async () => {
      for (const { mutated, what } of mutationsOf(bytes, SEED)) {
        await readAll(bytesReader(mutated, 'file.puffin'), what);
      }
    });
  }
});
