import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { startDynamoDbEndpoint } from '../../local/dynamodb-endpoint/index.ts';

const TableName = 'catalog';

async function withClient(run: (client: DynamoDBClient) => Promise<void>): Promise<void> {
  const server = await startDynamoDbEndpoint();
  assert.match(server.endpoint, /^http:\/\/127\.0\.0\.1:\d+$/);
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  try {
    await run(client);
  } finally {
    client.destroy();
    await server.close();
  }
}

async function createTable(client: DynamoDBClient): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
}

describe('local DynamoDB endpoint', () => {
  it('has a table ready by the first question after its creation', () =>
    withClient(async (client) => {
      await createTable(client);

      const { Table } = await client.send(new DescribeTableCommand({ TableName }));

      assert.equal(Table?.TableStatus, 'ACTIVE');
    }));

  it('lets one of 20 racing conditional writes through', () =>
    withClient(async (client) => {
      await createTable(client);
      const put = (writer: number) =>
        new PutItemCommand({
          TableName,
          Item: { k: { S: 'key' }, writer: { N: `${writer}` } },
          ConditionExpression: 'attribute_not_exists(k)',
        });

      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, writer) =>
          client.send(put(writer)).then(
            () => 'won',
            (error: Error) => error.name,
          ),
        ),
      );

      assert.equal(outcomes.filter((outcome) => outcome === 'won').length, 1);
      assert.equal(
        outcomes.filter((outcome) => outcome === 'ConditionalCheckFailedException').length,
        19,
      );
    }));
});
