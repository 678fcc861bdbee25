import { IcebergError } from '../base/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';

/** Counts the bytes that are held, and refuses to hold more than were allowed. */
export class MemoryBudget {
  readonly #subject: string;
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param subject whose deletes they are, for error messages */
  constructor(subject: string, bytesMax: number) {
    this.#subject = subject;
    this.#bytesMax = bytesMax;
  }

  /**
   * Call it before the memory is taken; a negative number gives some back.
   *
   * @throws unsupported — when it would be too much
   */
  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return;
    throw new IcebergError(
      'unsupported',
      `${this.#subject}: its deletes need ${this.#bytes} bytes of memory, the limit is ${this.#bytesMax}`,
    );
  }
}

/** At most what a bitmap of positions below `recordCount` takes: 2 bytes a position, or a bit a row. */
export function bitmapBytes({ cardinality }: RoaringBitmap, recordCount: number): number {
  return Math.ceil(Math.min(cardinality * 2, recordCount / 8)) + 256;
}
