import { concatBytes } from '../../shared/bytes/index.ts';

/** A number in a Thrift compact structure that other bytes depend on, or that says how many follow. */
export interface ThriftNumber {
  readonly kind: 'list' | 'binary' | 'integer';
  /** Field ids and list indexes from the outermost struct, such as `4[0].1[2].3.7`. */
  readonly path: string;
  readonly start: number;
  readonly end: number;
  /** As it stands: lengths and counts plain, integers in zigzag form. */
  readonly raw: bigint;
  /** Of a list's elements. */
  readonly elementType: number;
}

/** Beyond any file; the last one does not fit 64 bits with a sign. */
const HUGE = [2n ** 31n - 1n, 2n ** 32n - 1n, 2n ** 63n];

/** What to claim instead of a number. */
export function liesAbout({ raw }: ThriftNumber): readonly bigint[] {
  const near = raw === 0n ? [raw + 1n] : [raw + 1n, raw - 1n];
  return [...near, ...HUGE];
}

export function isHuge(lie: bigint): boolean {
  return HUGE.includes(lie);
}

/** The bytes with some numbers replaced; what stands behind each moves along. */
export function withNumbers(
  bytes: Uint8Array,
  changes: readonly { readonly number: ThriftNumber; readonly raw: bigint }[],
): Uint8Array {
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const { number, raw } of changes.toSorted(
    (one, other) => one.number.start - other.number.start,
  )) {
    parts.push(bytes.subarray(offset, number.start), encodeNumber(number, raw));
    offset = number.end;
  }
  return concatBytes([...parts, bytes.subarray(offset)]);
}

function encodeNumber({ kind, elementType }: ThriftNumber, raw: bigint): Uint8Array {
  if (kind !== 'list') return varint(raw);
  if (raw < 15n) return Uint8Array.of((Number(raw) << 4) | elementType);
  return concatBytes([Uint8Array.of(0xf0 | elementType), varint(raw)]);
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

const STOP = 0;
const BOOLEAN_FALSE = 2;
const BYTE = 3;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const STRUCT = 12;

/** Every number of the struct at `start`, found without knowing what its fields mean. */
export function thriftNumbers(bytes: Uint8Array, start: number): readonly ThriftNumber[] {
  const numbers: ThriftNumber[] = [];
  let offset = start;
  readStruct('');
  return numbers;

  function readStruct(path: string): void {
    let fieldId = 0;
    for (let header = bytes[offset++]!; header !== STOP; header = bytes[offset++]!) {
      const delta = header >> 4;
      fieldId = delta === 0 ? Number(readVarint() >> 1n) : fieldId + delta;
      readValue(header & 0xf, path === '' ? `${fieldId}` : `${path}.${fieldId}`, false);
    }
  }

  function readValue(type: number, path: string, isElement: boolean): void {
    // A boolean field is in its header, a boolean element takes a byte.
    if (type <= BOOLEAN_FALSE) offset += isElement ? 1 : 0;
    else if (type === BYTE) offset++;
    else if (type <= I64) readNumber('integer', path);
    else if (type === DOUBLE) offset += 8;
    else if (type === BINARY) {
      // Reading the length moves the offset, so it comes first.
      const lengthBytes = Number(readNumber('binary', path));
      offset += lengthBytes;
    } else if (type === LIST || type === SET) readList(path);
    else if (type === STRUCT) readStruct(path);
    else throw new TypeError(`hostile: thrift type ${type} at ${offset}`);
  }

  function readNumber(kind: 'integer' | 'binary', path: string): bigint {
    const begin = offset;
    const raw = readVarint();
    numbers.push({ kind, path, start: begin, end: offset, raw, elementType: 0 });
    return raw;
  }

  function readList(path: string): void {
    const begin = offset;
    const header = bytes[offset++]!;
    const elementType = header & 0xf;
    const raw = header >> 4 === 15 ? readVarint() : BigInt(header >> 4);
    numbers.push({ kind: 'list', path, start: begin, end: offset, raw, elementType });
    for (let index = 0; index < raw; index++) readValue(elementType, `${path}[${index}]`, true);
  }

  function readVarint(): bigint {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[offset++]!;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
  }
}
