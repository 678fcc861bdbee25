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

/** Every position moved by `distance`. */
export function shiftedBy(containers: Containers, distance: number): Containers {
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
    assert(start >= 0 && end - 1 <= POSITION_MAX, `roaring: no positions from ${start} to ${end}`);
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
