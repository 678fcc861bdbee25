import { assert } from '../base/index.ts';
import { type ThriftReader, WIRE } from './thrift-reader.ts';
import { ThriftWriter } from './thrift-writer.ts';

/**
 * How one type of value is read and written. Codecs are put together from the functions below, so that each
 * structure of parquet.thrift is one table of fields (`metadata-codecs.ts`), checked against its TypeScript
 * type, and serves both directions.
 */
export interface ThriftCodec<T> {
  readonly wireType: number;
  read(reader: ThriftReader): T;
  write(writer: ThriftWriter, value: T): void;
}

interface ThriftField<T> {
  readonly fieldId: number;
  readonly codec: ThriftCodec<T>;
  readonly isRequired: boolean;
}

interface RequiredField<T> extends ThriftField<T> {
  readonly isRequired: true;
}

interface OptionalField<T> extends ThriftField<T> {
  readonly isRequired: false;
}

/** A field for every key of `T`: required exactly where the key is. */
type ThriftFields<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K>
    ? OptionalField<Exclude<T[K], undefined>>
    : RequiredField<T[K]>;
};

export function required<T>(fieldId: number, codec: ThriftCodec<T>): RequiredField<T> {
  return { fieldId, codec, isRequired: true };
}

export function optional<T>(fieldId: number, codec: ThriftCodec<T>): OptionalField<T> {
  return { fieldId, codec, isRequired: false };
}

/**
 * A boolean that is a field of a struct carries its value in the wire type, so struct and list codecs handle
 * it themselves.
 */
export const BOOLEAN: ThriftCodec<boolean> = {
  wireType: WIRE.BOOLEAN_TRUE,
  read: (reader) => reader.booleanElement(),
  write: (writer, value) => writer.booleanElement(value),
};

export const I8: ThriftCodec<number> = {
  wireType: WIRE.I8,
  read: (reader) => reader.i8(),
  write: (writer, value) => writer.i8(value),
};

export const I16: ThriftCodec<number> = {
  wireType: WIRE.I16,
  read: (reader) => reader.i16(),
  write: (writer, value) => writer.i32(value),
};

export const I32: ThriftCodec<number> = {
  wireType: WIRE.I32,
  read: (reader) => reader.i32(),
  write: (writer, value) => writer.i32(value),
};

export const I64: ThriftCodec<number> = {
  wireType: WIRE.I64,
  read: (reader) => reader.i64(),
  write: (writer, value) => writer.i64(value),
};

export const DOUBLE: ThriftCodec<number> = {
  wireType: WIRE.DOUBLE,
  read: (reader) => reader.double(),
  write: (writer, value) => writer.double(value),
};

export const BINARY: ThriftCodec<Uint8Array> = {
  wireType: WIRE.BINARY,
  read: (reader) => reader.binary(),
  write: (writer, value) => writer.binary(value),
};

export const STRING: ThriftCodec<string> = {
  wireType: WIRE.BINARY,
  read: (reader) => reader.string(),
  write: (writer, value) => writer.string(value),
};

/** A struct of which only the presence matters. Never written. */
export const PRESENCE: ThriftCodec<true> = {
  wireType: WIRE.STRUCT,
  read(reader) {
    reader.skip(WIRE.STRUCT);
    return true;
  },
  write: () => assert(false, 'thrift: a presence is read only'),
};

/** An enum as the word for its number; a number without a word is `unsupported`. */
export function enumeration<Word extends string>(
  name: string,
  numbers: Readonly<Record<Word, number>>,
): ThriftCodec<Word> {
  const words = wordsByNumber(numbers);
  return {
    wireType: WIRE.I32,
    read(reader) {
      const number = reader.i32();
      const word = words.get(number);
      if (word === undefined) throw reader.unsupported(`${name} ${number} is not known`);
      return word;
    },
    write: (writer, word) => writer.i32(numbers[word]),
  };
}

/** Reads lists and sets alike; an element of another type than expected is `invalid-data`. */
export function list<T>(codec: ThriftCodec<T>): ThriftCodec<readonly T[]> {
  return {
    wireType: WIRE.LIST,
    read(reader) {
      const elements: T[] = [];
      reader.list((wireType) => {
        if (!sameWireType(wireType, codec.wireType)) {
          throw reader.invalid(`list of thrift type ${wireType}, expected ${codec.wireType}`);
        }
        elements.push(codec.read(reader));
      });
      return elements;
    },
    write(writer, elements) {
      writer.listHeader(elements.length, codec.wireType);
      for (const element of elements) codec.write(writer, element);
    },
  };
}

/**
 * A struct as an object. Unknown fields are skipped; a missing required field, a field given twice and a field
 * of another wire type are `invalid-data`. Fields are written in the order of their ids.
 */
