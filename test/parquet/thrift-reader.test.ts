import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ByteWriter } from '../../shared/bytes/index.ts';
import {
  BLOOM_FILTER_HEADER,
  OFFSET_INDEX,
  PAGE_HEADER,
} from '../../shared/parquet/metadata-codecs.ts';
import {
  BOOLEAN,
  emptyUnion,
  I32,
  I64,
  list,
  optional,
  required,
  serializeThrift,
  struct,
} from '../../shared/parquet/thrift-codec.ts';
import {
  THRIFT_DEPTH_MAX,
  THRIFT_ELEMENT_COUNT_MAX,
  THRIFT_LIST_LENGTH_MAX,
  THRIFT_STRUCT_COUNT_MAX,
  ThriftReader,
  WIRE,
} from '../../shared/parquet/thrift-reader.ts';

interface Pair {
  readonly one: number;
  readonly flag?: boolean;
}

const PAIR = struct<Pair>('Pair', { one: required(1, I32), flag: optional(2, BOOLEAN) });

function readPair(...bytes: readonly number[]): Pair {
  return PAIR.read(new ThriftReader(Uint8Array.from(bytes), 'pair'));
}

describe('struct', () => {
  test('reads fields by delta and by explicit id', () => {
    assert.deepEqual(readPair(0x15, 0x02, 0x11, 0x00), { one: 1, flag: true });
    assert.deepEqual(readPair(0x05, 0x02, 0x02, 0x02, 0x04, 0x00), { one: 1, flag: false });
  });

  test('skips unknown fields of every type', () => {
    const unknown = [
      ...[0x31, 0x12, 0x13, 0x7f, 0x14, 0x02, 0x15, 0x02, 0x16, 0x02],
      ...[0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0x18, 0x02, 0xaa, 0xbb],
      ...[0x19, 0x25, 0x02, 0x04, 0x1a, 0x21, 0x01, 0x02, 0x1b, 0x01, 0x85, 0x01, 0x61, 0x02],
      ...[0x1b, 0x00, 0x1c, 0x15, 0x02, 0x00, 0x1d, ...new Array<number>(16).fill(9)],
    ];

    assert.deepEqual(readPair(0x15, 0x04, ...unknown, 0x00), { one: 2 });
  });

  test('rejects a missing required field', () => {
    assert.throws(() => readPair(0x21, 0x00), {
      kind: 'invalid-data',
      message: 'pair: Pair.one is missing',
    });
  });

  test('rejects a field given twice', () => {
    assert.throws(() => readPair(0x15, 0x02, 0x05, 0x02, 0x04, 0x00), { kind: 'invalid-data' });
  });

  test('rejects a field of another wire type', () => {
    assert.throws(() => readPair(0x16, 0x02, 0x00), { kind: 'invalid-data' });
  });

  test('rejects a type that does not exist', () => {
    assert.throws(() => readPair(0x9e, 0x00), { kind: 'invalid-data' });
  });

  test('rejects bytes that end early', () => {
    assert.throws(() => readPair(0x15, 0x02), { kind: 'invalid-data' });
  });
});

