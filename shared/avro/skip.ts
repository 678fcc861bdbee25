import { assertNever } from '../base/index.ts';
import type { ByteReader } from '../bytes/index.ts';
import type { AvroType } from './schema.ts';

type Skip = (reader: ByteReader) => void;

/** Compiles a function that moves past one value of the type, checking lengths but not contents. */
export function compileSkip(type: AvroType): Skip {
  switch (type.kind) {
    case 'null':
      return () => undefined;
    case 'boolean':
      return (reader) => reader.skip(1);
    case 'int':
    case 'long':
    case 'enum':
      return skipVarint;
    case 'float':
      return (reader) => reader.skip(4);
    case 'double':
      return (reader) => reader.skip(8);
    case 'bytes':
    case 'string':
      return (reader) => reader.skip(readLength(reader));
    case 'fixed':
      return (reader) => reader.skip(type.sizeBytes);
    case 'array':
      return compileItemsSkip(compileSkip(type.items), type.items.bytesMin);
    case 'map':
      return compileItemsSkip(
        inOrder([(reader) => reader.skip(readLength(reader)), compileSkip(type.values)]),
        1 + type.values.bytesMin,
      );
    case 'option':
      return compileOptionSkip(type.branches.map(compileSkip));
    case 'record':
      return inOrder(type.fields.map((field) => compileSkip(field.type)));
    default:
      return assertNever(type, 'avro type');
  }
}

const VARINT_BYTES_MAX = 10;

/** Items that take no bytes are only counted; this many are believed. */
const EMPTY_ITEMS_MAX = 1024;

/**
 * Reads the blocks of an array or map: a count, for a negative count also the size in bytes, then the items.
 * A count that the remaining bytes cannot hold is refused before `readItems` is called with it.
 *
 * @throws invalid-data — when a count or size is impossible, or the items do not fill the size
 */
export function readItemBlocks(
  reader: ByteReader,
  itemBytesMin: number,
  readItems: (count: number) => void,
): void {
  for (;;) {
    const signedCount = reader.zigzag53();
    if (signedCount === 0) return;
    const end = signedCount < 0 ? readLength(reader) + reader.offset : undefined;
    const count = Math.abs(signedCount);
    const countMax =
      itemBytesMin === 0 ? EMPTY_ITEMS_MAX : Math.floor(reader.remainingBytes / itemBytesMin);
    if (count > countMax) {
      throw reader.invalid(`${count} items, ${reader.remainingBytes} bytes remain`);
    }
    readItems(count);
    if (end !== undefined && reader.offset !== end) {
      throw reader.invalid(`a block of items ends at ${reader.offset}, its size says ${end}`);
    }
  }
}

/** A length in bytes that the reader still has. */
export function readLength(reader: ByteReader): number {
  const length = reader.zigzag53();
  if (length < 0 || length > reader.remainingBytes) {
    throw reader.invalid(`length ${length}, ${reader.remainingBytes} bytes remain`);
  }
  return length;
}

/** A varint whose value does not matter. */
function skipVarint(reader: ByteReader): void {
  for (let index = 0; index < VARINT_BYTES_MAX; index++) {
    if (reader.u8() < 0x80) return;
  }
  throw reader.invalid(`a varint of more than ${VARINT_BYTES_MAX} bytes`);
}

function compileItemsSkip(skipItem: Skip, itemBytesMin: number): Skip {
  return (reader) =>
    readItemBlocks(reader, itemBytesMin, (count) => {
      for (let index = 0; index < count; index++) skipItem(reader);
    });
}

function compileOptionSkip(branches: readonly Skip[]): Skip {
  return (reader) => {
    const index = reader.zigzag32();
    const branch = branches[index];
    if (branch === undefined) throw reader.invalid(`union branch ${index} of ${branches.length}`);
    branch(reader);
  };
}

function inOrder(skips: readonly Skip[]): Skip {
  return (reader) => {
    for (const skip of skips) skip(reader);
  };
}
