import { IcebergError, toSafeNumber } from '../base/index.ts';
import { ByteReader } from '../bytes/index.ts';

/** Type codes of the compact protocol. */
export const WIRE = {
  STOP: 0,
  BOOLEAN_TRUE: 1,
  BOOLEAN_FALSE: 2,
  I8: 3,
  I16: 4,
  I32: 5,
  I64: 6,
  DOUBLE: 7,
  BINARY: 8,
  LIST: 9,
  SET: 10,
  MAP: 11,
  STRUCT: 12,
  UUID: 13,
} as const;

/** Structs, lists and maps inside one another; parquet.thrift needs 7. */
export const THRIFT_DEPTH_MAX = 16;

/** A list is as long as a row group has pages or a file has row groups, columns or levels. */
export const THRIFT_LIST_LENGTH_MAX = 2 ** 20;

/**
 * Structs of one value, skipped ones included. Each costs some hundred bytes as an object but as little as
 * one in the file, so the input's length alone would not bound memory. 2^21 are about 250,000 column chunks.
 */
export const THRIFT_STRUCT_COUNT_MAX = 2 ** 21;

/** Elements of all lists of one value: numbers in a list grow to eight times their size in the file. */
export const THRIFT_ELEMENT_COUNT_MAX = 2 ** 23;

/** Bytes of a 64-bit varint whose value is exact as a double while it is summed up. */
const VARINT_BYTES_SAFE = 7;

/**
 * A cursor over a value in Thrift's compact protocol. Lengths are checked against what remains, depth and
 * counts against the limits above.
 *
 * @see Thrift, "Thrift Compact protocol encoding"
 */
export class ThriftReader {
  readonly #reader: ByteReader;
  readonly #subject: string;
  #depth = 0;
  #structCount = 0;
  #elementCount = 0;

  constructor(bytes: Uint8Array, subject: string) {
    this.#reader = new ByteReader(bytes, subject);
    this.#subject = subject;
  }

  /** From the start of `bytes`. */
  get offset(): number {
    return this.#reader.offset;
  }

  /**
   * Reads one struct. `readField` must consume the field's value (nothing for booleans, whose value is the
   * wire type), by a method of this reader or by `skip`.
   */
  struct(readField: (fieldId: number, wireType: number) => void): void {
    this.#enter();
    this.#structCount++;
    if (this.#structCount > THRIFT_STRUCT_COUNT_MAX) {
      throw this.#beyond('structs', this.#structCount, THRIFT_STRUCT_COUNT_MAX);
    }
    let fieldId = 0;
    for (let header = this.#reader.u8(); header !== WIRE.STOP; header = this.#reader.u8()) {
      const delta = header >>> 4;
      fieldId = delta === 0 ? this.i16() : fieldId + delta;
      readField(fieldId, header & 0x0f);
    }
    this.#depth--;
  }

  /** Reads one list or set; `readElement` is called once for each element and must consume it. */
  list(readElement: (wireType: number) => void): void {
    const header = this.#reader.u8();
    const wireType = header & 0x0f;
    const short = header >>> 4;
    const length = short === 15 ? this.#reader.varint32() : short;
    this.#requireLength(length);
    this.#enter();
    for (let index = 0; index < length; index++) readElement(wireType);
    this.#depth--;
  }

  /** A boolean inside a list, where it takes a byte of its own; some writers write 0 for false. */
  booleanElement(): boolean {
    const byte = this.#reader.u8();
    if (byte > WIRE.BOOLEAN_FALSE) throw this.#reader.invalid(`boolean ${byte} is neither 1 nor 2`);
    return byte === WIRE.BOOLEAN_TRUE;
  }

  i8(): number {
    return this.#reader.i8();
  }

  i16(): number {
    const value = this.#reader.zigzag32();
    if (value < -0x8000 || value > 0x7fff) {
      throw this.#reader.invalid(`${value} does not fit 16 bits`);
    }
    return value;
  }

