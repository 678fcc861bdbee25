import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Compressors } from 'hyparquet';
import * as lz4 from 'lz4-napi';
import { uncompressSync } from 'snappy';

/** Codecs for hyparquet over Node and the codec packages, with nothing of shared/compress in between. */
export const compressors: Compressors = {
  SNAPPY: (input) => copy(uncompressSync(Buffer.from(input), { asBuffer: true }) as Buffer),
  GZIP: (input) => copy(gunzipSync(input)),
  ZSTD: (input) => copy(zstdDecompressSync(input)),
  BROTLI: (input) => copy(brotliDecompressSync(input)),
  LZ4_RAW: (input, outputLength) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(outputLength);
    return copy(lz4.uncompressSync(Buffer.concat([size, input])));
  },
};

function copy(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
