import { ByteWriter, encodeUtf8 } from '../bytes/index.ts';
import { WIRE } from './thrift-reader.ts';

const FIELD_DELTA_MAX = 15;
const SHORT_LIST_LENGTH_MAX = 14;

/** Builds a value in Thrift's compact protocol; the counterpart of `ThriftReader`. */
export class ThriftWriter {
  readonly #writer = new ByteWriter();

  /**
   * Begins a field.
   *
   * @param fieldIdBefore the id of the struct's field before this one, 0 for the first
   */
  fieldHeader(fieldId: number, fieldIdBefore: number, wireType: number): void {
    const delta = fieldId - fieldIdBefore;
    if (delta > 0 && delta <= FIELD_DELTA_MAX) {
      this.#writer.u8((delta << 4) | wireType);
    } else {
      this.#writer.u8(wireType);
      this.#writer.zigzag32(fieldId);
    }
  }

  stop(): void {
    this.#writer.u8(WIRE.STOP);
  }

  listHeader(length: number, wireType: number): void {
    if (length <= SHORT_LIST_LENGTH_MAX) {
      this.#writer.u8((length << 4) | wireType);
    } else {
      this.#writer.u8(0xf0 | wireType);
      this.#writer.varint32(length);
    }
  }

  booleanElement(value: boolean): void {
    this.#writer.u8(value ? WIRE.BOOLEAN_TRUE : WIRE.BOOLEAN_FALSE);
  }

  i8(value: number): void {
    this.#writer.u8(value & 0xff);
  }

  /** 16 and 32 bits are written alike. */
  i32(value: number): void {
    this.#writer.zigzag32(value);
  }

  i64(value: number): void {
    this.#writer.zigzag64(BigInt(value));
  }

  double(value: number): void {
    this.#writer.f64le(value);
  }

  binary(bytes: Uint8Array): void {
    this.#writer.varint32(bytes.length);
    this.#writer.bytes(bytes);
  }

  string(text: string): void {
    this.binary(encodeUtf8(text));
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#writer.finish();
  }
}