  i32(): number {
    return this.#reader.zigzag32();
  }

  /** @throws unsupported — when the value lies beyond ±(2^53 − 1) */
  i64(): number {
    const start = this.#reader.offset;
    let zigzag = 0;
    let weight = 1;
    for (let index = 0; index < VARINT_BYTES_SAFE; index++) {
      const byte = this.#reader.u8();
      zigzag += (byte & 0x7f) * weight;
      if (byte < 0x80) return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      weight *= 128;
    }
    this.#reader.offset = start;
    return toSafeNumber(this.#reader.zigzag64(), this.#subject);
  }

  double(): number {
    return this.#reader.f64le();
  }

  /** A view of the input. */
  binary(): Uint8Array {
    return this.#reader.bytes(this.#reader.varint32());
  }

  string(): string {
    return this.#reader.utf8(this.#reader.varint32());
  }

  /** Moves past a value of any type. */
  skip(wireType: number): void {
    switch (wireType) {
      case WIRE.BOOLEAN_TRUE:
      case WIRE.BOOLEAN_FALSE:
        break;
      case WIRE.I8:
        this.#reader.skip(1);
        break;
      case WIRE.I16:
      case WIRE.I32:
      case WIRE.I64:
        this.#reader.varint64();
        break;
      case WIRE.DOUBLE:
        this.#reader.skip(8);
        break;
      case WIRE.BINARY:
        this.#reader.skip(this.#reader.varint32());
        break;
      case WIRE.LIST:
      case WIRE.SET:
        this.list((element) => this.#skipElement(element));
        break;
      case WIRE.MAP:
        this.#skipMap();
        break;
      case WIRE.STRUCT:
        this.struct((_, field) => this.skip(field));
        break;
      case WIRE.UUID:
        this.#reader.skip(16);
        break;
      default:
        throw this.#reader.invalid(`thrift type ${wireType} does not exist`);
    }
  }

  /** An `invalid-data` error at the present offset. */
  invalid(problem: string): IcebergError {
    return this.#reader.invalid(problem);
  }

  /** An `unsupported` error at the present offset. */
  unsupported(problem: string): IcebergError {
    return new IcebergError('unsupported', `${this.#subject}: ${problem}`, { offset: this.offset });
  }

  #skipMap(): void {
    const length = this.#reader.varint32();
    if (length === 0) return;
    this.#requireLength(length);
    const types = this.#reader.u8();
    this.#enter();
    for (let index = 0; index < length; index++) {
      this.#skipElement(types >>> 4);
      this.#skipElement(types & 0x0f);
    }
    this.#depth--;
  }

  #skipElement(wireType: number): void {
    if (wireType === WIRE.BOOLEAN_TRUE || wireType === WIRE.BOOLEAN_FALSE) this.#reader.skip(1);
    else this.skip(wireType);
  }

  #enter(): void {
    this.#depth++;
    if (this.#depth > THRIFT_DEPTH_MAX) {
      throw this.#beyond('nested values', this.#depth, THRIFT_DEPTH_MAX);
    }
  }

  /** Every element takes at least one byte. */
  #requireLength(length: number): void {
    if (length > this.#reader.remainingBytes) {
      throw this.#reader.invalid(
        `list of ${length} elements with ${this.#reader.remainingBytes} bytes remaining`,
      );
    }
    if (length > THRIFT_LIST_LENGTH_MAX) {
      throw this.#beyond('list elements', length, THRIFT_LIST_LENGTH_MAX);
    }
    this.#elementCount += length;
    if (this.#elementCount > THRIFT_ELEMENT_COUNT_MAX) {
      throw this.#beyond('list elements in all', this.#elementCount, THRIFT_ELEMENT_COUNT_MAX);
    }
  }

  #beyond(what: string, count: number, limit: number): IcebergError {
    return this.unsupported(`${count} ${what} exceed the limit of ${limit}`);
  }
}
