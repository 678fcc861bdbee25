import { IcebergError } from '../base/index.ts';

/** `ignoreBOM` means: a leading byte order mark is text like any other. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A cursor over bytes from outside. Every method moves past what it reads, and throws `invalid-data` naming
 * the subject and the offset when the bytes end too early. `offset` counts from the start of `bytes`.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #subject: string;
  offset = 0;

  /** @param subject names the structure being read, for error messages */
  constructor(bytes: Uint8Array, subject: string) {
    // A Buffer's `slice` is a view, a plain array's a copy: what `bytes` hands out is always plain.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#subject = subject;
  }

  get remainingBytes(): number {
    return this.#bytes.length - this.offset;
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  i8(): number {
    return this.#view.getInt8(this.#advance(1));
  }

  u16le(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  u32le(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  i32le(): number {
    return this.#view.getInt32(this.#advance(4), true);
  }

  u32be(): number {
    return this.#view.getUint32(this.#advance(4), false);
  }

  i64le(): bigint {
    return this.#view.getBigInt64(this.#advance(8), true);
  }

  u64le(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  f32le(): number {
    return this.#view.getFloat32(this.#advance(4), true);
  }

  f64le(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** Unsigned LEB128 of at most 5 bytes; the value fits 32 bits. */
  varint32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8();
      if (shift === 28 && byte > 0x0f) break;
      value = (value | ((byte & 0x7f) << shift)) >>> 0;
      if (byte < 0x80) return value;
    }
    throw this.invalid('varint does not fit 32 bits');
  }

  /** Unsigned LEB128 of at most 10 bytes; the value fits 64 bits. */
  varint64(): bigint {
    // Seven bytes hold 49 bits, which a double carries exactly: BigInt steps only for the rare rest.
    let low = 0;
    let scale = 1;
    for (let index = 0; index < 7; index++, scale *= 128) {
      const byte = this.u8();
      low += (byte & 0x7f) * scale;
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.u8();
      if (shift === 63n && byte > 1) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw this.invalid('varint does not fit 64 bits');
  }

  /** Zigzag-coded signed LEB128, 32 bits. */
  zigzag32(): number {
    const value = this.varint32();
    return (value >>> 1) ^ -(value & 1);
  }

  /** Zigzag-coded signed LEB128, 64 bits. */
  zigzag64(): bigint {
    const value = this.varint64();
    return (value >> 1n) ^ -(value & 1n);
  }

  /** As `zigzag64`, for lengths and counts: a number, `invalid-data` beyond ±(2^53 − 1). */
  zigzag53(): number {
    const start = this.offset;
    let zigzag = 0;
    let scale = 1;
    for (let index = 0; index < 7; index++, scale *= 128) {
      const byte = this.u8();
      zigzag += (byte & 0x7f) * scale;
      if (byte < 0x80) return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    }
    this.offset = start;
    const value = this.zigzag64();
    if (Number.isSafeInteger(Number(value))) return Number(value);
    throw this.invalid(`${value} is beyond what can be counted`);
  }

  /** The next `lengthBytes` bytes, as a view of the input. */
  bytes(lengthBytes: number): Uint8Array {
    const offset = this.#advance(lengthBytes);
    return this.#bytes.subarray(offset, offset + lengthBytes);
  }

  /** The next `lengthBytes` bytes as text; ill-formed UTF-8 is `invalid-data`. */
  utf8(lengthBytes: number): string {
    return decodeUtf8(this.bytes(lengthBytes), this.#subject);
  }

  skip(lengthBytes: number): void {
    this.#advance(lengthBytes);
  }

  /** @throws invalid-data — when bytes are left over */
  requireEnd(): void {
    if (this.remainingBytes > 0) throw this.invalid(`${this.remainingBytes} bytes are left over`);
  }

  /** An `invalid-data` error at the present offset. */
  invalid(problem: string): IcebergError {
    return new IcebergError('invalid-data', `${this.#subject}: ${problem}`, {
      offset: this.offset,
    });
  }

  #advance(lengthBytes: number): number {
    const offset = this.offset;
    // Stated positively, so that a length that is not a number is refused as well.
    if (!(lengthBytes >= 0 && lengthBytes <= this.#bytes.length - offset)) {
      throw this.invalid(
        `${lengthBytes} bytes expected at offset ${offset}, ${this.remainingBytes} remain`,
      );
    }
    this.offset = offset + lengthBytes;
    return offset;
  }
}

/**
 * Decodes well-formed UTF-8, keeping a leading byte order mark.
 *
 * @throws invalid-data — when the bytes are not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array, subject: string): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new IcebergError('invalid-data', `${subject}: text is not UTF-8`, {}, cause);
  }
}
