import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { estimatePrice, formatDollars, type PriceTable } from '../../shared/pricing/index.ts';

const ROUND_PRICES: PriceTable = {
  region: 'test',
  asOf: '2026-11',
  s3GetPerThousand: 1,
  s3PutPerThousand: 10,
  lambdaPerGibSecond: 2,
  lambdaPerMillionInvocations: 1_000_000,
  dynamoDbReadPerMillion: 1_000_000,
  dynamoDbWritePerMillion: 3_000_000,
};

describe('estimatePrice', () => {
  it('prices each line by its own unit and adds them up', () => {
    const estimate = estimatePrice(
      {
        s3GetCount: 2000,
        s3PutCount: 500,
        dynamoDbReadCount: 2,
        dynamoDbWriteCount: 1,
        lambdaInvocationCount: 1,
        lambdaDurationMs: 4000,
        lambdaMemoryMib: 512,
      },
      ROUND_PRICES,
    );

    assert.deepEqual(
      estimate.lines.map(({ item, dollars }) => [item, dollars]),
      [
        ['s3-get', 2],
        ['s3-put', 5],
        ['dynamodb', 5],
        ['lambda', 5],
      ],
    );
    assert.equal(estimate.totalDollars, 17);
  });
});

describe('formatDollars', () => {
  it('shows cents, and two digits of what is less than a cent', () => {
    assert.equal(formatDollars(0), '$0.00');
    assert.equal(formatDollars(1.239), '$1.24');
    assert.equal(formatDollars(0.000123), '$0.00012');
  });
});
