import { DeserializationFormat, RoaringBitmap32, roaringLibraryInitialize } from 'roaring-wasm';

await roaringLibraryInitialize();

/**
 * The positions of a 64-bit bitmap as CRoaring reads its 32-bit parts; `undefined` when it refuses one, or bytes are
 * left over.
 */
export function readByCRoaring(bytes: Uint8Array): readonly number[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bitmapCount = Number(view.getBigUint64(0, true));
  const positions: number[] = [];
  let offset = 8;
  for (let index = 0; index < bitmapCount; index++) {
    const high = view.getUint32(offset, true) * 2 ** 32;
    const bitmap = deserialize(bytes.subarray(offset + 4));
    if (bitmap === undefined) return undefined;
    for (const low of bitmap.toUint32Array()) positions.push(high + low);
    offset += 4 + bitmap.getSerializationSizeInBytes('portable');
    bitmap.dispose();
  }
  return offset === bytes.length ? positions : undefined;
}

/** The 32-bit bitmap of ascending values, run-optimized. */
export function serializeByCRoaring(values: readonly number[]): Uint8Array {
  const bitmap = new RoaringBitmap32(Uint32Array.from(values));
  bitmap.runOptimize();
  const bytes = new Uint8Array(bitmap.serialize('portable'));
  bitmap.dispose();
  return bytes;
}

function deserialize(bytes: Uint8Array): RoaringBitmap32 | undefined {
  try {
    return RoaringBitmap32.deserialize(bytes, DeserializationFormat.portable);
  } catch {
    // Its answer to bytes it cannot read.
    return undefined;
  }
}
