import { randomInt63, seededRandom } from '../../shared/base/index.ts';
import { concatBytes } from '../../shared/bytes/index.ts';

export interface Mutation {
  readonly mutated: Uint8Array;
  /** What was done, enough to do it again. */
  readonly what: string;
}

/** Bytes that lengths, counts, tags and signs are likely to break on. */
const HOSTILE_BYTES = [0x00, 0x01, 0x7f, 0x80, 0xff];

/**
 * Mutations of a file: at every offset (of the first `offsetsMax`, else sampled evenly) a flipped bit and a
 * hostile byte, a truncation, and a splice of a part from elsewhere. The same seed gives the same ones.
 */
export function* mutationsOf(
  bytes: Uint8Array,
  seed: number,
  offsetsMax = 1500,
): Generator<Mutation> {
  const random = seededRandom(seed);
  const below = (limit: number): number => Number(randomInt63(random) % BigInt(Math.max(limit, 1)));
  const step = Math.max(1, Math.floor(bytes.length / offsetsMax));
  for (let offset = 0; offset < bytes.length; offset += step) {
    const flipped = Uint8Array.from(bytes);
    const mask = 1 << below(8);
    flipped[offset] = (flipped[offset] ?? 0) ^ mask;
    yield { mutated: flipped, what: `seed ${seed}: bits ${mask} of byte ${offset} flipped` };

    const replaced = Uint8Array.from(bytes);
    const byte = HOSTILE_BYTES[below(HOSTILE_BYTES.length)] ?? 0;
    replaced[offset] = byte;
    yield { mutated: replaced, what: `seed ${seed}: byte ${offset} set to ${byte}` };

    yield { mutated: bytes.slice(0, offset), what: `seed ${seed}: cut at ${offset}` };

    const from = below(bytes.length);
    const part = bytes.subarray(from, from + below(64));
    const spliced = concatBytes([bytes.subarray(0, offset), part, bytes.subarray(offset)]);
    yield {
      mutated: spliced,
      what: `seed ${seed}: ${part.length} bytes of ${from} put at ${offset}`,
    };
  }
}