export function struct<T extends object>(name: string, fields: ThriftFields<T>): ThriftCodec<T> {
  const table = Object.entries<ThriftField<unknown>>(fields)
    .map(([key, field]) => ({ key, ...field }))
    .sort((one, other) => one.fieldId - other.fieldId);
  // Structs are read by the thousand: fields lie in an array, and those that were met are bits.
  const byId: (typeof table)[number][] = [];
  for (const field of table) byId[field.fieldId] = field;
  assert(byId.length <= 32, `thrift: ${name} has field ids beyond 31`);
  const requiredBits = table.reduce(
    (bits, { fieldId, isRequired }) => bits | (isRequired ? 1 << fieldId : 0),
    0,
  );

  return {
    wireType: WIRE.STRUCT,
    read(reader) {
      const value: Record<string, unknown> = {};
      let metBits = 0;
      reader.struct((fieldId, wireType) => {
        const field = byId[fieldId];
        if (field === undefined) {
          reader.skip(wireType);
          return;
        }
        const { key, codec } = field;
        const bit = 1 << fieldId;
        if ((metBits & bit) !== 0) throw reader.invalid(`${name}.${key} is given twice`);
        metBits |= bit;
        if (!sameWireType(wireType, codec.wireType)) {
          throw reader.invalid(
            `${name}.${key} has thrift type ${wireType}, expected ${codec.wireType}`,
          );
        }
        value[key] = codec === BOOLEAN ? wireType === WIRE.BOOLEAN_TRUE : codec.read(reader);
      });
      if ((metBits & requiredBits) !== requiredBits) {
        const missing = table.find(
          ({ fieldId, isRequired }) => isRequired && (metBits & (1 << fieldId)) === 0,
        );
        throw reader.invalid(`${name}.${missing?.key} is missing`);
      }
      return value as T;
    },
    write(writer, value) {
      let fieldIdBefore = 0;
      for (const { key, fieldId, codec } of table) {
        const fieldValue = (value as Readonly<Record<string, unknown>>)[key];
        if (fieldValue === undefined) continue;
        if (codec === BOOLEAN) {
          const wireType = fieldValue ? WIRE.BOOLEAN_TRUE : WIRE.BOOLEAN_FALSE;
          writer.fieldHeader(fieldId, fieldIdBefore, wireType);
        } else {
          writer.fieldHeader(fieldId, fieldIdBefore, codec.wireType);
          codec.write(writer, fieldValue);
        }
        fieldIdBefore = fieldId;
      }
      writer.stop();
    },
  };
}

/** A union as an object whose `type` names the member, with the member's own fields beside it. */
export function taggedUnion<T extends { readonly type: string }>(
  name: string,
  members: { readonly [Type in T['type']]: readonly [number, ThriftCodec<object>] },
): ThriftCodec<T> {
  const entries = Object.entries<readonly [number, ThriftCodec<object>]>(members);
  const byId = new Map(entries.map(([type, [fieldId, codec]]) => [fieldId, { type, codec }]));
  return {
    wireType: WIRE.STRUCT,
    read(reader) {
      let value: object | undefined;
      readMember(reader, name, (fieldId) => {
        const member = byId.get(fieldId);
        if (member === undefined) throw reader.unsupported(`${name} ${fieldId} is not known`);
        value = { type: member.type, ...member.codec.read(reader) };
      });
      return value as T;
    },
    write(writer, value) {
      const [fieldId, codec] = members[value.type as T['type']];
      writer.fieldHeader(fieldId, 0, WIRE.STRUCT);
      codec.write(writer, value);
      writer.stop();
    },
  };
}

/**
 * A union of empty structs as the word for the member. An unknown member is `otherwise` where that is given
 * (which cannot be written), else `unsupported`.
 */
export function emptyUnion<Word extends string, Otherwise extends string = never>(
  name: string,
  fieldIds: Readonly<Record<Word, number>>,
  otherwise?: Otherwise,
): ThriftCodec<Word | Otherwise> {
  const words = wordsByNumber(fieldIds);
  return {
    wireType: WIRE.STRUCT,
    read(reader) {
      let member: Word | Otherwise | undefined;
      readMember(reader, name, (fieldId) => {
        reader.skip(WIRE.STRUCT);
        member = words.get(fieldId) ?? otherwise;
        if (member === undefined) throw reader.unsupported(`${name} ${fieldId} is not known`);
      });
      return member as Word | Otherwise;
    },
    write(writer, word) {
      assert(word !== otherwise, `thrift: ${name} ${word} cannot be written`);
      writer.fieldHeader(fieldIds[word as Word], 0, WIRE.STRUCT);
      writer.stop();
      writer.stop();
    },
  };
}

/** The value in Thrift's compact protocol. */
export function serializeThrift<T>(codec: ThriftCodec<T>, value: T): Uint8Array<ArrayBuffer> {
  const writer = new ThriftWriter();
  codec.write(writer, value);
  return writer.finish();
}

function readMember(
  reader: ThriftReader,
  name: string,
  readValue: (fieldId: number) => void,
): void {
  let memberCount = 0;
  reader.struct((fieldId, wireType) => {
    memberCount++;
    if (wireType !== WIRE.STRUCT) {
      throw reader.invalid(
        `${name} ${fieldId} has thrift type ${wireType}, expected ${WIRE.STRUCT}`,
      );
    }
    readValue(fieldId);
  });
  if (memberCount !== 1) throw reader.invalid(`${name} has ${memberCount} members, expected 1`);
}

function wordsByNumber<Word extends string>(
  numbers: Readonly<Record<Word, number>>,
): ReadonlyMap<number, Word> {
  return new Map(Object.entries<number>(numbers).map(([word, number]) => [number, word as Word]));
}

function sameWireType(found: number, expected: number): boolean {
  if (expected === WIRE.BOOLEAN_TRUE)
    return found === WIRE.BOOLEAN_TRUE || found === WIRE.BOOLEAN_FALSE;
  if (expected === WIRE.LIST) return found === WIRE.LIST || found === WIRE.SET;
  return found === expected;
}
