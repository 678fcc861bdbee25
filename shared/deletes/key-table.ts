import { IcebergError } from '../base/index.ts';
import type { KeyBatch } from './key-batch.ts';
import type { MemoryBudget } from './memory-budget.ts';

const ENTRIES_MIN = 1024;
const HEAP_BYTES_MIN = 16 * 1024;
/** Of an entry: where its key begins, its sequence number. */
const ENTRY_BYTES = 4 + 8;
const SLOT_BYTES = 8;

/** Slots for each entry at least; with fewer, searches grow long. */
const SLOTS_PER_ENTRY = 2;

/**
 * Slots looked at before a search is given up: keys chosen to collide must not cost quadratic time. In a table that is
 * half full, others come nowhere near it.
 */
const PROBES_MAX = 512;

/**
 * Distinct keys in their canonical form, each with the greatest data sequence number it was added with. Takes some 40
 * bytes an entry and its key, up to twice that in growing.
 */
export class KeyTable {
  readonly #subject: string;
  readonly #budget: MemoryBudget;
  #entryCount = 0;
  #heapBytes = 0;
  /** Keys back to back. */
  #heap: Uint8Array;
  #starts: Uint32Array;
  #sequenceNumbers: BigInt64Array;
  /**
   * By hash, in pairs: entry + 1, or 0 where free, and the hash, so that a search that finds nothing looks nowhere
   * else. The number of pairs is a power of two.
   */
  #slots: Uint32Array;

  /** @param subject whose keys they are, for error messages */
  constructor(subject: string, budget: MemoryBudget) {
    this.#subject = subject;
    this.#budget = budget;
    budget.take(HEAP_BYTES_MIN + ENTRIES_MIN * (ENTRY_BYTES + SLOTS_PER_ENTRY * SLOT_BYTES));
    this.#heap = new Uint8Array(HEAP_BYTES_MIN);
    this.#starts = new Uint32Array(ENTRIES_MIN);
    this.#sequenceNumbers = new BigInt64Array(ENTRIES_MIN);
    this.#slots = new Uint32Array(ENTRIES_MIN * SLOTS_PER_ENTRY * 2);
  }

  get entryCount(): number {
    return this.#entryCount;
  }

  /**
   * Adds the keys of all rows.
   *
   * @throws unsupported — when they take more memory than there is, or were chosen to collide
   */
  add(batch: KeyBatch, dataSequenceNumber: bigint): void {
    for (let row = 0; row < batch.rowCount; row++) {
      const slot = this.#search(batch, row);
      if (slot < 0) throw this.#tooManyAlike();
      const entry = this.#slots[slot * 2]! - 1;
      if (entry < 0) this.#append(batch, row, dataSequenceNumber, slot);
      else if (this.#sequenceNumbers[entry]! < dataSequenceNumber) {
        this.#sequenceNumbers[entry] = dataSequenceNumber;
      }
    }
  }

  /** Calls back for each row, ascending, whose key was added with a greater data sequence number than that. */
  forEachMatch(batch: KeyBatch, dataSequenceNumber: bigint, matched: (row: number) => void): void {
    for (let row = 0; row < batch.rowCount; row++) {
      const slot = this.#search(batch, row);
      const entry = slot < 0 ? -1 : this.#slots[slot * 2]! - 1;
      if (entry >= 0 && this.#sequenceNumbers[entry]! > dataSequenceNumber) matched(row);
    }
  }

  /** The slot of a row's key, or the free one where it belongs; −1 when it is too far. */
  #search(batch: KeyBatch, row: number): number {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    const hash = batch.hashes[row]!;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const slot = (hash + probe) & mask;
      const entry = slots[slot * 2]! - 1;
      if (entry < 0) return slot;
      if (slots[slot * 2 + 1] !== hash) continue;
      if (batch.isKeyAt(row, this.#heap, this.#starts[entry]!)) return slot;
    }
    return -1;
  }

  #append(batch: KeyBatch, row: number, dataSequenceNumber: bigint, slot: number): void {
    const entry = this.#entryCount;
    const keyBytes = batch.keyBytes(row);
    this.#reserveHeap(this.#heapBytes + keyBytes);
    if (entry === this.#starts.length) this.#reserveEntries(entry * 2);
    batch.writeKey(row, this.#heap, this.#heapBytes);
    this.#starts[entry] = this.#heapBytes;
    this.#sequenceNumbers[entry] = dataSequenceNumber;
    this.#heapBytes += keyBytes;
    this.#entryCount++;
    this.#slots[slot * 2] = entry + 1;
    this.#slots[slot * 2 + 1] = batch.hashes[row]!;
    if (this.#entryCount * SLOTS_PER_ENTRY * 2 > this.#slots.length) this.#doubleSlots();
  }

  #reserveHeap(sizeBytes: number): void {
    const before = this.#heap;
    if (sizeBytes <= before.length) return;
    const heapBytes = Math.max(sizeBytes, before.length * 2);
    this.#budget.take(heapBytes);
    this.#heap = new Uint8Array(heapBytes);
    this.#heap.set(before.subarray(0, this.#heapBytes));
    this.#budget.take(-before.length);
  }

  #reserveEntries(count: number): void {
    this.#budget.take(count * ENTRY_BYTES);
    const starts = new Uint32Array(count);
    const sequenceNumbers = new BigInt64Array(count);
    starts.set(this.#starts);
    sequenceNumbers.set(this.#sequenceNumbers);
    this.#budget.take(-this.#starts.length * ENTRY_BYTES);
    this.#starts = starts;
    this.#sequenceNumbers = sequenceNumbers;
  }

  #doubleSlots(): void {
    const before = this.#slots;
    const slotCount = before.length;
    this.#budget.take(slotCount * SLOT_BYTES);
    const slots = new Uint32Array(slotCount * 2);
    for (let pair = 0; pair < before.length; pair += 2) {
      if (before[pair] === 0) continue;
      const hash = before[pair + 1]!;
      let slot = hash & (slotCount - 1);
      for (let probe = 1; slots[slot * 2] !== 0; probe++) {
        // No entry may lie further off than a search goes.
        if (probe === PROBES_MAX) throw this.#tooManyAlike();
        slot = (slot + 1) & (slotCount - 1);
      }
      slots[slot * 2] = before[pair]!;
      slots[slot * 2 + 1] = hash;
    }
    this.#slots = slots;
    this.#budget.take((-before.length / 2) * SLOT_BYTES);
  }

  #tooManyAlike(): IcebergError {
    const problem = `more than ${PROBES_MAX} of the keys to delete by have hashes alike`;
    return new IcebergError('unsupported', `${this.#subject}: ${problem}`);
  }
}
