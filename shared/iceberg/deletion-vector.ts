import { IcebergError, type RangedReader } from '../base/index.ts';
import { ByteReader, ByteWriter, crc32, equalBytes, toHex } from '../bytes/index.ts';
import type { NewBlob } from '../puffin/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import type { DataFile } from './manifest-types.ts';

/**
 *     offset  width
 *     0       4      n + 4, big-endian
 *     4       4      magic
 *     8       n      bitmap: the 64-bit portable layout
 *     8+n     4      CRC-32 of magic and bitmap, big-endian
 */
const BLOB_TYPE = 'deletion-vector-v1';

const MAGIC = Uint8Array.of(0xd1, 0xd3, 0x39, 0x64);
const LENGTH_BYTES = 4;
const CRC_BYTES = 4;

/** The bitmap of no positions is a count of 0. */
const BITMAP_BYTES_MIN = 8;
const BLOB_BYTES_MIN = LENGTH_BYTES + MAGIC.length + BITMAP_BYTES_MIN + CRC_BYTES;

/** A vector of two thousand million scattered rows. */
const BLOB_BYTES_MAX = 256 * 1024 * 1024;

/** Of the metadata column `_pos`. */
const POSITION_FIELD_ID = 2_147_483_645;

/** Snapshot id and sequence number are not known when the file is written. */
const NOT_KNOWN = -1n;

/**
 * Reads the positions that a deletion vector's manifest entry stands for. Costs one read, of exactly the blob.
 *
 * @param reader of the entry's `filePath` and `fileSizeBytes`
 * @throws invalid-data — when the entry does not say where the blob is, or as `parseDeletionVector`
 * @throws unsupported — when the blob exceeds 256 MiB, or as `parseDeletionVector`
 * @see Iceberg spec, "Deletion Vectors" (v3)
 */
export async function readDeletionVector(
  file: DataFile,
  reader: RangedReader,
): Promise<RoaringBitmap> {
  const { filePath, contentOffset, contentSizeBytes, recordCount } = file;
  if (contentOffset === undefined || contentSizeBytes === undefined) {
    const missing = contentOffset === undefined ? 'content_offset' : 'content_size_in_bytes';
    throw new IcebergError('invalid-data', `${filePath}: deletion vector without ${missing}`);
  }
  const subject = `${filePath}: deletion vector at ${contentOffset}`;
  if (contentSizeBytes > BLOB_BYTES_MAX) {
    throw new IcebergError(
      'unsupported',
      `${subject}: ${contentSizeBytes} bytes exceed the limit of ${BLOB_BYTES_MAX}`,
    );
  }
  const blob = await reader.read(contentOffset, contentSizeBytes);
  return parseDeletionVector(blob, { cardinality: recordCount, subject });
}

/**
 * Parses a `deletion-vector-v1` blob. Length, checksum and magic are checked before the bitmap is looked at.
 *
 * @param cardinality how many positions there must be: the manifest entry's `record_count`
 * @throws invalid-data — when the blob is not sound, or holds another number of positions
 * @throws unsupported — when a position is beyond 2^53 - 1
 * @see Puffin spec, "deletion-vector-v1 blob type"
 */
export function parseDeletionVector(
  blob: Uint8Array,
  { cardinality, subject }: { readonly cardinality: number; readonly subject: string },
): RoaringBitmap {
  const positions = RoaringBitmap.parse(unwrapBitmap(blob, subject), subject);
  if (positions.cardinality === cardinality) return positions;
  throw new IcebergError(
    'invalid-data',
    `${subject}: holds ${positions.cardinality} positions, the manifest says ${cardinality}`,
  );
}

/**
 * The blob of a deletion vector, byte for byte as Iceberg Java writes it for positions deleted one by one.
 *
 * @see Puffin spec, "deletion-vector-v1 blob type"
 */
export function serializeDeletionVector(positions: RoaringBitmap): Uint8Array {
  const bitmap = positions.serialize();
  const writer = new ByteWriter(LENGTH_BYTES + MAGIC.length + bitmap.length + CRC_BYTES);
  writer.u32be(MAGIC.length + bitmap.length);
  writer.bytes(MAGIC);
  writer.bytes(bitmap);
  writer.u32be(crc32(bitmap, crc32(MAGIC)));
  return writer.finish();
}

/** A deletion vector as a Puffin file takes it; what it wrote gives the manifest entry its offset and size. */
export function deletionVectorBlob(positions: RoaringBitmap, referencedDataFile: string): NewBlob {
  return {
    type: BLOB_TYPE,
    fields: [POSITION_FIELD_ID],
    snapshotId: NOT_KNOWN,
    sequenceNumber: NOT_KNOWN,
    bytes: serializeDeletionVector(positions),
    properties: {
      'referenced-data-file': referencedDataFile,
      cardinality: String(positions.cardinality),
    },
  };
}

/** The bitmap's bytes, as a view. */
function unwrapBitmap(blob: Uint8Array, subject: string): Uint8Array {
  const reader = new ByteReader(blob, subject);
  if (blob.length < BLOB_BYTES_MIN) {
    throw reader.invalid(`${blob.length} bytes are fewer than ${BLOB_BYTES_MIN}`);
  }
  const checkedBytes = blob.length - LENGTH_BYTES - CRC_BYTES;
  const declaredBytes = reader.u32be();
  if (declaredBytes !== checkedBytes) {
    throw reader.invalid(`length ${declaredBytes} in a blob for ${checkedBytes}`);
  }
  const checked = new ByteReader(reader.bytes(checkedBytes), subject);
  const expectedCrc = crc32(blob.subarray(LENGTH_BYTES, LENGTH_BYTES + checkedBytes));
  const crc = reader.u32be();
  if (crc !== expectedCrc) throw reader.invalid(`CRC-32 ${crc} is not ${expectedCrc}`);
  const magic = checked.bytes(MAGIC.length);
  if (!equalBytes(magic, MAGIC)) {
    throw checked.invalid(`magic ${toHex(magic)} is not ${toHex(MAGIC)}`);
  }
  return checked.bytes(checked.remainingBytes);
}
