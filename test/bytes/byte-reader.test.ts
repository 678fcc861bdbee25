import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ByteReader, ByteWriter, decodeUtf8, fromHex } from '../../shared/bytes/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const reader = (hex: string) => new ByteReader(fromHex(hex), 'frame');

describe('ByteReader', () => {
  test('reads each width in its order', () => {
    assert.equal(reader('ff').u8(), 255);
    assert.equal(reader('ff').i8(), -1);
    assert.equal(reader('0102').u16le(), 0x0201);
    assert.equal(reader('01020380').u32le(), 0x80030201);
    assert.equal(reader('ffffffff').i32le(), -1);
    assert.equal(reader('80030201').u32be(), 0x80030201);
    assert.equal(reader('ffffffffffffff7f').i64le(), 2n ** 63n - 1n);
    assert.equal(reader('0000000000000080').i64le(), -(2n ** 63n));
    assert.equal(reader('ffffffffffffffff').u64le(), 2n ** 64n - 1n);
    assert.equal(reader('0000c03f').f32le(), 1.5);
    assert.equal(reader('000000000000f03f').f64le(), 1);
  });

  test('reads within a view of a larger buffer', () => {
    const bytes = fromHex('aabb0102ccdd').subarray(2, 4);

    const view = new ByteReader(bytes, 'frame');

    assert.equal(view.u16le(), 0x0201);
    assert.equal(view.remainingBytes, 0);
    assert.throws(() => view.u8(), errorOfKind('invalid-data'));
  });

  test('bytes gives a view of the input, skip moves past', () => {
    const input = fromHex('01020304');
    const cursor = new ByteReader(input, 'frame');
    cursor.skip(1);

    const view = cursor.bytes(2);
    input[1] = 9;

    assert.deepEqual([...view], [9, 3]);
    assert.equal(cursor.offset, 3);
  });

  test('names subject, lengths and offset when the bytes end too early', () => {
    const cursor = reader('010203');
    cursor.skip(2);

    assert.throws(
      () => cursor.u32le(),
      (error) => {
        errorOfKind('invalid-data', /^frame: 4 bytes expected at offset 2, 1 remain$/)(error);
        assert.deepEqual((error as { context?: unknown }).context, { offset: 2 });
        return true;
      },
    );
  });

  test('every method refuses an empty input, and reads nothing', () => {
    const methods = [
      'u8',
      'i8',
      'u16le',
      'u32le',
      'i32le',
      'u32be',
      'i64le',
      'u64le',
      'f32le',
      'f64le',
      'varint32',
      'varint64',
      'zigzag32',
      'zigzag53',
      'zigzag64',
    ] as const;
    for (const method of methods) {
      const cursor = reader('');
      assert.throws(() => cursor[method](), errorOfKind('invalid-data'));
      assert.equal(cursor.offset, 0);
    }
  });

  test('refuses lengths that are negative, too large or no number', () => {
    for (const lengthBytes of [-1, 3, 2 ** 53, Number.POSITIVE_INFINITY, Number.NaN]) {
      assert.throws(() => reader('0102').bytes(lengthBytes), errorOfKind('invalid-data'));
      assert.throws(() => reader('0102').skip(lengthBytes), errorOfKind('invalid-data'));
      assert.throws(() => reader('0102').utf8(lengthBytes), errorOfKind('invalid-data'));
    }
  });

  test('varint32 takes up to 5 bytes and 32 bits', () => {
    assert.equal(reader('00').varint32(), 0);
    assert.equal(reader('ac02').varint32(), 300);
    assert.equal(reader('ffffffff0f').varint32(), 2 ** 32 - 1);
    assert.equal(reader('8080808000').varint32(), 0);
    for (const hex of ['ffffffff10', 'ffffffffff00', '808080808000']) {
      assert.throws(() => reader(hex).varint32(), errorOfKind('invalid-data', /32 bits/));
    }
    assert.throws(() => reader('8080').varint32(), errorOfKind('invalid-data', /0 remain/));
  });

  test('varint64 takes up to 10 bytes and 64 bits', () => {
    assert.equal(reader('ac02').varint64(), 300n);
    assert.equal(reader('ffffffffffffffffff01').varint64(), 2n ** 64n - 1n);
    for (const hex of ['ffffffffffffffffff02', 'ffffffffffffffffffff00']) {
      assert.throws(() => reader(hex).varint64(), errorOfKind('invalid-data', /64 bits/));
    }
  });

  test('zigzag brings small negative values near zero', () => {
    assert.equal(reader('01').zigzag32(), -1);
    assert.equal(reader('feffffff0f').zigzag32(), 2 ** 31 - 1);
    assert.equal(reader('ffffffff0f').zigzag32(), -(2 ** 31));
    assert.equal(reader('ffffffffffffffffff01').zigzag64(), -(2n ** 63n));
  });

  test('zigzag53 gives what zigzag64 does, up to the largest safe integer', () => {
    const { MAX_SAFE_INTEGER } = Number;
    for (const value of [0, 1, 63, 64, 2 ** 31, 2 ** 48 - 1, 2 ** 48, 2 ** 49, MAX_SAFE_INTEGER]) {
      for (const signed of [BigInt(value), -BigInt(value)]) {
        const writer = new ByteWriter();
        writer.zigzag64(signed);
        const cursor = new ByteReader(writer.finish(), 'count');

        assert.equal(BigInt(cursor.zigzag53()), signed);
        cursor.requireEnd();
      }
    }
    for (const beyond of [2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n]) {
      const writer = new ByteWriter();
      writer.zigzag64(beyond);
      const cursor = new ByteReader(writer.finish(), 'count');

      assert.throws(() => cursor.zigzag53(), errorOfKind('invalid-data', /beyond/));
    }
  });

  test('requireEnd refuses bytes that are left over', () => {
    const cursor = reader('0102');
    cursor.u8();

    assert.throws(() => cursor.requireEnd(), errorOfKind('invalid-data', /1 bytes are left over/));
    cursor.u8();
    cursor.requireEnd();
  });
});

describe('decodeUtf8', () => {
  test('keeps a leading byte order mark, and a second one', () => {
    assert.equal(decodeUtf8(fromHex('efbbbf61'), 'name'), '\ufeffa');
    assert.equal(decodeUtf8(fromHex('efbbbfefbbbf'), 'name'), '\ufeff\ufeff');
    assert.equal(decodeUtf8(fromHex('61efbbbf'), 'name'), 'a\ufeff');
  });

  test('reads code points of every length', () => {
    assert.equal(decodeUtf8(fromHex('24c2a3e282acf0908d88'), 'name'), '$£€𐍈');
    assert.equal(decodeUtf8(fromHex(''), 'name'), '');
  });

  const illFormed = {
    'a continuation byte alone': '80',
    'a sequence that is cut short': 'e282',
    'an overlong form': 'c080',
    'an encoded surrogate': 'eda080',
    'a code point beyond U+10FFFF': 'f4908080',
    'a byte that never occurs': 'ff',
    'part of a byte order mark': 'efbb',
  };
  for (const [what, hex] of Object.entries(illFormed)) {
    test(`refuses ${what}`, () => {
      assert.throws(
        () => decodeUtf8(fromHex(hex), 'name'),
        errorOfKind('invalid-data', /^name: text is not UTF-8$/),
      );
    });
  }
});
