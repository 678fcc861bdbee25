import { concatBytes } from '../../shared/bytes/index.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type HostileCase, objectCase } from './hostile-case.ts';

/** Bytes that lengths, counts, tags and signs are likely to break on. */
const HOSTILE_BYTES = [0x00, 0x7f, 0x80, 0xff];

/** One changed byte at each of the offsets; which change it is depends on the seed. */
export function* changedBytes(
  location: string,
  bytes: Uint8Array,
  offsets: Iterable<number>,
  { seed, mustBeRefused = false }: { readonly seed: number; readonly mustBeRefused?: boolean },
): Generator<HostileCase> {
  for (const offset of offsets) {
    const { mutated, what } = changeByte(bytes, offset, chanceOf(seed, offset));
    yield objectCase(location, mutated, `byte ${offset} ${what}`, mustBeRefused);
  }
}

function changeByte(
  bytes: Uint8Array,
  offset: number,
  chance: Chance,
): { readonly mutated: Uint8Array; readonly what: string } {
  const mutated = Uint8Array.from(bytes);
  const before = bytes[offset]!;
  const next = bytes[offset + 1];
  const change = chance.below(5);
  if (change === 0 && next !== undefined && next !== before) {
    mutated[offset] = next;
    mutated[offset + 1] = before;
    return { mutated, what: 'swapped with the next' };
  }
  const replacements = [before + 1, before - 1, before ^ (1 << chance.below(8))];
  mutated[offset] = change < 3 ? chance.pick(replacements) : chance.pick(HOSTILE_BYTES);
  if (mutated[offset] === before) mutated[offset] = before ^ 1;
  return { mutated, what: `${before} -> ${mutated[offset]}` };
}

/** Cuts, junk behind, parts repeated, left out or moved: about `count` of each. */
export function* restructured(
  location: string,
  bytes: Uint8Array,
  { seed, count }: { readonly seed: number; readonly count: number },
): Generator<HostileCase> {
  const step = Math.max(1, Math.floor(bytes.length / count));
  for (let start = seed % step; start < bytes.length; start += step) {
    const chance = chanceOf(seed, start);
    const length = 1 + chance.below(Math.min(200, bytes.length));
    const from = chance.below(bytes.length);
    const [before, after] = [bytes.subarray(0, start), bytes.subarray(start)];
    const part = bytes.slice(from, from + length);
    yield objectCase(location, before.slice(), `cut at ${start}`);
    const spliced = concatBytes([before, part, after]);
    yield objectCase(location, spliced, `${part.length} bytes of ${from} put at ${start}`);
    const without = concatBytes([before, after.subarray(length)]);
    yield objectCase(location, without, `${length} bytes left out at ${start}`);
    const copied = concatBytes([before, part, after.subarray(part.length)]);
    yield objectCase(location, copied, `${part.length} bytes of ${from} copied to ${start}`);
  }
  for (const length of [1, 7, 16, 4096]) {
    const junk = Uint8Array.from({ length }, (_, index) => chanceOf(seed, index).below(256));
    yield objectCase(location, concatBytes([bytes, junk]), `${length} bytes of junk behind`);
    yield objectCase(location, concatBytes([junk, bytes]), `${length} bytes of junk in front`);
  }
  yield objectCase(location, concatBytes([bytes, bytes]), 'twice');
  yield objectCase(location, new Uint8Array(0), 'empty');
}

/** From `start` to before `end`, every `stride`-th; `stride` seeds in a row take each offset once. */
export function* offsetsOf(
  start: number,
  end: number,
  { seed, stride = 1 }: { readonly seed: number; readonly stride?: number },
): Generator<number> {
  const first = start + ((((seed - start) % stride) + stride) % stride);
  for (let offset = first; offset < end; offset += stride) yield offset;
}
