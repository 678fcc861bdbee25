import { availableParallelism } from 'node:os';
import { DeserializationFormat, RoaringBitmap32, roaringLibraryInitialize } from 'roaring-wasm';
import { seededRandom } from '../shared/base/index.ts';
import { RoaringBitmap } from '../shared/roaring/index.ts';
import { type Figure, printParameters, printReport } from './report.ts';

const POSITION_COUNT = 1_000_000;
const ROW_COUNT = 10_000_000;

/** The shortest of so many runs counts: what else the machine does only ever adds. */
const RUN_COUNT = 15;

const OPERATION_MS_MAX = 20;

/** What do the bitmaps of a large deletion vector cost, and what does CRoaring in WebAssembly take for the same? */
export async function run(): Promise<boolean> {
  printParameters('roaring', {
    vectors: `two of ${POSITION_COUNT} random positions of ${ROW_COUNT} rows`,
    peer: 'roaring-wasm; to and from its heap included, input checked by nobody',
    time: `the shortest of ${RUN_COUNT} runs, one thread`,
    node: `${process.version}, ${availableParallelism()} cores`,
  });
  await roaringLibraryInitialize();
  const figures = [...ourFigures(), ...peerFigures()];
  return printReport('roaring: one million positions', figures);
}

function ourFigures(): readonly Figure[] {
  const [positions, others] = [randomPositions(1), randomPositions(2)];
  const sorted = Float64Array.from(positions).sort();
  const one = RoaringBitmap.fromPositions(positions, 'bench');
  const other = RoaringBitmap.fromPositions(others, 'bench');
  const whole = one.union(other);
  const bytes = one.serialize();
  const within = (name: string, action: () => unknown): Figure => ({
    ...figure(name, action),
    valueMax: OPERATION_MS_MAX,
  });
  return [
    within('parseMs', () => RoaringBitmap.parse(bytes, 'bench')),
    within('serializeMs', () => one.serialize()),
    within('unionMs', () => one.union(other)),
    within('differenceMs', () => one.difference(other)),
    within('supersetMs', () => whole.isSupersetOf(one)),
    figure('fromSortedMs', () => RoaringBitmap.fromPositions(sorted, 'bench')),
    figure('fromUnsortedMs', () => RoaringBitmap.fromPositions(positions, 'bench')),
    figure('rangesMs', () => countOf(one.ranges())),
    figure('shiftMs', () => one.shift(1_234_567)),
    figure('mapPositionsMs', () => one.mapPositions((position) => ROW_COUNT - position)),
  ];
}

function peerFigures(): readonly Figure[] {
  const [one, other] = [peerBitmap(1), peerBitmap(2)];
  const bytes = one.serialize('portable');
  const sorted = one.toUint32Array();
  const figures = [
    figure('peerParseMs', () =>
      RoaringBitmap32.deserialize(bytes, DeserializationFormat.portable).dispose(),
    ),
    figure('peerSerializeMs', () => one.serialize('portable')),
    figure('peerUnionMs', () => RoaringBitmap32.or(one, other).dispose()),
    figure('peerFromSortedMs', () => new RoaringBitmap32(sorted).dispose()),
  ];
  one.dispose();
  other.dispose();
  return figures;
}

function peerBitmap(seed: number): RoaringBitmap32 {
  const bitmap = new RoaringBitmap32(randomPositions(seed));
  bitmap.runOptimize();
  return bitmap;
}

function randomPositions(seed: number): Uint32Array {
  const bytes = seededRandom(seed).bytes(4 * POSITION_COUNT);
  return new Uint32Array(bytes.slice().buffer).map((value) => value % ROW_COUNT);
}

function figure(name: string, action: () => unknown): Figure {
  let shortestMs = Number.POSITIVE_INFINITY;
  for (let index = 0; index < RUN_COUNT; index++) {
    const startMs = performance.now();
    action();
    shortestMs = Math.min(shortestMs, performance.now() - startMs);
  }
  return { name, value: shortestMs, unit: 'ms' };
}

function countOf(items: Iterable<unknown>): number {
  let count = 0;
  for (const _ of items) count++;
  return count;
}
