import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Random,
  randomFraction,
  randomInt63,
  randomUuid,
  seededRandom,
  systemRandom,
} from '../../shared/base/index.ts';

const constant = (byte: number): Random => ({
  bytes: (lengthBytes) => new Uint8Array(lengthBytes).fill(byte),
});

test('seededRandom repeats itself, and differs by seed', () => {
  const draw = (seed: number) => seededRandom(seed).bytes(32);

  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
});

test('seededRandom goes on where it stopped, and works for every kind of seed', () => {
  for (const seed of [0, 1, -1, 2 ** 32, 0x9e3779b9]) {
    const random = seededRandom(seed);
    assert.notDeepEqual(random.bytes(16), random.bytes(16));
  }
});

test('systemRandom gives a new array of the asked length', () => {
  assert.equal(systemRandom.bytes(0).length, 0);
  assert.equal(systemRandom.bytes(33).length, 33);
  assert.notDeepEqual(systemRandom.bytes(16), systemRandom.bytes(16));
});

test('randomUuid has version 4 and the RFC variant, whatever the bytes', () => {
  assert.equal(randomUuid(constant(0)), '00000000-0000-4000-8000-000000000000');
  assert.equal(randomUuid(constant(0xff)), 'ffffffff-ffff-4fff-bfff-ffffffffffff');
});

test('randomFraction lies in [0, 1)', () => {
  assert.equal(randomFraction(constant(0)), 0);
  assert.equal(randomFraction(constant(0x80)), 0x80808080 / 2 ** 32);
  assert.equal(randomFraction(constant(0xff)), (2 ** 32 - 1) / 2 ** 32);
});

test('randomInt63 lies in [0, 2^63)', () => {
  assert.equal(randomInt63(constant(0)), 0n);
  assert.equal(randomInt63(constant(0xff)), 2n ** 63n - 1n);
});

test('fractions of a seed are spread evenly', () => {
  const random = seededRandom(3);
  const counts = new Array<number>(10).fill(0);
  for (let draw = 0; draw < 10_000; draw++) counts[Math.floor(randomFraction(random) * 10)]!++;

  for (const count of counts) assert.ok(count > 850 && count < 1150, counts.join(' '));
});
