import { IcebergError } from '../base/index.ts';
import type { ByteReader } from '../bytes/index.ts';
import { decodeBitPackedLevels, decodeHybrid } from './decode-hybrid.ts';
import { bitWidthFor } from './encode-hybrid.ts';
import type { Encoding } from './metadata-types.ts';

export interface LevelsOptions {
  readonly count: number;
  readonly subject: string;
}

/**
 * Levels of a v1 page, read from the page's start on; `undefined` where the greatest level is 0 and nothing is
 * stored.
 *
 * @throws invalid-data — as `decodeLevels`, and for an encoding that levels do not have
 */
export function readLevelsV1(
  reader: ByteReader,
  levelMax: number,
  options: LevelsOptions & { readonly encoding: Encoding },
): Uint8Array | undefined {
  if (levelMax === 0) return undefined;
  if (options.encoding === 'RLE') {
    return decodeLevels(reader.bytes(reader.u32le()), levelMax, options);
  }
  if (options.encoding !== 'BIT_PACKED') {
    throw new IcebergError(
      'invalid-data',
      `${options.subject}: levels encoded as ${options.encoding}`,
    );
  }
  const bitWidth = bitWidthFor(levelMax);
  const levels = new Uint8Array(options.count);
  const bytes = reader.bytes(Math.ceil((bitWidth * options.count) / 8));
  decodeBitPackedLevels(bytes, bitWidth, levels, options.subject);
  requireLevelsWithin(levels, levelMax, options.subject);
  return levels;
}

/**
 * Levels out of runs of the RLE/bit-packed hybrid; `undefined` where the greatest level is 0.
 *
 * @throws invalid-data — when there are more or fewer than `count`, or one exceeds `levelMax`
 * @see Parquet format, "Encodings: RLE"
 */
export function decodeLevels(
  bytes: Uint8Array,
  levelMax: number,
  options: LevelsOptions,
): Uint8Array | undefined {
  if (levelMax === 0) return undefined;
  const levels = new Uint8Array(options.count);
  decodeHybrid(bytes, bitWidthFor(levelMax), levels, options.subject);
  requireLevelsWithin(levels, levelMax, options.subject);
  return levels;
}

/** How many of `valueCount` entries are not null. */
export function countValues(
  definitionLevels: Uint8Array | undefined,
  valueCount: number,
  levelMax: number,
): number {
  if (definitionLevels === undefined) return valueCount;
  let count = 0;
  for (let index = 0; index < valueCount; index++) {
    if (definitionLevels[index] === levelMax) count++;
  }
  return count;
}

function requireLevelsWithin(levels: Uint8Array, levelMax: number, subject: string): void {
  for (const level of levels) {
    if (level > levelMax) {
      throw new IcebergError('invalid-data', `${subject}: level ${level} exceeds ${levelMax}`);
    }
  }
}
