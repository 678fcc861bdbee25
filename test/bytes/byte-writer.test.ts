import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ByteWriter, encodeUtf8, toHex } from '../../shared/bytes/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

describe('ByteWriter', () => {
  const written = (write: (writer: ByteWriter) => void): string => {
    const writer = new ByteWriter();
    write(writer);
    return toHex(writer.finish());
  };

  test('writes each width in its order', () => {
    assert.equal(
      written((writer) => writer.u8(255)),
      'ff',
    );
    assert.equal(
      written((writer) => writer.u16le(0x0201)),
      '0102',
    );
    assert.equal(
      written((writer) => writer.u32le(0x80030201)),
      '01020380',
    );
    assert.equal(
      written((writer) => writer.i32le(-2)),
      'feffffff',
    );
    assert.equal(
      written((writer) => writer.u32be(0x80030201)),
      '80030201',
    );
    assert.equal(
      written((writer) => writer.i64le(-(2n ** 63n))),
      '0000000000000080',
    );
    assert.equal(
      written((writer) => writer.u64le(2n ** 64n - 1n)),
      'ffffffffffffffff',
    );
    assert.equal(
      written((writer) => writer.f32le(1.5)),
      '0000c03f',
    );
    assert.equal(
      written((writer) => writer.f64le(1)),
      '000000000000f03f',
    );
    assert.equal(
      written((writer) => writer.varint32(300)),
      'ac02',
    );
    assert.equal(
      written((writer) => writer.varint64(2n ** 64n - 1n)),
      'ffffffffffffffffff01',
    );
    assert.equal(
      written((writer) => writer.zigzag32(-(2 ** 31))),
      'ffffffff0f',
    );
    assert.equal(
      written((writer) => writer.zigzag64(-1n)),
      '01',
    );
    assert.equal(
      written((writer) => writer.utf8('£')),
      'c2a3',
    );
  });

  test('grows past its capacity and keeps what was written', () => {
    const writer = new ByteWriter(1);
    for (let index = 0; index < 1000; index++) writer.u8(index & 0xff);
    writer.bytes(new Uint8Array(5000).fill(7));

    const bytes = writer.finish();

    assert.equal(bytes.length, 6000);
    assert.equal(writer.lengthBytes, 6000);
    assert.equal(bytes[999], 999 & 0xff);
    assert.equal(bytes[5999], 7);
  });

  test('stops at values that do not fit, and writes nothing of them', () => {
    const misfits: ((writer: ByteWriter) => void)[] = [
      (writer) => writer.u8(256),
      (writer) => writer.u8(-1),
      (writer) => writer.u8(Number.NaN),
      (writer) => writer.u16le(2 ** 16),
      (writer) => writer.u32le(2 ** 32),
      (writer) => writer.u32be(-1),
      (writer) => writer.i32le(2 ** 31),
      (writer) => writer.i32le(-(2 ** 31) - 1),
      (writer) => writer.i64le(2n ** 63n),
      (writer) => writer.u64le(-1n),
      (writer) => writer.u64le(2n ** 64n),
      (writer) => writer.varint32(-1),
      (writer) => writer.varint32(2 ** 32),
      (writer) => writer.varint64(-1n),
      (writer) => writer.varint64(2n ** 64n),
      (writer) => writer.zigzag32(2 ** 31),
      (writer) => writer.zigzag64(2n ** 63n),
    ];
    for (const misfit of misfits) {
      const writer = new ByteWriter();
      assert.throws(() => misfit(writer), { name: 'AssertionFailed' });
      assert.equal(writer.lengthBytes, 0);
    }
  });
});

test('encodeUtf8 refuses lone surrogates, which it would have to replace', () => {
  assert.equal(toHex(encodeUtf8('a\u{10348}')), '61f0908d88');
  for (const text of ['\ud800', 'a\udc00b', '\udc00\ud800']) {
    assert.throws(() => encodeUtf8(text), errorOfKind('invalid-data', /lone surrogate/));
  }
});
