import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DynamoDbConnection,
  type DynamoDbConnectionOptions,
  type ItemPage,
  readPages,
} from '../dynamodb/index.ts';
import {
  dynamoDbKey,
  fromDueIndex,
  fromDynamoDbItem,
  DYNAMODB_LEDGER as LAYOUT,
  TABLE_ROLE,
  toDynamoDbItem,
} from './dynamodb-layout.ts';
import type { DueItem, DueQuery, Item, ItemKey, ItemQuery, ItemStore } from './item-store.ts';

/** Items in a DynamoDB table of Firn's own. */
export class DynamoDbItemStore implements ItemStore {
  readonly #connection: DynamoDbConnection;

  constructor(options: DynamoDbConnectionOptions) {
    this.#connection = new DynamoDbConnection(TABLE_ROLE, options);
  }

  /** One consistent read. */
  async read(key: ItemKey): Promise<Item | undefined> {
    const { client, tableName } = this.#connection;
    const command = new GetItemCommand({
      TableName: tableName,
      Key: dynamoDbKey(key),
      ConsistentRead: true,
    });
    const request = { action: 'dynamodb:GetItem', item: describeKey(key) };
    const { Item: item } = await this.#connection.read(request, () => client.send(command));
    return item === undefined ? undefined : fromDynamoDbItem(item);
  }

  /** One consistent query for each megabyte. */
  async query(query: ItemQuery): Promise<readonly Item[]> {
    const found: Item[] = [];
    const firstKey =
      query.afterSort === undefined
        ? undefined
        : dynamoDbKey({ partition: query.partition, sort: query.afterSort });
    const pages = readPages(
      (startKey) => this.#queryPage(query, startKey ?? firstKey),
      this.#connection.subject,
    );
    for await (const item of pages) {
      found.push(fromDynamoDbItem(item));
      if (found.length === query.itemCountMax) break;
    }
    return found;
  }

  /** One query of the index `due` for each megabyte of keys, about 10,000 of them. */
  async queryDue(query: DueQuery): Promise<readonly DueItem[]> {
    const { sort, after, itemCountMax } = query;
    const firstKey =
      after === undefined
        ? undefined
        : {
            ...dynamoDbKey({ partition: after.partition, sort }),
            [LAYOUT.dueAt]: { N: String(after.dueAtMs) },
          };
    const found: DueItem[] = [];
    const pages = readPages(
      (startKey) => this.#queryDuePage(query, startKey ?? firstKey),
      this.#connection.subject,
    );
    for await (const item of pages) {
      found.push(fromDueIndex(item));
      if (found.length === itemCountMax) break;
    }
    return found;
  }

  /** One conditional put. */
  async write(item: Item, baseRevision: string | undefined): Promise<void> {
    const { client, tableName } = this.#connection;
    const command = new PutItemCommand({
      TableName: tableName,
      Item: toDynamoDbItem(item),
      ...condition(baseRevision),
    });
    const request = { action: 'dynamodb:PutItem', item: describeKey(item) };
    await this.#connection.write(request, () => client.send(command));
  }

  /** One conditional delete. */
  async remove(key: ItemKey, baseRevision: string): Promise<void> {
    const { client, tableName } = this.#connection;
    const command = new DeleteItemCommand({
      TableName: tableName,
      Key: dynamoDbKey(key),
      ...condition(baseRevision),
    });
    const request = { action: 'dynamodb:DeleteItem', item: describeKey(key) };
    await this.#connection.write(request, () => client.send(command));
  }

  async #queryPage(
    query: ItemQuery,
    startKey: Record<string, AttributeValue> | undefined,
  ): Promise<ItemPage> {
    const { client, tableName } = this.#connection;
    const command = new QueryCommand({
      TableName: tableName,
      ConsistentRead: true,
      KeyConditionExpression: '#table = :table AND begins_with(#item, :prefix)',
      ExpressionAttributeNames: { '#table': LAYOUT.table, '#item': LAYOUT.item },
      ExpressionAttributeValues: {
        ':table': { S: query.partition },
        ':prefix': { S: query.sortPrefix },
      },
      ScanIndexForward: query.order === 'ascending',
      Limit: query.itemCountMax,
      ...(startKey === undefined ? {} : { ExclusiveStartKey: startKey }),
    });
    const request = { action: 'dynamodb:Query', item: query.partition };
    return this.#connection.read(request, () => client.send(command));
  }

  async #queryDuePage(
    { sort, dueAtMsMax, itemCountMax }: DueQuery,
    startKey: Record<string, AttributeValue> | undefined,
  ): Promise<ItemPage> {
    const { client, tableName } = this.#connection;
    const command = new QueryCommand({
      TableName: tableName,
      IndexName: LAYOUT.dueIndex,
      KeyConditionExpression: '#item = :item AND #due <= :due',
      ExpressionAttributeNames: { '#item': LAYOUT.item, '#due': LAYOUT.dueAt },
      ExpressionAttributeValues: { ':item': { S: sort }, ':due': { N: String(dueAtMsMax) } },
      Limit: itemCountMax,
      ...(startKey === undefined ? {} : { ExclusiveStartKey: startKey }),
    });
    const request = { action: 'dynamodb:Query', item: `${sort} by due_at` };
    return this.#connection.read(request, () => client.send(command));
  }
}

function condition(baseRevision: string | undefined) {
  const ExpressionAttributeNames = { '#revision': LAYOUT.revision };
  if (baseRevision === undefined) {
    return { ConditionExpression: 'attribute_not_exists(#revision)', ExpressionAttributeNames };
  }
  return {
    ConditionExpression: '#revision = :base',
    ExpressionAttributeNames,
    ExpressionAttributeValues: { ':base': { S: baseRevision } },
  };
}

function describeKey({ partition, sort }: ItemKey): string {
  return `${sort} of ${partition}`;
}
