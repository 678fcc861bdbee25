import { assert, IcebergError } from '../base/index.ts';

const CAPACITY_BYTES_MIN = 64;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;
const UTF8 = new TextEncoder();

/**
 * Builds bytes from start to end in a buffer that doubles as it fills. A value that does not fit its width is
 * a programmer error: nothing is ever cut off in silence.
 */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #lengthBytes = 0;

  constructor(capacityBytes = CAPACITY_BYTES_MIN) {
    this.#bytes = new Uint8Array(Math.max(capacityBytes, CAPACITY_BYTES_MIN));
    this.#view = new DataView(this.#bytes.buffer);
  }

  /** Bytes written so far. */
  get lengthBytes(): number {
    return this.#lengthBytes;
  }

  u8(value: number): void {
    requireRange(value, 0, 0xff);
    const offset = this.#extend(1);
    this.#view.setUint8(offset, value);
  }

  u16le(value: number): void {
    requireRange(value, 0, 0xffff);
    const offset = this.#extend(2);
    this.#view.setUint16(offset, value, true);
  }

  u32le(value: number): void {
    requireRange(value, 0, 0xffff_ffff);
    const offset = this.#extend(4);
    this.#view.setUint32(offset, value, true);
  }

  i32le(value: number): void {
    requireRange(value, -0x8000_0000, 0x7fff_ffff);
    const offset = this.#extend(4);
    this.#view.setInt32(offset, value, true);
  }

  u32be(value: number): void {
    requireRange(value, 0, 0xffff_ffff);
    const offset = this.#extend(4);
    this.#view.setUint32(offset, value, false);
  }

  i64le(value: bigint): void {
    requireRange(value, INT64_MIN, INT64_MAX);
    const offset = this.#extend(8);
    this.#view.setBigInt64(offset, value, true);
  }

  u64le(value: bigint): void {
    requireRange(value, 0n, UINT64_MAX);
    const offset = this.#extend(8);
    this.#view.setBigUint64(offset, value, true);
  }

  f32le(value: number): void {
    const offset = this.#extend(4);
    this.#view.setFloat32(offset, value, true);
  }

  f64le(value: number): void {
    const offset = this.#extend(8);
    this.#view.setFloat64(offset, value, true);
  }

  /** Unsigned LEB128 of a value in [0, 2^32). */
  varint32(value: number): void {
    requireRange(value, 0, 0xffff_ffff);
    let rest = value;
    while (rest > 0x7f) {
      this.u8((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.u8(rest);
  }

  /** Unsigned LEB128 of a value in [0, 2^64). */
  varint64(value: bigint): void {
    requireRange(value, 0n, UINT64_MAX);
    let rest = value;
    while (rest > 0x7fn) {
      this.u8(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.u8(Number(rest));
  }

  /** Zigzag-coded LEB128 of a value in [−2^31, 2^31). */
  zigzag32(value: number): void {
    requireRange(value, -0x8000_0000, 0x7fff_ffff);
    this.varint32(((value << 1) ^ (value >> 31)) >>> 0);
  }

  /** Zigzag-coded LEB128 of a value in [−2^63, 2^63). */
  zigzag64(value: bigint): void {
    requireRange(value, INT64_MIN, INT64_MAX);
    this.varint64(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  }

  bytes(bytes: Uint8Array): void {
    const offset = this.#extend(bytes.length);
    this.#bytes.set(bytes, offset);
  }

  /** The text as UTF-8, without a length. */
  utf8(text: string): void {
    this.bytes(encodeUtf8(text));
  }

  /** What was written, as a view that stays valid; the writer must not be used afterwards. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#lengthBytes);
  }

  #extend(lengthBytes: number): number {
    const offset = this.#lengthBytes;
    const needed = offset + lengthBytes;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, offset));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    this.#lengthBytes = needed;
    return offset;
  }
}

/**
 * The text as UTF-8.
 *
 * @throws invalid-data — when the text holds a lone surrogate, which no UTF-8 stands for
 */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  if (!text.isWellFormed()) {
    throw new IcebergError(
      'invalid-data',
      `text of ${text.length} characters: holds a lone surrogate`,
    );
  }
  return UTF8.encode(text);
}

/** Builds its message on failure only, since it runs for every value written. */
function requireRange<Value extends number | bigint>(value: Value, min: Value, max: Value): void {
  if (value >= min && value <= max) return;
  assert(false, `byte writer: ${value} is not between ${min} and ${max}`);
}
