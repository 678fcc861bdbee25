import { assert } from '../base/index.ts';

/** Arrays in the order of their arrival, taken out again in other lengths. */
export class PartBuffer {
  #chunks: Uint8Array[] = [];
  #lengthBytes = 0;

  get lengthBytes(): number {
    return this.#lengthBytes;
  }

  /** Keeps the array. */
  append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#lengthBytes += bytes.length;
  }

  /** Takes the first `lengthBytes` bytes: a view where one array holds them all, else a copy. */
  take(lengthBytes: number): Uint8Array {
    assert(lengthBytes <= this.#lengthBytes, `part buffer: ${lengthBytes} of ${this.#lengthBytes}`);
    this.#lengthBytes -= lengthBytes;
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= lengthBytes) return this.#shift(first, lengthBytes);
    const part = new Uint8Array(lengthBytes);
    for (let filled = 0; filled < lengthBytes; ) {
      const chunk = this.#chunks[0]!;
      const taken = this.#shift(chunk, Math.min(chunk.length, lengthBytes - filled));
      part.set(taken, filled);
      filled += taken.length;
    }
    return part;
  }

  #shift(chunk: Uint8Array, lengthBytes: number): Uint8Array {
    if (lengthBytes === chunk.length) this.#chunks.shift();
    else this.#chunks[0] = chunk.subarray(lengthBytes);
    return chunk.subarray(0, lengthBytes);
  }
}
