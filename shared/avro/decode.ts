import { assertNever, IcebergError } from '../base/index.ts';
import type { ByteReader } from '../bytes/index.ts';
import { ITEMS_PER_RECORD_MAX } from './layout.ts';
import type { AvroField, AvroRecordType, AvroType } from './schema.ts';
import { compileSkip, readItemBlocks, readLength } from './skip.ts';
import type { AvroValue } from './value.ts';

/** The bytes of one block, and how many array and map items the present record may still have. */
export interface DecodeState {
  readonly reader: ByteReader;
  itemsRemaining: number;
}

type Decode = (state: DecodeState) => AvroValue;

/** Whether a field of a record is left out of decoded values: skipping costs a fraction of decoding. */
export type SkipField = (field: AvroField) => boolean;

/**
 * Compiles a decoder for one record of the type. The decoder throws `invalid-data` for bytes that do not fit
 * the type, and `unsupported` for a record of more than `ITEMS_PER_RECORD_MAX` items; it allocates nothing
 * that the bytes it has seen do not account for.
 */
export function compileDecoder(type: AvroType, skipField?: SkipField): Decode {
  const decode = compile(type, { skipField, compiled: new Map() });
  return (state) => {
    state.itemsRemaining = ITEMS_PER_RECORD_MAX;
    return decode(state);
  };
}

interface Compilation {
  readonly skipField: SkipField | undefined;
  /** A named type that occurs again is compiled once. */
  readonly compiled: Map<AvroType, Decode>;
}

function compile(type: AvroType, compilation: Compilation): Decode {
  const known = compilation.compiled.get(type);
  if (known !== undefined) return known;
  const decode = compileType(type, compilation);
  compilation.compiled.set(type, decode);
  return decode;
}

function compileType(type: AvroType, compilation: Compilation): Decode {
  switch (type.kind) {
    case 'null':
      return () => null;
    case 'boolean':
      return decodeBoolean;
    case 'int':
      return ({ reader }) => reader.zigzag32();
    case 'long':
      return ({ reader }) => reader.zigzag64();
    case 'float':
      return ({ reader }) => reader.f32le();
    case 'double':
      return ({ reader }) => reader.f64le();
    case 'bytes':
      return ({ reader }) => reader.bytes(readLength(reader));
    case 'string':
      return ({ reader }) => reader.utf8(readLength(reader));
    case 'fixed':
      return ({ reader }) => reader.bytes(type.sizeBytes);
    case 'enum':
      return (state) => decodeEnum(state, type.symbols);
    case 'array':
      return compileArray(type, compilation);
    case 'map':
      return compileMap(type, compilation);
    case 'option':
      return compileOption(type.branches.map((branch) => compile(branch, compilation)));
    case 'record':
      return compileRecord(type, compilation);
    default:
      return assertNever(type, 'avro type');
  }
}

function decodeBoolean({ reader }: DecodeState): boolean {
  const byte = reader.u8();
  if (byte > 1) throw reader.invalid(`${byte} is not a boolean`);
  return byte === 1;
}

function decodeEnum({ reader }: DecodeState, symbols: readonly string[]): string {
  const index = reader.zigzag32();
  const symbol = symbols[index];
  if (symbol === undefined) throw reader.invalid(`enum index ${index} of ${symbols.length}`);
  return symbol;
}

function compileOption(branches: readonly Decode[]): Decode {
  return (state) => {
    const index = state.reader.zigzag32();
    const branch = branches[index];
    if (branch === undefined) {
      throw state.reader.invalid(`union branch ${index} of ${branches.length}`);
    }
    return branch(state);
  };
}

function compileArray(
  type: Extract<AvroType, { kind: 'array' }>,
  compilation: Compilation,
): Decode {
  const decodeItem = compile(type.items, compilation);
  return (state) => {
    const items: AvroValue[] = [];
    readItemBlocks(state.reader, type.items.bytesMin, (count) => {
      takeItems(state, count);
      for (let index = 0; index < count; index++) items.push(decodeItem(state));
    });
    return items;
  };
}

function compileMap(type: Extract<AvroType, { kind: 'map' }>, compilation: Compilation): Decode {
  const decodeValue = compile(type.values, compilation);
  return (state) => {
    const map: Record<string, AvroValue> = Object.create(null);
    readItemBlocks(state.reader, 1 + type.values.bytesMin, (count) => {
      takeItems(state, count);
      for (let index = 0; index < count; index++) {
        const key = state.reader.utf8(readLength(state.reader));
        map[key] = decodeValue(state);
      }
    });
    return map;
  };
}

function compileRecord(type: AvroRecordType, compilation: Compilation): Decode {
  const steps = type.fields.map((field) =>
    compilation.skipField?.(field)
      ? { name: field.name, skip: compileSkip(field.type) }
      : { name: field.name, decode: compile(field.type, compilation) },
  );
  return (state) => {
    const record: Record<string, AvroValue> = {};
    for (const step of steps) {
      if (step.decode === undefined) step.skip(state.reader);
      else record[step.name] = step.decode(state);
    }
    return record;
  };
}

function takeItems(state: DecodeState, count: number): void {
  state.itemsRemaining -= count;
  if (state.itemsRemaining >= 0) return;
  throw new IcebergError(
    'unsupported',
    `avro: a record has more than ${ITEMS_PER_RECORD_MAX} array and map items`,
    { offset: state.reader.offset },
  );
}
