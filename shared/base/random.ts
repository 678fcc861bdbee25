import { randomFillSync } from 'node:crypto';

/** Chance, passed in so that a seed replays a run. */
export interface Random {
  /** Fills and returns a new array of `lengthBytes` random bytes. */
  bytes(lengthBytes: number): Uint8Array;
}

/** Cryptographically strong chance of the operating system. */
export const systemRandom: Random = {
  bytes: (lengthBytes) => randomFillSync(new Uint8Array(lengthBytes)),
};

/** Repeatable chance for tests (xorshift32 of the seed); never for identifiers in production. */
export function seededRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  const nextByte = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return (state >>> 11) & 0xff;
  };
  return { bytes: (lengthBytes) => Uint8Array.from({ length: lengthBytes }, nextByte) };
}

/** A random (version 4) UUID in its usual text form, lower case. */
export function randomUuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}

/** A uniformly distributed fraction in [0, 1). */
export function randomFraction(random: Random): number {
  const bytes = random.bytes(4);
  const u32 = ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0;
  return u32 / 2 ** 32;
}

/** An integer in [0, 2^63), uniformly distributed. */
export function randomInt63(random: Random): bigint {
  const bytes = random.bytes(8);
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value & 0x7fff_ffff_ffff_ffffn;
}
