import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  deletionVectorBlob,
  parseDeletionVector,
  serializeDeletionVector,
} from '../../shared/iceberg/index.ts';
import { PuffinWriter, readPuffinFooter } from '../../shared/puffin/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { goldenVectorFile, goldenVectors } from '../support/golden-vectors.ts';
import { readDeletionVectorSlowly } from '../support/slow-deletion-vector.ts';

describe('vectors of Iceberg Java', () => {
  for (const { name, blob, positions, recordCount, isSetByRange } of goldenVectors()) {
    test(`${name} is read`, () => {
      const vector = parseDeletionVector(blob, { cardinality: recordCount, subject: name });

      assert.deepEqual([...vector.positions()], positions);
      assert.deepEqual(new Set(positions), readDeletionVectorSlowly(blob));
    });

    if (!isSetByRange) {
      test(`${name} is written byte for byte`, () => {
        const vector = RoaringBitmap.fromPositions(positions, name);

        assert.deepEqual(serializeDeletionVector(vector), blob);
      });
    }
  }

  test('fill a Puffin file that is equal but for who made it', async () => {
    const { properties } = await readPuffinFooter(bytesReader(goldenVectorFile));
    const parts: Uint8Array[] = [];
    const writer = new PuffinWriter({ write: async (bytes) => void parts.push(bytes) }, properties);
    for (const { referencedDataFile, positions, blob, isSetByRange } of goldenVectors()) {
      const vector = RoaringBitmap.fromPositions(positions, referencedDataFile);
      const ours = deletionVectorBlob(vector, referencedDataFile);
      await writer.addBlob(isSetByRange ? { ...ours, bytes: blob } : ours);
    }
    await writer.finish();

    assert.deepEqual(new Uint8Array(Buffer.concat(parts)), goldenVectorFile);
  });
});
