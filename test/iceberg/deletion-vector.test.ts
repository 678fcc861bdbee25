import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError, type RangedReader } from '../../shared/base/index.ts';
import { concatBytes, crc32 } from '../../shared/bytes/index.ts';
import {
  type DataFile,
  parseDeletionVector,
  readDeletionVector,
  serializeDeletionVector,
} from '../../shared/iceberg/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { goldenVector, goldenVectorFile, goldenVectors } from '../support/golden-vectors.ts';
import { readDeletionVectorSlowly } from '../support/slow-deletion-vector.ts';
import { throwsKind } from './expect-error.ts';

const CARDINALITY = 101;

const GOLDEN = goldenVector('runs-in-containers-of-3');

function parse(blob: Uint8Array): RoaringBitmap {
  return parseDeletionVector(blob, { cardinality: CARDINALITY, subject: 'file.puffin' });
}

/** The blob with its checksum made to fit what was changed. */
function sealed(blob: Uint8Array): Uint8Array {
  const bytes = blob.slice();
  new DataView(bytes.buffer).setUint32(bytes.length - 4, crc32(bytes.subarray(4, -4)));
  return bytes;
}

function changed(blob: Uint8Array, offset: number, mask: number): Uint8Array {
  const bytes = blob.slice();
  bytes[offset]! ^= mask;
  return bytes;
}

/** Undefined when the blob is refused as it may be. */
function tryParse(blob: Uint8Array): RoaringBitmap | undefined {
  try {
    return parse(blob);
  } catch (error) {
    assert.ok(isIcebergError(error, 'invalid-data') || isIcebergError(error, 'unsupported'));
    return undefined;
  }
}

describe('parseDeletionVector', () => {
  test('refuses each byte with each bit flipped', () => {
    for (let offset = 0; offset < GOLDEN.blob.length; offset++) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = changed(GOLDEN.blob, offset, 1 << bit);

        throwsKind(() => parse(flipped), 'invalid-data', /^file.puffin: (?:length|CRC-32)/);
      }
    }
  });

  test('looks at nothing before length, checksum and magic fit', () => {
    const { blob } = GOLDEN;

    throwsKind(() => parse(changed(blob, 3, 1)), 'invalid-data', /length 46 in a blob for 47/);
    throwsKind(() => parse(changed(blob, 8, 1)), 'invalid-data', /CRC-32 \d+ is not \d+/);
    throwsKind(
      () => parse(sealed(changed(blob, 4, 1))),
      'invalid-data',
      /magic d0d33964 is not d1d33964/,
    );
  });

  test('refuses a blob cut or drawn out anywhere', () => {
    const { blob } = GOLDEN;
    for (let end = 0; end < blob.length; end++) {
      throwsKind(() => parse(blob.subarray(0, end)), 'invalid-data');
    }
    throwsKind(() => parse(concatBytes([blob, Uint8Array.of(0)])), 'invalid-data', /length/);
  });

  test('refuses another number of positions than the manifest has', () => {
    throwsKind(
      () => parseDeletionVector(GOLDEN.blob, { cardinality: 100, subject: 'file.puffin' }),
      'invalid-data',
      /^file.puffin: holds 101 positions, the manifest says 100$/,
    );
  });

  test('refuses a bitmap with bytes left over in a sound envelope', () => {
    const { blob } = GOLDEN;
    const longer = concatBytes([blob.subarray(0, -4), new Uint8Array(5)]);
    new DataView(longer.buffer).setUint32(0, longer.length - 8);

    throwsKind(() => parse(sealed(longer)), 'invalid-data', /1 bytes are left over/);
  });

  test('refuses sealed lies, or reads what they say', () => {
    let acceptedCount = 0;
    for (let offset = 8; offset < GOLDEN.blob.length - 4; offset++) {
      for (let bit = 0; bit < 8; bit++) {
        const lie = sealed(changed(GOLDEN.blob, offset, 1 << bit));
        const positions = tryParse(lie);
        if (positions === undefined) continue;
        assert.deepEqual(new Set(positions.positions()), readDeletionVectorSlowly(lie));
        acceptedCount++;
      }
    }
    assert.ok(acceptedCount > 0);
  });
});

describe('serializeDeletionVector', () => {
  test('writes no positions in 20 bytes', () => {
    const blob = serializeDeletionVector(RoaringBitmap.EMPTY);

    assert.deepEqual(blob, goldenVector('empty').blob);
    assert.ok(parseDeletionVector(blob, { cardinality: 0, subject: 'test' }).isEmpty);
  });
});

describe('readDeletionVector', () => {
  const ENTRY: DataFile = {
    content: 'position-deletes',
    filePath: 's3://bucket/vectors.puffin',
    fileFormat: 'PUFFIN',
    partition: [],
    recordCount: GOLDEN.recordCount,
    fileSizeBytes: goldenVectorFile.length,
    unknownFields: [],
  };
  const { contentOffset, contentSizeBytes } = GOLDEN;

  test('reads each vector of a file with one read of its bytes alone', async () => {
    const whole = bytesReader(goldenVectorFile);
    for (const vector of goldenVectors()) {
      const reads: (readonly [number, number])[] = [];
      const reader: RangedReader = {
        ...whole,
        read: (offset, lengthBytes) => {
          reads.push([offset, lengthBytes]);
          return whole.read(offset, lengthBytes);
        },
      };

      const positions = await readDeletionVector({ ...ENTRY, ...placeOf(vector) }, reader);

      assert.equal(positions.cardinality, vector.positions.length);
      assert.deepEqual(reads, [[vector.contentOffset, vector.contentSizeBytes]]);
    }
  });

  test('refuses the bytes of another place', async () => {
    const entry = { ...ENTRY, contentOffset: contentOffset + 1, contentSizeBytes };

    await assert.rejects(
      readDeletionVector(entry, bytesReader(goldenVectorFile)),
      errorOfKind('invalid-data', /^s3:\/\/bucket\/vectors.puffin: deletion vector at 5: length/),
    );
  });

  test('refuses an entry that does not say where the vector is', async () => {
    await assert.rejects(
      readDeletionVector({ ...ENTRY, contentSizeBytes }, bytesReader(goldenVectorFile)),
      errorOfKind('invalid-data', /deletion vector without content_offset/),
    );
    await assert.rejects(
      readDeletionVector({ ...ENTRY, contentOffset }, bytesReader(goldenVectorFile)),
      errorOfKind('invalid-data', /deletion vector without content_size_in_bytes/),
    );
  });

  test('refuses a vector of more than 256 MiB before it reads', async () => {
    const entry = { ...ENTRY, contentOffset, contentSizeBytes: 2 ** 28 + 1 };

    await assert.rejects(
      readDeletionVector(entry, bytesReader(goldenVectorFile)),
      errorOfKind('unsupported', /268435457 bytes exceed the limit of 268435456/),
    );
  });
});

/** What a manifest entry says of a vector. */
function placeOf(
  vector: typeof GOLDEN,
): Required<Pick<DataFile, 'recordCount' | 'contentOffset' | 'contentSizeBytes'>> {
  const { recordCount, contentOffset, contentSizeBytes } = vector;
  return { recordCount, contentOffset, contentSizeBytes };
}
