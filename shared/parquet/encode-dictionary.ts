import { BYTE_ARRAY_LENGTH_BYTES } from './encode-plain.ts';
import { type PhysicalValues, physicalValueAt } from './leaf-values.ts';

/**
 * Slots looked at before a dictionary is given up: values chosen to collide must not cost quadratic time.
 */
const PROBES_MAX = 128;

const SLOTS_MIN = 1024;
const HEAP_BYTES_MIN = 1024;

/**
 * Distinct values in the order of their first occurrence, each with its index. The PLAIN form of all entries
 * never exceeds the size given: then `add` answers `undefined` and leaves the dictionary as it was.
 */
export class ValueDictionary {
  readonly #kind: PhysicalValues['kind'];
  readonly #sizeBytesMax: number;
  /** The entries' bytes back to back; entry `i` ends at `#ends[i]`. */
  #heap = new Uint8Array(HEAP_BYTES_MIN);
  readonly #ends: number[] = [];
  readonly #hashes: number[] = [];
  /** Entry index + 1 by hash, 0 where free; the length is a power of two, at most half in use. */
  #slots = new Uint32Array(SLOTS_MIN);

  constructor(kind: PhysicalValues['kind'], sizeBytesMax: number) {
    this.#kind = kind;
    this.#sizeBytesMax = sizeBytesMax;
  }

  get entryCount(): number {
    return this.#ends.length;
  }

  /** Size of the entries in PLAIN encoding. */
  get sizeBytes(): number {
    const lengthsBytes = this.#kind === 'byte-array' ? BYTE_ARRAY_LENGTH_BYTES : 0;
    return this.#startOf(this.entryCount) + lengthsBytes * this.entryCount;
  }

  /** The index of each value, new ones being added; `undefined` when they do not fit. */
  add(values: PhysicalValues): Uint32Array | undefined {
    const countBefore = this.entryCount;
    const indices = new Uint32Array(values.count);
    for (let index = 0; index < values.count; index++) {
      const entry = this.#findOrAdd(physicalValueAt(values, index));
      if (entry === undefined) {
        this.#truncate(countBefore);
        return undefined;
      }
      indices[index] = entry;
    }
    return indices;
  }

  /** All entries in order of their index. */
  entries(): PhysicalValues {
    const count = this.entryCount;
    const heap = this.#heap.subarray(0, this.#startOf(count));
    if (this.#kind === 'fixed-width') {
      return { kind: 'fixed-width', widthBytes: this.#ends[0] ?? 0, count, bytes: heap };
    }
    const starts = Uint32Array.from(this.#ends, (_, entry) => this.#startOf(entry));
    const lengths = starts.map((start, entry) => this.#ends[entry]! - start);
    return { kind: 'byte-array', count, heap, starts, lengths };
  }

  #startOf(entry: number): number {
    return entry === 0 ? 0 : this.#ends[entry - 1]!;
  }

  #findOrAdd(value: Uint8Array): number | undefined {
    const hash = hashOf(value);
    const mask = this.#slots.length - 1;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const slot = (hash + probe) & mask;
      const entry = this.#slots[slot]! - 1;
      if (entry < 0) return this.#append(value, hash, slot);
      if (this.#hashes[entry] === hash && this.#holds(entry, value)) return entry;
    }
    return undefined;
  }

  #holds(entry: number, value: Uint8Array): boolean {
    const start = this.#startOf(entry);
    if (this.#ends[entry]! - start !== value.length) return false;
    for (let index = 0; index < value.length; index++) {
      if (this.#heap[start + index] !== value[index]) return false;
    }
    return true;
  }

  #append(value: Uint8Array, hash: number, slot: number): number | undefined {
    const entry = this.entryCount;
    const start = this.#startOf(entry);
    const lengthsBytes = this.#kind === 'byte-array' ? BYTE_ARRAY_LENGTH_BYTES * (entry + 1) : 0;
    if (start + value.length + lengthsBytes > this.#sizeBytesMax) return undefined;
    this.#reserve(start + value.length);
    this.#heap.set(value, start);
    this.#ends.push(start + value.length);
    this.#hashes.push(hash);
    this.#slots[slot] = entry + 1;
    if (this.entryCount * 2 > this.#slots.length) this.#fillSlots(this.#slots.length * 2);
    return entry;
  }

  #reserve(sizeBytes: number): void {
    if (sizeBytes <= this.#heap.length) return;
    const heap = new Uint8Array(Math.max(sizeBytes, this.#heap.length * 2));
    heap.set(this.#heap);
    this.#heap = heap;
  }

  #truncate(count: number): void {
    this.#ends.length = count;
    this.#hashes.length = count;
    this.#fillSlots(this.#slots.length);
  }

  #fillSlots(slotCount: number): void {
    const slots = new Uint32Array(slotCount);
    for (const [entry, hash] of this.#hashes.entries()) {
      let slot = hash & (slotCount - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slotCount - 1);
      slots[slot] = entry + 1;
    }
    this.#slots = slots;
  }
}

/** FNV-1a, 32 bits, with a last stir so that the low bits depend on all others. */
function hashOf(value: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < value.length; index++) {
    hash = Math.imul(hash ^ value[index]!, 0x01000193);
  }
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) & 0x3fffffff;
}
