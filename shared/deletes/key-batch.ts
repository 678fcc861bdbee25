import { assert } from '../base/index.ts';
import type { ColumnsBatch } from '../datafile/index.ts';
import type { LeafValues, SchemaLeaf } from '../parquet/index.ts';

/** One column of keys; value `i` of a row is found by `valueIndexes`, or is the row's own where there are no nulls. */
interface KeyColumn {
  readonly bytes: Uint8Array;
  /** Absent for values of any length. */
  readonly widthBytes: number | undefined;
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
  /** By row: −1 for null. */
  readonly valueIndexes: Int32Array | undefined;
}

const NO_LENGTHS = new Uint32Array(0);
const LENGTH_BYTES = 4;
const SEED = 0x9747b28c;
const NULL_WORD = 0x6b43a9b5;

/**
 * Keys of some rows, each a value or null from every column, with their hashes. The canonical form of a key is, for
 * each column in order, a byte that is 1 for a value and 0 for null, and the value's bytes, after their length in 4
 * bytes where values of the column may have any: no key's form begins another's.
 */
export class KeyBatch {
  readonly rowCount: number;
  readonly hashes: Uint32Array;
  readonly #columns: readonly KeyColumn[];

  /** @param leaves the columns of the batch that make up the key */
  constructor(batch: ColumnsBatch, leaves: readonly SchemaLeaf[]) {
    this.rowCount = batch.rowCount;
    this.#columns = leaves.map(({ columnIndex, maxDefinitionLevel }) => {
      const column = batch.columns[columnIndex];
      assert(column !== undefined, `deletes: column ${columnIndex} of the key is missing`);
      return keyColumn(column, maxDefinitionLevel);
    });
    this.hashes = new Uint32Array(this.rowCount).fill(SEED);
    for (const column of this.#columns) mixColumn(column, this.hashes);
    finishHashes(this.hashes);
  }

  /** Length of a row's key in its canonical form. */
  keyBytes(row: number): number {
    let sizeBytes = 0;
    for (const column of this.#columns) sizeBytes += 1 + valueBytes(column, row);
    return sizeBytes;
  }

  /** Writes a row's key in its canonical form. */
  writeKey(row: number, target: Uint8Array, start: number): void {
    let offset = start;
    for (const column of this.#columns) {
      const index = valueIndex(column, row);
      target[offset++] = index < 0 ? 0 : 1;
      if (index < 0) continue;
      const valueStart = startOf(column, index);
      const lengthBytes = lengthOf(column, index);
      if (column.widthBytes === undefined) {
        for (let byte = 0; byte < LENGTH_BYTES; byte++) {
          target[offset++] = lengthBytes >>> (8 * byte);
        }
      }
      target.set(column.bytes.subarray(valueStart, valueStart + lengthBytes), offset);
      offset += lengthBytes;
    }
  }

  /** Whether a row's key is the one whose canonical form begins at `start` of `bytes`. */
  isKeyAt(row: number, bytes: Uint8Array, start: number): boolean {
    let offset = start;
    for (const column of this.#columns) {
      const index = valueIndex(column, row);
      if (bytes[offset++] !== (index < 0 ? 0 : 1)) return false;
      if (index < 0) continue;
      const lengthBytes = lengthOf(column, index);
      if (column.widthBytes === undefined) {
        if (u32At(bytes, offset) !== lengthBytes) return false;
        offset += LENGTH_BYTES;
      }
      const valueStart = startOf(column, index);
      for (let byte = 0; byte < lengthBytes; byte++) {
        if (bytes[offset + byte] !== column.bytes[valueStart + byte]) return false;
      }
      offset += lengthBytes;
    }
    return true;
  }
}

function keyColumn(column: LeafValues, maxDefinitionLevel: number): KeyColumn {
  const { values, valueCount } = column;
  const valueIndexes =
    values.count === valueCount ? undefined : valueIndexesOf(column, maxDefinitionLevel);
  return values.kind === 'fixed-width'
    ? {
        bytes: values.bytes,
        widthBytes: values.widthBytes,
        starts: NO_LENGTHS,
        lengths: NO_LENGTHS,
        valueIndexes,
      }
    : {
        bytes: values.heap,
        widthBytes: undefined,
        starts: values.starts,
        lengths: values.lengths,
        valueIndexes,
      };
}

function valueIndexesOf(
  { definitionLevels, valueCount, values }: LeafValues,
  maxDefinitionLevel: number,
): Int32Array {
  assert(definitionLevels !== undefined, 'deletes: nulls without definition levels');
  const indexes = new Int32Array(valueCount).fill(-1);
  let count = 0;
  for (let row = 0; row < valueCount; row++) {
    if (definitionLevels[row] === maxDefinitionLevel) indexes[row] = count++;
  }
  assert(count === values.count, `deletes: ${count} rows have values, ${values.count} are there`);
  return indexes;
}

function valueIndex({ valueIndexes }: KeyColumn, row: number): number {
  return valueIndexes === undefined ? row : valueIndexes[row]!;
}

function startOf({ widthBytes, starts }: KeyColumn, index: number): number {
  return widthBytes === undefined ? starts[index]! : index * widthBytes;
}

function lengthOf({ widthBytes, lengths }: KeyColumn, index: number): number {
  return widthBytes ?? lengths[index]!;
}

/** Of a row's value in the canonical form, its length included. */
function valueBytes(column: KeyColumn, row: number): number {
  const index = valueIndex(column, row);
  if (index < 0) return 0;
  return column.widthBytes ?? column.lengths[index]! + LENGTH_BYTES;
}

/** Takes each row's value of a column into its hash, in the manner of MurmurHash3. */
function mixColumn(column: KeyColumn, hashes: Uint32Array): void {
  const { bytes } = column;
  for (let row = 0; row < hashes.length; row++) {
    const index = valueIndex(column, row);
    if (index < 0) {
      hashes[row] = mix(hashes[row]!, NULL_WORD);
      continue;
    }
    let offset = startOf(column, index);
    const end = offset + lengthOf(column, index);
    let hash = column.widthBytes === undefined ? mix(hashes[row]!, end - offset) : hashes[row]!;
    for (; offset + 4 <= end; offset += 4) hash = mix(hash, u32At(bytes, offset));
    let rest = 0;
    for (let shift = 0; offset < end; offset++, shift += 8) rest |= bytes[offset]! << shift;
    hashes[row] = mix(hash, rest);
  }
}

function u32At(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset]! |
      (bytes[offset + 1]! << 8) |
      (bytes[offset + 2]! << 16) |
      (bytes[offset + 3]! << 24)) >>>
    0
  );
}

function mix(hash: number, word: number): number {
  let mixed = Math.imul(word, 0xcc9e2d51);
  mixed = hash ^ Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
  return Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64;
}

function finishHashes(hashes: Uint32Array): void {
  for (let row = 0; row < hashes.length; row++) {
    let hash = hashes[row]!;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hashes[row] = hash ^ (hash >>> 16);
  }
}
