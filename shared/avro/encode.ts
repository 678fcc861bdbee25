import avsc, { type ForSchemaOptions, type Schema, type Type } from 'avsc';
import { IcebergError, type JsonValue, serializeJson, toInt64 } from '../base/index.ts';
import { createMemo } from './memo.ts';
import type { AvroValue } from './value.ts';

export interface AvroEncoder {
  /** The bytes of one value. @throws invalid-data — when the value does not fit the schema */
  encode(value: AvroValue): Uint8Array;
}

/** Longs are bigints; the library hands over and takes eight bytes, little-endian. */
const BIGINT_LONG = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer(value: bigint) {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64LE(toInt64(value, 'avro long'));
    return bytes;
  },
  fromJSON: (value: number) => BigInt(value),
  toJSON: (value: bigint) => value.toString(),
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0),
});

/** The library knows bytes as `Buffer` only; this passes any `Uint8Array`, without a copy. */
class AnyBytes extends avsc.types.LogicalType {
  protected override _toValue(value: unknown): Buffer | undefined {
    if (!(value instanceof Uint8Array)) return undefined;
    return Buffer.from(value.buffer, value.byteOffset, value.length);
  }

  protected override _fromValue(bytes: Buffer): Uint8Array {
    return bytes;
  }
}

/** The library generates code for each type, which takes longer than writing a small manifest with it. */
const typeMemo = createMemo<Type>();

/**
 * Compiles an encoder for values as `AvroValue` describes them; unions take the plain value or null.
 *
 * @throws unsupported — when the library refuses the schema (a name that is not ASCII, for instance)
 */
export function compileEncoder(schema: JsonValue, subject: string): AvroEncoder {
  const type = typeMemo(serializeJson(schema), () => compileType(schema, subject));
  return {
    encode(value) {
      try {
        return type.toBuffer(value);
      } catch (cause) {
        if (cause instanceof IcebergError) throw cause;
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new IcebergError(
          'invalid-data',
          `${subject}: value does not fit the avro schema: ${reason.slice(0, 200)}`,
          {},
          cause,
        );
      }
    },
  };
}

function compileType(schema: JsonValue, subject: string): Type {
  try {
    return avsc.Type.forSchema(schema as unknown as Schema, {
      typeHook: ownTypes,
      wrapUnions: false,
      omitRecordMethods: true,
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new IcebergError(
      'unsupported',
      `${subject}: avro schema cannot be written: ${reason.slice(0, 200)}`,
      {},
      cause,
    );
  }
}

/** Replaces longs and bytes wherever they occur, also where attributes make them objects in the schema. */
function ownTypes(schema: Schema, options: ForSchemaOptions): Type | undefined {
  const kind = typeof schema === 'object' && 'type' in schema ? schema.type : schema;
  if (kind === 'long') return BIGINT_LONG;
  if (kind !== 'bytes' && kind !== 'fixed') return undefined;
  const definition = typeof schema === 'string' ? { type: schema } : schema;
  return new AnyBytes(definition as Schema, { ...options, typeHook: undefined });
}
