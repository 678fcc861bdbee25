// Records of our local stream against those of moto's DynamoDB Streams, for the same writes through the same client;
// run by `run.ts` under node:test.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import {
  type AttributeValue,
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { parseCatalogRecord } from '../../events/index.ts';
import { startDynamoDbEndpoint } from '../../local/dynamodb-endpoint/index.ts';
import { ItemStream, type StreamViewType } from '../../local/stream/index.ts';
import { systemClock, systemRandom } from '../../shared/base/index.ts';
import { region, rootFolder } from './config.ts';
import { StreamReader } from './dynamodb-streams.ts';
import { type Servers, startMoto } from './servers.ts';

const VIEW_TYPES: readonly StreamViewType[] = [
  'KEYS_ONLY',
  'NEW_IMAGE',
  'OLD_IMAGE',
  'NEW_AND_OLD_IMAGES',
];

const TableName = 'iceberg';

/** Which of the writes below changes nothing. */
const UNCHANGED_INDEX = 4;
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

type Item = Record<string, AttributeValue>;

/** Values that no catalog has: the stream is not one of catalogs only. */
const ODD_VALUES: Item = {
  binary: { B: new Uint8Array([0, 255, 7]) },
  flag: { BOOL: true },
  nothing: { NULL: true },
  number: { N: '12345678901234567890.5' },
  text: { S: 'späte klicks \u{1f9ca} "' },
  list: { L: [{ S: 'a' }, { M: { n: { N: '1' } } }] },
  numbers: { NS: ['1'] },
  texts: { SS: ['one'] },
};

/** Creates the table, and returns the address of its stream where the server has one. */
async function createTable(client: DynamoDBClient, view?: StreamViewType): Promise<string> {
  const { TableDescription } = await client.send(
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
      ...(view === undefined
        ? {}
        : { StreamSpecification: { StreamEnabled: true, StreamViewType: view } }),
    }),
  );
  return TableDescription?.LatestStreamArn ?? '';
}

/** What happens to a catalog: namespaces and tables come, are committed to, fenced, renamed and dropped. */
async function write(client: DynamoDBClient, items: readonly Item[]): Promise<void> {
  const put = (Item: Item) => client.send(new PutItemCommand({ TableName, Item }));
  const remove = (Key: Item) => client.send(new DeleteItemCommand({ TableName, Key }));
  const namespace = items.find(({ identifier }) => identifier?.S === 'NAMESPACE') ?? {};
  const table = items.find(({ identifier }) => identifier?.S !== 'NAMESPACE') ?? {};
  const Key = keysOf(table);
  const setVersion = (version: string) =>
    client.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET v = :v',
        ExpressionAttributeValues: { ':v': { S: version } },
      }),
    );
  await put(namespace);
  await put(table);
  await client.send(
    new UpdateItemCommand({
      TableName,
      Key,
      UpdateExpression: 'SET #m = :m, #p = :p, v = :v, updated_at = :u',
      ConditionExpression: 'v = :old',
      ExpressionAttributeNames: {
        '#m': 'p.metadata_location',
        '#p': 'p.previous_metadata_location',
      },
      ExpressionAttributeValues: {
        ':m': { S: 's3://firn-demo/warehouse/demo.db/events/metadata/00100-x.metadata.json' },
        ':p': table['p.metadata_location'] ?? { S: '' },
        ':v': { S: '11111111-2222-4333-8444-555555555555' },
        ':old': table['v'] ?? { S: '' },
        ':u': { N: '1796065439999' },
      },
    }),
  );
  await setVersion('fenced');
  await setVersion('fenced');
  await client.send(
    new UpdateItemCommand({ TableName, Key, UpdateExpression: 'REMOVE updated_at' }),
  );
  const renamed = { ...table, identifier: { S: 'demo.renamed' } };
  await put(renamed);
  await remove(Key);
  await remove(Key);
  await put({ ...keysOf(renamed), ...ODD_VALUES });
  await remove(keysOf(renamed));
}

function keysOf({ identifier, namespace }: Item): Item {
  assert.ok(identifier !== undefined && namespace !== undefined);
  return { identifier, namespace };
}

async function recordsOfMoto(servers: Servers, view: StreamViewType, items: readonly Item[]) {
  const endpoint = servers.endpoints.dynamoDbEndpoint;
  await fetch(`${endpoint}/moto-api/reset`, { method: 'POST' });
  const client = new DynamoDBClient({ region, endpoint, credentials });
  const streamArn = await createTable(client, view);
  await write(client, items);
  client.destroy();
  return { streamArn, records: await new StreamReader(endpoint, streamArn).read() };
}

async function recordsOfOurs(view: StreamViewType, items: readonly Item[]) {
  const stream = new ItemStream({
    tableName: TableName,
    region,
    viewType: view,
    shardCount: 1,
    clock: systemClock,
    random: systemRandom,
  });
  const { endpoint, close } = await startDynamoDbEndpoint({
    tableNames: new Set([TableName]),
    onChange: (change) => stream.append(change),
  });
  const client = new DynamoDBClient({ region, endpoint, credentials });
  await createTable(client);
  await write(client, items);
  client.destroy();
  await close();
  return stream.shards[0]?.take(100) ?? [];
}

/** All of a record but what differs between any two streams; of that only that it is there, and its type. */
function comparable(record: DynamoDBRecord) {
  const { eventID, eventSourceARN: _, eventVersion, dynamodb = {}, ...shape } = record;
  const { ApproximateCreationDateTime, SequenceNumber, SizeBytes, ...images } = dynamodb;
  assert.match(String(SequenceNumber), /^\d+$/);
  assert.ok((SizeBytes ?? 0) > 0);
  return {
    ...shape,
    ...images,
    typesOfOthers: [
      typeof eventID,
      typeof eventVersion,
      typeof ApproximateCreationDateTime,
      typeof SequenceNumber,
      typeof SizeBytes,
    ],
    /** What Firn makes of it: Lambda adds the address, moto's API has none. */
    parsed: subjectOf({ ...record, eventSourceARN: 'arn:aws:dynamodb' }),
  };
}

function subjectOf(record: DynamoDBRecord): unknown {
  const parsed = parseCatalogRecord(record);
  return parsed.isValid ? parsed.value.subject : parsed.reason;
}

describe('records of the local stream are those of moto', () => {
  let servers: Servers;
  let items: readonly Item[];
  before(async () => {
    servers = await startMoto();
    items = JSON.parse(await readFile(`${rootFolder}test/fixtures/warehouse/items.json`, 'utf8'));
  });
  after(async () => {
    await servers.close();
  });

  for (const view of VIEW_TYPES) {
    test(view, async () => {
      const { streamArn, records } = await recordsOfMoto(servers, view, items);
      const ours = await recordsOfOurs(view, items);

      // moto has a record of the write that changes nothing, which DynamoDB has not.
      const theirs = records.toSpliced(UNCHANGED_INDEX, 1);
      assert.equal(ours.length, 9);
      assert.deepEqual(ours.map(comparable), theirs.map(comparable));
      const shape =
        /^arn:aws:dynamodb:[^:]+:\d{12}:table\/iceberg\/stream\/\d{4}-\d\d-\d\dT[\d:.]+$/;
      assert.match(streamArn, shape);
      for (const { eventSourceARN } of ours) assert.match(eventSourceARN ?? '', shape);
    });
  }
});
