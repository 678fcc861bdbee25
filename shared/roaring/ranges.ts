import { assert } from '../base/index.ts';
import { type Containers, ContainersBuilder, KIND, wordsOf } from './containers.ts';
import { countsOfBits, runCountOfValues, writeRunsOfBits, writeRunsOfValues } from './forms.ts';
import { CONTAINER_POSITIONS, POSITION_MAX } from './layout.ts';

/** A run of positions, `end` exclusive. */
export interface PositionRange {
  readonly start: number;
  readonly end: number;
}

/** The longest ranges, across containers, in which every position is set, ascending. */
export function* rangesOf(containers: Containers): Generator<PositionRange> {
  let start = 0;
  let end = 0;
  for (let index = 0; index < containers.count; index++) {
    const base = containers.keys[index]! * CONTAINER_POSITIONS;
    const runs = runsOf(containers, index);
    for (let word = 0; word < runs.length; word += 2) {
      const runStart = base + runs[word]!;
      const runEnd = runStart + runs[word + 1]! + 1;
      if (runStart !== end) {
        if (start < end) yield { start, end };
        start = runStart;
      }
      end = runEnd;
    }
  }
  if (start < end) yield { start, end };
}

/** Every position moved by `distance`; none may leave the range of positions. */
export function shiftedBy(containers: Containers, distance: number): Containers {
  assertWithin(containers, distance);
  const builder = new RunsBuilder();
  for (let index = 0; index < containers.count; index++) {
    const base = containers.keys[index]! * CONTAINER_POSITIONS + distance;
    const runs = runsOf(containers, index);
    for (let word = 0; word < runs.length; word += 2) {
      const start = base + runs[word]!;
      builder.append(start, start + runs[word + 1]! + 1);
    }
  }
  return builder.finish();
}

/** Collects runs of positions, which may touch and may lie across containers, in ascending order. */
class RunsBuilder {
  readonly #builder = new ContainersBuilder();
  /** Of the container in hand: its runs, how many words of them, and where the last one ends. */
  readonly #runs = new Uint16Array(CONTAINER_POSITIONS);
  #wordCount = 0;
  #runEnd = -1;
  #key = 0;

  append(start: number, end: number): void {
    for (let from = start; from < end; ) {
      const key = Math.floor(from / CONTAINER_POSITIONS);
      const keyEnd = (key + 1) * CONTAINER_POSITIONS;
      const to = Math.min(end, keyEnd);
      if (key !== this.#key) this.#endContainer(key);
      this.#appendRun(from + CONTAINER_POSITIONS - keyEnd, to - from);
      from = to;
    }
  }

  finish(): Containers {
    this.#endContainer(this.#key);
    return this.#builder.finish();
  }

  #appendRun(start: number, length: number): void {
    if (start === this.#runEnd) this.#runs[this.#wordCount - 1]! += length;
    else {
      this.#runs[this.#wordCount++] = start;
      this.#runs[this.#wordCount++] = length - 1;
    }
    this.#runEnd = start + length;
  }

  #endContainer(nextKey: number): void {
    this.#builder.appendRuns(this.#key, this.#runs.subarray(0, this.#wordCount));
    this.#key = nextKey;
    this.#wordCount = 0;
    this.#runEnd = -1;
  }
}

function assertWithin(containers: Containers, distance: number): void {
  const { count, keys } = containers;
  if (count === 0) return;
  const first = keys[0]! * CONTAINER_POSITIONS + runsOf(containers, 0)[0]! + distance;
  const [start = 0, more = 0] = runsOf(containers, count - 1).subarray(-2);
  const last = keys[count - 1]! * CONTAINER_POSITIONS + start + more + distance;
  const isWithin = Number.isSafeInteger(distance) && first >= 0 && last <= POSITION_MAX;
  assert(isWithin, `roaring: no positions from ${first} to ${last}`);
}

/** Pairs of start and length - 1 of one container. */
function runsOf(containers: Containers, index: number): Uint16Array {
  const words = wordsOf(containers, index);
  if (containers.kinds[index] === KIND.run) return words;
  if (containers.kinds[index] === KIND.array) {
    const runs = new Uint16Array(2 * runCountOfValues(words));
    writeRunsOfValues(words, runs);
    return runs;
  }
  const runs = new Uint16Array(2 * countsOfBits(words).runCount);
  writeRunsOfBits(words, runs);
  return runs;
}
