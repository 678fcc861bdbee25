/** List prices in US dollars, before free tiers and discounts. */
export interface PriceTable {
  /** Where and when the prices held. */
  readonly region: string;
  readonly asOf: string;
  readonly s3GetPerThousand: number;
  readonly s3PutPerThousand: number;
  readonly lambdaPerGibSecond: number;
  readonly lambdaPerMillionInvocations: number;
  readonly dynamoDbReadPerMillion: number;
  readonly dynamoDbWritePerMillion: number;
  /** Standard queues. */
  readonly sqsPerMillion: number;
}

/** Public on-demand list prices: S3 Standard, Lambda on arm64, DynamoDB on-demand request units, SQS standard queues. */
export const PRICE_TABLE: PriceTable = {
  region: 'us-east-1',
  asOf: '2025-06',
  s3GetPerThousand: 0.0004,
  s3PutPerThousand: 0.005,
  lambdaPerGibSecond: 0.0000133334,
  lambdaPerMillionInvocations: 0.2,
  dynamoDbReadPerMillion: 0.125,
  dynamoDbWritePerMillion: 0.625,
  sqsPerMillion: 0.4,
};
