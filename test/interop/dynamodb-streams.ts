// The API of DynamoDB Streams, as far as a run reads moto's: the records of one table from the first on.

import assert from 'node:assert/strict';
import type { DynamoDBRecord } from 'aws-lambda';
import { region } from './config.ts';

/** moto looks at the service's name in it, and at nothing else. */
const AUTHORIZATION = `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/dynamodb/aws4_request, SignedHeaders=host, Signature=none`;

/** Records that one request may return. */
const PAGE_COUNT_MAX = 1000;

async function request(
  endpoint: string,
  operation: string,
  input: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${endpoint}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
      authorization: AUTHORIZATION,
    },
    body: JSON.stringify(input),
  });
  const text = await response.text();
  assert.ok(response.ok, `${operation}: ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** Reads a stream of one shard, from its first record on. */
export class StreamReader {
  readonly #endpoint: string;
  readonly #streamArn: string;
  #iterator: string | undefined;

  constructor(endpoint: string, streamArn: string) {
    this.#endpoint = endpoint;
    this.#streamArn = streamArn;
  }

  /** The records that came since the last call. */
  async read(): Promise<readonly DynamoDBRecord[]> {
    this.#iterator ??= await this.#firstIterator();
    const { Records: records, NextShardIterator: next } = await request(
      this.#endpoint,
      'GetRecords',
      { ShardIterator: this.#iterator, Limit: PAGE_COUNT_MAX },
    );
    assert.equal(typeof next, 'string', 'the shard of a table is never closed');
    this.#iterator = String(next);
    return records as readonly DynamoDBRecord[];
  }

  async #firstIterator(): Promise<string> {
    const StreamArn = this.#streamArn;
    const described = await request(this.#endpoint, 'DescribeStream', { StreamArn });
    const { Shards: shards } = described['StreamDescription'] as {
      readonly Shards: readonly { readonly ShardId: string }[];
    };
    assert.equal(shards.length, 1, 'moto has one shard for each table');
    const { ShardIterator: iterator } = await request(this.#endpoint, 'GetShardIterator', {
      StreamArn,
      ShardId: shards[0]?.ShardId,
      ShardIteratorType: 'TRIM_HORIZON',
    });
    return String(iterator);
  }
}