describe('limits', () => {
  test('a list longer than the bytes that remain is invalid-data', () => {
    const bytes = Uint8Array.from([0xf5, 0xff, 0xff, 0xff, 0x0f, 0x02]);

    assert.throws(() => list(I32).read(new ThriftReader(bytes, 'list')), { kind: 'invalid-data' });
  });

  test('a list of more than the greatest length is unsupported', () => {
    const writer = new ByteWriter();
    writer.u8(0xf5);
    writer.varint32(THRIFT_LIST_LENGTH_MAX + 1);
    writer.bytes(new Uint8Array(THRIFT_LIST_LENGTH_MAX + 1));

    const reader = new ThriftReader(writer.finish(), 'list');

    assert.throws(() => list(I32).read(reader), { kind: 'unsupported' });
  });

  test('structs deeper than the limit are unsupported', () => {
    const bytes = new Uint8Array(100).fill(0x1c);

    assert.throws(() => new ThriftReader(bytes, 'deep').skip(WIRE.STRUCT), {
      kind: 'unsupported',
      message: `deep: ${THRIFT_DEPTH_MAX + 1} nested values exceed the limit of ${THRIFT_DEPTH_MAX}`,
    });
  });

  test('more structs than the limit are unsupported', () => {
    const listBytes = THRIFT_LIST_LENGTH_MAX / 4;
    const writer = new ByteWriter();
    const listCount = THRIFT_STRUCT_COUNT_MAX / listBytes + 1;
    for (let index = 0; index < listCount; index++) {
      writer.u8(0x19);
      writer.u8(0xfc);
      writer.varint32(listBytes);
      writer.bytes(new Uint8Array(listBytes));
    }
    writer.u8(0);

    const reader = new ThriftReader(writer.finish(), 'many');

    assert.throws(() => reader.skip(WIRE.STRUCT), { kind: 'unsupported' });
  });

  test('more list elements in all than the limit are unsupported', () => {
    const numbers = new Uint8Array(THRIFT_LIST_LENGTH_MAX);
    const writer = new ByteWriter();
    const listCount = THRIFT_ELEMENT_COUNT_MAX / THRIFT_LIST_LENGTH_MAX + 1;
    for (let index = 0; index < listCount; index++) {
      writer.bytes(Uint8Array.of(0x19, 0xf5));
      writer.varint32(numbers.length);
      writer.bytes(numbers);
    }
    writer.u8(0);

    const reader = new ThriftReader(writer.finish(), 'many');

    assert.throws(() => reader.skip(WIRE.STRUCT), { kind: 'unsupported' });
  });

  test('a 64-bit count beyond 2^53 is unsupported', () => {
    const writer = new ByteWriter();
    writer.zigzag64(2n ** 53n);

    assert.throws(() => new ThriftReader(writer.finish(), 'count').i64(), { kind: 'unsupported' });
  });

  test('64-bit counts are exact up to 2^53 - 1', () => {
    for (const value of [0, -1, 1, 2 ** 31, 2 ** 48 - 1, -(2 ** 48), 2 ** 53 - 1, 1 - 2 ** 53]) {
      const bytes = serializeThrift(I64, value);

      assert.equal(new ThriftReader(bytes, 'count').i64(), value);
    }
  });

  test('a 16-bit value beyond its range is invalid-data', () => {
    const bytes = serializeThrift(I32, 0x8000);

    assert.throws(() => new ThriftReader(bytes, 'value').i16(), { kind: 'invalid-data' });
  });
});

describe('lists, enums and unions', () => {
  test('booleans in lists may be written as 0, 1 or 2', () => {
    const bytes = Uint8Array.from([0x31, 0x01, 0x02, 0x00]);

    assert.deepEqual(list(BOOLEAN).read(new ThriftReader(bytes, 'list')), [true, false, false]);
    assert.throws(
      () => list(BOOLEAN).read(new ThriftReader(Uint8Array.from([0x11, 0x03]), 'list')),
      { kind: 'invalid-data' },
    );
  });

  test('a list of another type than expected is invalid-data', () => {
    const bytes = Uint8Array.from([0x18, 0x00]);

    assert.throws(() => list(I32).read(new ThriftReader(bytes, 'list')), { kind: 'invalid-data' });
  });

  test('an unknown enum number is unsupported', () => {
    const bytes = Uint8Array.from([0x15, 0x10, 0x15, 0x00, 0x15, 0x00, 0x00]);

    assert.throws(() => PAGE_HEADER.read(new ThriftReader(bytes, 'page')), {
      kind: 'unsupported',
      message: 'page: PageType 8 is not known',
    });
  });

  test('an unknown union member is unsupported unless a stand-in is given', () => {
    const bytes = Uint8Array.from([0x5c, 0x00, 0x00]);
    const orders = { TYPE_ORDER: 1 } as const;

    assert.throws(() => emptyUnion('Order', orders).read(new ThriftReader(bytes, 'order')), {
      kind: 'unsupported',
    });
    assert.equal(
      emptyUnion('Order', orders, 'UNDEFINED').read(new ThriftReader(bytes, 'order')),
      'UNDEFINED',
    );
  });

  test('a union without a member is invalid-data', () => {
    const bytes = Uint8Array.from([0x15, 0x40, 0x1c, 0x00, 0x00]);

    assert.throws(() => BLOOM_FILTER_HEADER.read(new ThriftReader(bytes, 'filter')), {
      kind: 'invalid-data',
      message: 'filter: BloomFilterAlgorithm has 0 members, expected 1',
    });
  });

  test('an empty offset index takes three bytes', () => {
    const bytes = serializeThrift(OFFSET_INDEX, { pageLocations: [] });

    assert.deepEqual([...bytes], [0x19, 0x0c, 0x00]);
  });
});
