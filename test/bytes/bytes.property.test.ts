import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isIcebergError } from '../../shared/base/index.ts';
import { ByteReader, ByteWriter, decodeUtf8, encodeUtf8 } from '../../shared/bytes/index.ts';

const u32 = fc.nat({ max: 0xffff_ffff });
const i32 = fc.integer();
const i64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

const step = fc.oneof(
  fc.record({ method: fc.constantFrom('u32le', 'u32be', 'varint32'), value: u32 }),
  fc.record({ method: fc.constantFrom('i32le', 'zigzag32'), value: i32 }),
  fc.record({ method: fc.constantFrom('u64le', 'varint64'), value: u64 }),
  fc.record({ method: fc.constantFrom('i64le', 'zigzag64'), value: i64 }),
  fc.record({ method: fc.constant('f64le' as const), value: fc.double() }),
);

test('what was written in some order is read back in that order, to the last byte', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const writer = new ByteWriter();
      for (const { method, value } of steps) {
        (writer[method] as (value: number | bigint) => void).call(writer, value);
      }
      const cursor = new ByteReader(writer.finish(), 'steps');
      for (const { method, value } of steps) assert.ok(Object.is(cursor[method](), value));
      cursor.requireEnd();
    }),
    { seed: 1, numRuns: 300 },
  );
});

test('reading any bytes by any method gives a value or invalid-data', () => {
  const method = fc.constantFrom(
    'u8',
    'u16le',
    'varint32',
    'varint64',
    'zigzag32',
    'zigzag53',
    'zigzag64',
    'f32le',
    'i64le',
  );
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 24 }),
      fc.array(method, { maxLength: 24 }),
      (bytes, methods) => {
        const cursor = new ByteReader(bytes, 'any');
        try {
          for (const name of methods) cursor[name as 'u8']();
        } catch (error) {
          assert.ok(isIcebergError(error, 'invalid-data'), String(error));
        }
        assert.ok(cursor.offset <= bytes.length);
      },
    ),
    { seed: 2, numRuns: 500 },
  );
});

test('text survives UTF-8, byte order marks and all', () => {
  const text = fc.string({ unit: 'grapheme' }).map((rest) => `\ufeff${rest}`);
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (whole) => {
      assert.equal(decodeUtf8(encodeUtf8(whole), 'text'), whole);
    }),
    { seed: 3, numRuns: 300 },
  );
});

test('bytes that decode as UTF-8 are those that the text encodes to', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6 }), (bytes) => {
      let text: string;
      try {
        text = decodeUtf8(bytes, 'text');
      } catch (error) {
        assert.ok(isIcebergError(error, 'invalid-data'));
        return;
      }
      assert.deepEqual(encodeUtf8(text), new Uint8Array(bytes));
    }),
    { seed: 4, numRuns: 1000 },
  );
});
