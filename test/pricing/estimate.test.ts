import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  estimatePrice,
  formatDollars,
  PRICE_TABLE,
  type PriceTable,
} from '../../shared/pricing/index.ts';

const ROUND_PRICES: PriceTable = {
  region: 'test',
  asOf: '2026-11',
  s3GetPerThousand: 1,
  s3PutPerThousand: 10,
  lambdaPerGibSecond: 2,
  lambdaPerMillionInvocations: 1_000_000,
  dynamoDbReadPerMillion: 1_000_000,
  dynamoDbWritePerMillion: 3_000_000,
  sqsPerMillion: 500_000,
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

    assert.deepEqual(estimate.lines, [
      { item: 's3-get', quantity: '2000 GET and HEAD', dollars: 2 },
      { item: 's3-put', quantity: '500 PUT', dollars: 5 },
      { item: 'dynamodb', quantity: '2 read, 1 write units', dollars: 5 },
      { item: 'lambda', quantity: '2.0 GiB-seconds', dollars: 5 },
    ]);
    assert.equal(estimate.totalDollars, 17);
  });

  it('prices messages where a queue is part of it', () => {
    const nothing = {
      s3GetCount: 0,
      s3PutCount: 0,
      dynamoDbReadCount: 0,
      dynamoDbWriteCount: 0,
      lambdaInvocationCount: 0,
      lambdaDurationMs: 0,
      lambdaMemoryMib: 512,
    };

    const estimate = estimatePrice({ ...nothing, sqsRequestCount: 6 }, ROUND_PRICES);

    assert.deepEqual(estimate.lines.at(-1), { item: 'sqs', quantity: '6 requests', dollars: 3 });
    assert.equal(estimate.totalDollars, 3);
  });
});

describe('PRICE_TABLE', () => {
  it('says where and when its prices held', () => {
    assert.equal(PRICE_TABLE.region, 'us-east-1');
    assert.match(PRICE_TABLE.asOf, /^\d{4}-\d{2}$/);
  });

  it('prices a million of everything as AWS lists it', () => {
    const million = 1_000_000;

    const { lines } = estimatePrice(
      {
        s3GetCount: million,
        s3PutCount: million,
        dynamoDbReadCount: million,
        dynamoDbWriteCount: million,
        lambdaInvocationCount: million,
        lambdaDurationMs: 0,
        lambdaMemoryMib: 1024,
        sqsRequestCount: million,
      },
      PRICE_TABLE,
    );

    assert.deepEqual(
      lines.map(({ dollars }) => Number(dollars.toFixed(6))),
      [0.4, 5, 0.75, 0.2, 0.4],
    );
  });
});

describe('formatDollars', () => {
  it('shows cents, and millionths of what is less than a cent', () => {
    assert.equal(formatDollars(0), '$0.00');
    assert.equal(formatDollars(1.239), '$1.24');
    assert.equal(formatDollars(0.01), '$0.01');
    assert.equal(formatDollars(0.000123), '$0.000123');
  });

  it('never shows a price as nothing', () => {
    assert.equal(formatDollars(1e-9), '$0.000001');
  });
});
