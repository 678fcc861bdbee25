import { RoaringBitmap } from '../roaring/index.ts';

/** So many positions are kept as numbers at a time: 8 MiB. */
export const PENDING_COUNT_MAX = 2 ** 20;

/** Gathers positions one by one into a bitmap; ascending ones are quicker. */
export class PositionCollector {
  readonly #subject: string;
  #parts: RoaringBitmap[] = [];
  #pending: number[] = [];

  /** @param subject where the positions come from, for error messages */
  constructor(subject: string) {
    this.#subject = subject;
  }

  add(position: number): void {
    this.#pending.push(position);
    if (this.#pending.length === PENDING_COUNT_MAX) this.flush();
  }

  /**
   * Compresses what was added so far.
   *
   * @throws invalid-data — when a position is negative
   * @throws unsupported — when one is beyond 2^53 - 1
   */
  flush(): void {
    if (this.#pending.length === 0) return;
    this.#parts.push(RoaringBitmap.fromPositions(this.#pending, this.#subject));
    this.#pending = [];
  }

  /** What was added. Throws as `flush`. */
  finish(): RoaringBitmap {
    this.flush();
    this.#parts = [RoaringBitmap.unionOf(this.#parts)];
    return this.#parts[0] ?? RoaringBitmap.EMPTY;
  }
}
