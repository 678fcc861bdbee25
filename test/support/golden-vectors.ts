import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A deletion vector of Iceberg Java, see test/fixtures/deletion-vectors/README.md. */
export interface GoldenVector {
  readonly name: string;
  readonly referencedDataFile: string;
  readonly contentOffset: number;
  readonly contentSizeBytes: number;
  readonly recordCount: number;
  /** Java was given ranges, and may have kept runs that positions one by one do not make. */
  readonly isSetByRange: boolean;
  readonly blob: Uint8Array;
  /** Ascending and distinct. */
  readonly positions: readonly number[];
}

interface Description extends Omit<GoldenVector, 'blob' | 'positions'> {
  /** Start, end (exclusive) and step. */
  readonly pieces: readonly (readonly [number, number, number])[];
  readonly random?: { readonly seed: number; readonly count: number; readonly bound: number };
}

const FOLDER = fileURLToPath(new URL('../fixtures/deletion-vectors/', import.meta.url));

/** The Puffin file that holds all of them. */
export const goldenVectorFile = new Uint8Array(readFileSync(`${FOLDER}vectors.puffin`));

const descriptions = JSON.parse(readFileSync(`${FOLDER}vectors.json`, 'utf8')) as Description[];

export function goldenVectors(): readonly GoldenVector[] {
  return descriptions.map(toGoldenVector);
}

/** @throws TypeError — when there is none of the name */
export function goldenVector(name: string): GoldenVector {
  const description = descriptions.find((each) => each.name === name);
  if (description === undefined) throw new TypeError(`no golden vector ${name}`);
  return toGoldenVector(description);
}

function toGoldenVector(description: Description): GoldenVector {
  const { contentOffset, contentSizeBytes } = description;
  return {
    ...description,
    blob: goldenVectorFile.slice(contentOffset, contentOffset + contentSizeBytes),
    positions: positionsOf(description),
  };
}

function positionsOf({ pieces, random }: Description): readonly number[] {
  const positions: number[] = [];
  for (const [start, end, step] of pieces) {
    for (let position = start; position < end; position += step) positions.push(position);
  }
  let state = random?.seed ?? 0;
  for (let index = 0; index < (random?.count ?? 0); index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    positions.push(state % random!.bound);
  }
  const sorted = Float64Array.from(positions).sort();
  return [...sorted.filter((position, index) => position !== sorted[index - 1])];
}
