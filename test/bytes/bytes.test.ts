import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareBytes,
  concatBytes,
  crc32,
  encodeUtf8,
  equalBytes,
  fromHex,
  toHex,
} from '../../shared/bytes/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

test('crc32 is the checksum of ISO 3309, and can be continued', () => {
  const bytes = encodeUtf8('123456789');

  assert.equal(crc32(bytes), 0xcbf43926);
  assert.equal(crc32(bytes.subarray(4), crc32(bytes.subarray(0, 4))), 0xcbf43926);
  assert.equal(crc32(new Uint8Array(0)), 0);
});

test('concatBytes joins views in order into a new array', () => {
  const part = fromHex('010203').subarray(1);

  const whole = concatBytes([part, new Uint8Array(0), fromHex('ff')]);
  part[0] = 9;

  assert.deepEqual([...whole], [2, 3, 255]);
  assert.equal(concatBytes([]).length, 0);
});

test('compareBytes orders by unsigned bytes, the shorter first', () => {
  const ordered = ['', '00', '0000', '01', '7f', '80', 'ff', 'ff00'].map(fromHex);

  for (const [index, one] of ordered.entries()) {
    for (const [otherIndex, other] of ordered.entries()) {
      assert.equal(Math.sign(compareBytes(one, other)), Math.sign(index - otherIndex));
      assert.equal(equalBytes(one, other), index === otherIndex);
    }
  }
});

test('toHex and fromHex are inverse; fromHex takes both cases', () => {
  const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);

  assert.deepEqual(fromHex(toHex(every)), every);
  assert.deepEqual(fromHex(toHex(every).toUpperCase()), every);
  assert.equal(toHex(fromHex('0aFf')), '0aff');
});

test('fromHex refuses what is not pairs of hexadecimal digits', () => {
  for (const text of ['0', 'abc', 'zz', ' 00', '0x00', '00\n', '0-']) {
    assert.throws(() => fromHex(text), errorOfKind('invalid-data', /^hex: /));
  }
});
