import {
  type AttributeValue,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { assert, IcebergError, randomUuid } from '../base/index.ts';
import {
  DynamoDbConnection,
  type DynamoDbConnectionOptions,
  type ItemPage,
  readPages,
} from '../dynamodb/index.ts';
import type { Catalog, PointerFence, PointerUpdate, TablePointer } from './catalog.ts';
import {
  DYNAMODB_CATALOG as LAYOUT,
  parseKey,
  parsePointer,
  TABLE_ROLE,
  tableKey,
} from './dynamodb-layout.ts';
import {
  formatNamespace,
  formatTableIdentifier,
  type TableIdentifier,
} from './table-identifier.ts';

/**
 * The catalog of Iceberg Java's DynamoDbCatalog, on the same table and items; both may commit side by side.
 * Namespaces are not checked: Java does not ask for them either.
 *
 * @see Iceberg Java, `DynamoDbCatalog` and `DynamoDbTableOperations`
 */
export class DynamoDbCatalog implements Catalog {
  readonly #connection: DynamoDbConnection;

  constructor(options: DynamoDbConnectionOptions) {
    this.#connection = new DynamoDbConnection(TABLE_ROLE, options);
  }

  /** One consistent read. */
  async loadTable(identifier: TableIdentifier): Promise<TablePointer> {
    const { client, tableName } = this.#connection;
    const fullName = formatTableIdentifier(identifier);
    const command = new GetItemCommand({
      TableName: tableName,
      Key: tableKey(identifier),
      ConsistentRead: true,
    });
    const request = { action: 'dynamodb:GetItem', item: fullName };
    const { Item: item } = await this.#connection.read(request, () => client.send(command));
    if (item === undefined) {
      throw new IcebergError('not-found', `catalog table ${tableName}: has no table ${fullName}`, {
        table: fullName,
      });
    }
    return parsePointer(identifier, item);
  }

  /** One request for each megabyte of keys, on the keys-only index: it lags behind, and is cheap to read. */
  async *listTables(namespace?: readonly string[]): AsyncIterable<TableIdentifier> {
    const keys = readPages(
      (startKey) => this.#listPage(namespace, startKey),
      this.#connection.subject,
    );
    for await (const key of keys) {
      const identifier = parseKey(key);
      if (identifier !== undefined) yield identifier;
    }
  }

  /** One conditional put. */
  async registerTable(
    identifier: TableIdentifier,
    metadataLocation: string,
  ): Promise<TablePointer> {
    const { client, tableName, clock, random } = this.#connection;
    const version = randomUuid(random);
    const now = { N: String(clock.nowMs()) };
    const command = new PutItemCommand({
      TableName: tableName,
      Item: {
        ...tableKey(identifier),
        [LAYOUT.version]: { S: version },
        [LAYOUT.createdAt]: now,
        [LAYOUT.updatedAt]: now,
        [LAYOUT.tableType]: { S: LAYOUT.tableTypeIceberg },
        [LAYOUT.metadataLocation]: { S: metadataLocation },
      },
      ConditionExpression: 'attribute_not_exists(#v)',
      ExpressionAttributeNames: { '#v': LAYOUT.version },
    });
    const request = { action: 'dynamodb:PutItem', item: formatTableIdentifier(identifier) };
    await this.#connection.write(request, () => client.send(command));
    return { identifier, metadataLocation, version, properties: {} };
  }

  /** One conditional update. */
  async commitTable({ base, metadataLocation, version }: PointerUpdate): Promise<TablePointer> {
    await this.#updateItem(base, version, {
      [LAYOUT.tableType]: LAYOUT.tableTypeIceberg,
      [LAYOUT.metadataLocation]: metadataLocation,
      [LAYOUT.previousMetadataLocation]: base.metadataLocation,
    });
    return { ...base, metadataLocation, previousMetadataLocation: base.metadataLocation, version };
  }

  /** One conditional update. */
  async fenceTable({ base, version }: PointerFence): Promise<TablePointer> {
    await this.#updateItem(base, version, {});
    return { ...base, version };
  }

  /** Sets the given text attributes, `updated_at` and `v`, if `v` is still the base's. */
  async #updateItem(
    base: TablePointer,
    version: string,
    attributes: Readonly<Record<string, string>>,
  ): Promise<void> {
    assert(version !== base.version, `commit: version ${version} is the base's own`);
    const { client, tableName, clock } = this.#connection;
    const names: Record<string, string> = { '#v': LAYOUT.version, '#at': LAYOUT.updatedAt };
    const values: Record<string, AttributeValue> = {
      ':base': { S: base.version },
      ':v': { S: version },
      ':at': { N: String(clock.nowMs()) },
    };
    const assignments = ['#v = :v', '#at = :at'];
    Object.entries(attributes).forEach(([attribute, text], index) => {
      names[`#a${index}`] = attribute;
      values[`:a${index}`] = { S: text };
      assignments.push(`#a${index} = :a${index}`);
    });
    const command = new UpdateItemCommand({
      TableName: tableName,
      Key: tableKey(base.identifier),
      ConditionExpression: '#v = :base',
      UpdateExpression: `SET ${assignments.join(', ')}`,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    });
    const request = { action: 'dynamodb:UpdateItem', item: formatTableIdentifier(base.identifier) };
    await this.#connection.write(request, () => client.send(command));
  }

  async #listPage(
    namespace: readonly string[] | undefined,
    startKey: Record<string, AttributeValue> | undefined,
  ): Promise<ItemPage> {
    const { client, tableName } = this.#connection;
    const page = {
      TableName: tableName,
      IndexName: LAYOUT.namespaceIndex,
      ProjectionExpression: '#identifier, #namespace',
      ExpressionAttributeNames: {
        '#identifier': LAYOUT.identifier,
        '#namespace': LAYOUT.namespace,
      },
      ...(startKey === undefined ? {} : { ExclusiveStartKey: startKey }),
    };
    if (namespace === undefined) {
      const scan = new ScanCommand(page);
      return this.#connection.read({ action: 'dynamodb:Scan' }, () => client.send(scan));
    }
    const query = new QueryCommand({
      ...page,
      KeyConditionExpression: '#namespace = :namespace',
      ExpressionAttributeValues: { ':namespace': { S: formatNamespace(namespace) } },
    });
    return this.#connection.read({ action: 'dynamodb:Query' }, () => client.send(query));
  }
}
