import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type ItemChange, startDynamoDbEndpoint } from '../../local/dynamodb-endpoint/index.ts';

const TableName = 'iceberg';

async function open(tableNames: readonly string[] = [TableName]) {
  const changes: ItemChange[] = [];
  const server = await startDynamoDbEndpoint({
    tableNames: new Set(tableNames),
    onChange: (change) => changes.push(change),
  });
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [
        { AttributeName: 'identifier', AttributeType: 'S' },
        { AttributeName: 'namespace', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'identifier', KeyType: 'HASH' },
        { AttributeName: 'namespace', KeyType: 'RANGE' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  return {
    client,
    changes,
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await server.close();
    },
  };
}

const KEYS = { identifier: { S: 'demo.events' }, namespace: { S: 'demo' } };

function item(version: string): Record<string, AttributeValue> {
  return { ...KEYS, v: { S: version }, updated_at: { N: '1796065445833' } };
}

function update(version: string, condition?: string) {
  return new UpdateItemCommand({
    TableName,
    Key: KEYS,
    UpdateExpression: 'SET v = :v',
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
    ExpressionAttributeValues: { ':v': { S: version } },
  });
}

describe('item changes', () => {
  test('have keys and both images, for puts, updates and deletes', async () => {
    await using dynamoDb = await open();

    await dynamoDb.client.send(new PutItemCommand({ TableName, Item: item('1') }));
    await dynamoDb.client.send(update('2'));
    await dynamoDb.client.send(new PutItemCommand({ TableName, Item: item('3') }));
    await dynamoDb.client.send(new DeleteItemCommand({ TableName, Key: KEYS }));

    const change = { tableName: TableName, keys: KEYS };
    assert.deepEqual(dynamoDb.changes, [
      { ...change, newImage: item('1') },
      { ...change, oldImage: item('1'), newImage: item('2') },
      { ...change, oldImage: item('2'), newImage: item('3') },
      { ...change, oldImage: item('3') },
    ]);
  });

  test('come from an update that makes an item', async () => {
    await using dynamoDb = await open();

    await dynamoDb.client.send(update('1'));

    assert.deepEqual(dynamoDb.changes, [
      { tableName: TableName, keys: KEYS, newImage: { ...KEYS, v: { S: '1' } } },
    ]);
  });

  test('come one for each item of a batch', async () => {
    await using dynamoDb = await open();
    const other = { identifier: { S: 'demo.clicks' }, namespace: { S: 'demo' } };
    await dynamoDb.client.send(new PutItemCommand({ TableName, Item: item('1') }));

    await dynamoDb.client.send(
      new BatchWriteItemCommand({
        RequestItems: {
          [TableName]: [{ PutRequest: { Item: other } }, { DeleteRequest: { Key: KEYS } }],
        },
      }),
    );

    assert.deepEqual(dynamoDb.changes.slice(1), [
      { tableName: TableName, keys: other, newImage: other },
      { tableName: TableName, keys: KEYS, oldImage: item('1') },
    ]);
  });

  test('do not come from reads, from writes that are refused, or that change nothing', async () => {
    await using dynamoDb = await open();
    await dynamoDb.client.send(new PutItemCommand({ TableName, Item: item('1') }));

    await dynamoDb.client.send(new GetItemCommand({ TableName, Key: KEYS }));
    await dynamoDb.client.send(update('1'));
    await assert.rejects(dynamoDb.client.send(update('2', 'attribute_not_exists(v)')), {
      name: 'ConditionalCheckFailedException',
    });
    await assert.rejects(
      dynamoDb.client.send(new PutItemCommand({ TableName, Item: { v: { S: '1' } } })),
      { name: 'ValidationException' },
    );
    await assert.rejects(
      dynamoDb.client.send(new DeleteItemCommand({ TableName: 'missing', Key: KEYS })),
      { name: 'ResourceNotFoundException' },
    );

    assert.equal(dynamoDb.changes.length, 1);
  });

  test('do not come from tables that are not watched', async () => {
    await using dynamoDb = await open(['another']);

    await dynamoDb.client.send(new PutItemCommand({ TableName, Item: item('1') }));

    assert.deepEqual(dynamoDb.changes, []);
  });

  test('come in the order of the writes, each from where the one before ended', async () => {
    await using dynamoDb = await open();
    const versions = Array.from({ length: 30 }, (_, index) => String(index));

    await Promise.all(versions.map((version) => dynamoDb.client.send(update(version))));

    const { changes } = dynamoDb;
    assert.equal(changes.length, 30);
    for (const [index, { oldImage }] of changes.entries()) {
      assert.deepEqual(oldImage, changes[index - 1]?.newImage);
    }
    const { Item } = await dynamoDb.client.send(new GetItemCommand({ TableName, Key: KEYS }));
    assert.deepEqual(changes.at(-1)?.newImage, Item);
  });
});
