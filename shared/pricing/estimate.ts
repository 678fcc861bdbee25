import type { PriceTable } from './price-table.ts';

/** What a run is expected to use, or has used. */
export interface Usage {
  /** S3 GET and HEAD requests. */
  readonly s3GetCount: number;
  /** S3 PUT, POST and LIST requests, multipart parts included. */
  readonly s3PutCount: number;
  readonly dynamoDbReadCount: number;
  readonly dynamoDbWriteCount: number;
  readonly lambdaInvocationCount: number;
  readonly lambdaDurationMs: number;
  readonly lambdaMemoryMib: number;
  /** Messages sent, received and deleted, and receives that found none; absent where no queue is part of it. */
  readonly sqsRequestCount?: number;
}

/** One line of an estimate. */
export interface PriceLine {
  readonly item: 's3-get' | 's3-put' | 'dynamodb' | 'lambda' | 'sqs';
  readonly quantity: string;
  readonly dollars: number;
}

export interface PriceEstimate {
  readonly lines: readonly PriceLine[];
  readonly totalDollars: number;
}

/** Prices the usage, line by line. Storage and data transfer inside a region are not part of it. */
export function estimatePrice(usage: Usage, prices: PriceTable): PriceEstimate {
  const lambdaGibSeconds = (usage.lambdaDurationMs / 1000) * (usage.lambdaMemoryMib / 1024);
  const lines: PriceLine[] = [
    {
      item: 's3-get',
      quantity: `${usage.s3GetCount} GET and HEAD`,
      dollars: (usage.s3GetCount / 1000) * prices.s3GetPerThousand,
    },
    {
      item: 's3-put',
      quantity: `${usage.s3PutCount} PUT`,
      dollars: (usage.s3PutCount / 1000) * prices.s3PutPerThousand,
    },
    {
      item: 'dynamodb',
      quantity: `${usage.dynamoDbReadCount} read, ${usage.dynamoDbWriteCount} write units`,
      dollars:
        (usage.dynamoDbReadCount / 1e6) * prices.dynamoDbReadPerMillion +
        (usage.dynamoDbWriteCount / 1e6) * prices.dynamoDbWritePerMillion,
    },
    {
      item: 'lambda',
      quantity: `${lambdaGibSeconds.toFixed(1)} GiB-seconds`,
      dollars:
        lambdaGibSeconds * prices.lambdaPerGibSecond +
        (usage.lambdaInvocationCount / 1e6) * prices.lambdaPerMillionInvocations,
    },
  ];
  if (usage.sqsRequestCount !== undefined) {
    lines.push({
      item: 'sqs',
      quantity: `${usage.sqsRequestCount} requests`,
      dollars: (usage.sqsRequestCount / 1e6) * prices.sqsPerMillion,
    });
  }
  return { lines, totalDollars: lines.reduce((sum, line) => sum + line.dollars, 0) };
}

const SMALLEST_DOLLARS = 0.000001;

/** Dollars as people read them: to the cent, and below a cent to a millionth; what is not nothing never looks so. */
export function formatDollars(dollars: number): string {
  if (dollars >= 0.01 || dollars === 0) return `$${dollars.toFixed(2)}`;
  return `$${Math.max(dollars, SMALLEST_DOLLARS).toFixed(6)}`;
}
