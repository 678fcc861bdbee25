import { assert } from '../base/index.ts';
import { concatBytes } from '../bytes/index.ts';

const NO_BYTES = new Uint8Array(0);

/**
 * Values of one leaf that are not null, in the form of the PLAIN encoding, so that no bit changes on the way
 * (payloads of NaN, -0.0): a reader that needs numbers makes them itself.
 */
export type PhysicalValues = FixedWidthValues | ByteArrayValues;

/** BOOLEAN takes one byte each, 0 or 1; all others their PLAIN width, little-endian. */
export interface FixedWidthValues {
  readonly kind: 'fixed-width';
  readonly widthBytes: number;
  readonly count: number;
  /** `count * widthBytes` bytes. */
  readonly bytes: Uint8Array;
}

/** Value `i` is `heap[starts[i] .. starts[i] + lengths[i])`; values may share bytes of the heap. */
export interface ByteArrayValues {
  readonly kind: 'byte-array';
  readonly count: number;
  readonly heap: Uint8Array;
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
}

/**
 * Consecutive values of one leaf column with their levels; it starts at a row boundary unless it continues
 * the row of the batch before it.
 *
 * `repetitionLevels` is absent where the leaf's greatest repetition level is 0, `definitionLevels` likewise.
 */
export interface LeafValues {
  /** Values counting nulls and empty lists: the length of the level arrays. */
  readonly valueCount: number;
  readonly repetitionLevels?: Uint8Array;
  readonly definitionLevels?: Uint8Array;
  readonly values: PhysicalValues;
}

/** Rows that begin in the batch. */
export function rowStartCount({ repetitionLevels, valueCount }: LeafValues): number {
  if (repetitionLevels === undefined) return valueCount;
  let count = 0;
  for (const level of repetitionLevels) if (level === 0) count++;
  return count;
}

/** Bytes of value `index`, as a view. */
export function physicalValueAt(values: PhysicalValues, index: number): Uint8Array {
  // Asked of every value: the message is not made unless it is needed.
  if (index < 0 || index >= values.count) assert(false, `value ${index} of ${values.count}`);
  if (values.kind === 'fixed-width') {
    return values.bytes.subarray(index * values.widthBytes, (index + 1) * values.widthBytes);
  }
  const start = values.starts[index]!;
  return values.heap.subarray(start, start + values.lengths[index]!);
}

/** A view of the values `[start, end)`. */
export function slicePhysicalValues(
  values: PhysicalValues,
  start: number,
  end: number,
): PhysicalValues {
  assert(start >= 0 && start <= end && end <= values.count, `values ${start} to ${end}`);
  const count = end - start;
  if (values.kind === 'fixed-width') {
    const { widthBytes } = values;
    return { ...values, count, bytes: values.bytes.subarray(start * widthBytes, end * widthBytes) };
  }
  return {
    ...values,
    count,
    starts: values.starts.subarray(start, end),
    lengths: values.lengths.subarray(start, end),
  };
}

/** The dictionary entries that `indices` name, in that order. Every index must be below the entry count. */
export function gatherPhysicalValues(
  dictionary: PhysicalValues,
  indices: Uint32Array,
): PhysicalValues {
  const count = indices.length;
  if (dictionary.kind === 'byte-array') {
    return {
      kind: 'byte-array',
      count,
      heap: dictionary.heap,
      starts: indices.map((index) => dictionary.starts[index]!),
      lengths: indices.map((index) => dictionary.lengths[index]!),
    };
  }
  const { widthBytes } = dictionary;
  const bytes = new Uint8Array(count * widthBytes);
  for (let index = 0; index < count; index++) {
    const source = indices[index]! * widthBytes;
    for (let byte = 0; byte < widthBytes; byte++) {
      bytes[index * widthBytes + byte] = dictionary.bytes[source + byte]!;
    }
  }
  return { kind: 'fixed-width', widthBytes, count, bytes };
}

/** `count` copies of one value. Byte arrays share their bytes. */
export function repeatPhysicalValue(
  value: Uint8Array,
  count: number,
  kind: PhysicalValues['kind'],
): PhysicalValues {
  if (kind === 'byte-array') {
    const starts = new Uint32Array(count);
    return { kind, count, heap: value, starts, lengths: new Uint32Array(count).fill(value.length) };
  }
  const bytes = new Uint8Array(count * value.length);
  for (let index = 0; index < count; index++) bytes.set(value, index * value.length);
  return { kind, widthBytes: value.length, count, bytes };
}

/**
 * A view of the levels `[start, end)` and of the values `[valueStart, valueEnd)` that belong to them.
 */
export function sliceLeafValues(
  batch: LeafValues,
  range: {
    readonly start: number;
    readonly end: number;
    readonly valueStart: number;
    readonly valueEnd: number;
  },
): LeafValues {
  const { repetitionLevels, definitionLevels } = batch;
  return {
    valueCount: range.end - range.start,
    ...(repetitionLevels && {
      repetitionLevels: repetitionLevels.subarray(range.start, range.end),
    }),
    ...(definitionLevels && {
      definitionLevels: definitionLevels.subarray(range.start, range.end),
    }),
    values: slicePhysicalValues(batch.values, range.valueStart, range.valueEnd),
  };
}

/** Batches of one leaf, at least one, as one; a single batch is returned as it is. */
export function joinLeafValues(batches: readonly LeafValues[]): LeafValues {
  const first = batches[0];
  assert(first !== undefined, 'no batch to join');
  if (batches.length === 1) return first;
  const levelsOf = (name: 'repetitionLevels' | 'definitionLevels') =>
    first[name] && { [name]: concatBytes(batches.map((batch) => batch[name]!)) };
  return {
    valueCount: batches.reduce((sum, batch) => sum + batch.valueCount, 0),
    ...levelsOf('repetitionLevels'),
    ...levelsOf('definitionLevels'),
    values: joinPhysicalValues(batches.map((batch) => batch.values)),
  };
}

function joinPhysicalValues(parts: readonly PhysicalValues[]): PhysicalValues {
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const first = parts[0]!;
  if (first.kind === 'fixed-width') {
    const bytes = parts.map((part) => (part.kind === 'fixed-width' ? part.bytes : NO_BYTES));
    return { ...first, count, bytes: concatBytes(bytes) };
  }
  return joinByteArrays(
    parts.filter((part) => part.kind === 'byte-array'),
    count,
  );
}

/** Each value is copied, so that the heaps of the parts (whole pages, dictionaries) need not be. */
function joinByteArrays(parts: readonly ByteArrayValues[], count: number): ByteArrayValues {
  const lengths = new Uint32Array(count);
  const starts = new Uint32Array(count);
  const values: Uint8Array[] = [];
  let heapBytes = 0;
  for (const part of parts) {
    for (let index = 0; index < part.count; index++) {
      const value = physicalValueAt(part, index);
      starts[values.length] = heapBytes;
      lengths[values.length] = value.length;
      heapBytes += value.length;
      values.push(value);
    }
  }
  return { kind: 'byte-array', count, heap: concatBytes(values), starts, lengths };
}
