import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  expectedOutputFileCount,
  outputSizeBytesMax,
  splitSizeBytes,
} from '../../../shared/operations/rewrite-data-files/output-size.ts';

const SIZES = { targetFileSizeBytes: 100, fileSizeBytesMin: 75, fileSizeBytesMax: 180 };

describe('expectedOutputFileCount', () => {
  const cases = [
    [0, 1],
    [99, 1],
    [100, 1],
    [105, 1],
    [110, 1],
    [111, 2],
    [175, 2],
    [176, 2],
    [1010, 10],
    [1075, 10],
    [1076, 11],
  ] as const;
  for (const [inputBytes, count] of cases) {
    it(`writes ${inputBytes} bytes at a target of 100 to ${count} files`, () => {
      assert.equal(expectedOutputFileCount(inputBytes, SIZES), count);
    });
  }
});

describe('outputSizeBytesMax', () => {
  it('lies halfway between target and maximum', () => {
    assert.equal(outputSizeBytesMax(SIZES), 140);
  });

  it('is 1.4 times the target of 512 MiB with default bounds', () => {
    const sizes = {
      targetFileSizeBytes: 536_870_912,
      fileSizeBytesMin: 402_653_184,
      fileSizeBytesMax: 966_367_641,
    };

    assert.equal(outputSizeBytesMax(sizes), 751_619_276);
  });
});

describe('splitSizeBytes', () => {
  const MIB = 1024 * 1024;
  const sizes = {
    targetFileSizeBytes: 128 * MIB,
    fileSizeBytesMin: 96 * MIB,
    fileSizeBytesMax: 230 * MIB,
  };

  it('is the target for a group below it', () => {
    assert.equal(splitSizeBytes(10 * MIB, sizes), 128 * MIB);
  });

  it('is the even share and 5 KiB when a small remainder is spread', () => {
    assert.equal(splitSizeBytes(130 * MIB, sizes), 130 * MIB + 5120);
  });

  it('never exceeds the largest output', () => {
    assert.equal(splitSizeBytes(110, SIZES), 140);
  });
});
