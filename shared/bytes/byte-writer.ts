import { assert } from '../base/index.ts';

const CAPACITY_BYTES_MIN = 64;
const UTF8 = new TextEncoder();

/** Builds bytes from start to end in a buffer that doubles as it fills. */
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
    this.#view.setUint8(this.#extend(1), value);
  }

  u16le(value: number): void {
    this.#view.setUint16(this.#extend(2), value, true);
  }

  u32le(value: number): void {
    this.#view.setUint32(this.#extend(4), value, true);
  }

  i32le(value: number): void {
    this.#view.setInt32(this.#extend(4), value, true);
  }

  u32be(value: number): void {
    this.#view.setUint32(this.#extend(4), value, false);
  }

  i64le(value: bigint): void {
    this.#view.setBigInt64(this.#extend(8), value, true);
  }

  u64le(value: bigint): void {
    this.#view.setBigUint64(this.#extend(8), value, true);
  }

  f32le(value: number): void {
    this.#view.setFloat32(this.#extend(4), value, true);
  }

  f64le(value: number): void {
    this.#view.setFloat64(this.#extend(8), value, true);
  }

  /** Unsigned LEB128 of a value in [0, 2^32). */
  varint32(value: number): void {
    assert(value >= 0 && value < 2 ** 32, `varint32: ${value} is out of range`);
    let rest = value >>> 0;
    while (rest > 0x7f) {
      this.u8((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.u8(rest);
  }

  /** Unsigned LEB128 of a value in [0, 2^64). */
  varint64(value: bigint): void {
    assert(value >= 0n && value < 2n ** 64n, `varint64: ${value} is out of range`);
    let rest = value;
    while (rest > 0x7fn) {
      this.u8(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.u8(Number(rest));
  }

  zigzag32(value: number): void {
    this.varint32(((value << 1) ^ (value >> 31)) >>> 0);
  }

  zigzag64(value: bigint): void {
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

/** The text as UTF-8. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return UTF8.encode(text);
}
