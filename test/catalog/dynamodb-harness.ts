import {
  type AttributeValue,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { type Clock, type ManualClock, seededRandom } from '../../shared/base/index.ts';
import {
  createCatalogTable,
  DynamoDbCatalog,
  formatTableIdentifier,
  type TableIdentifier,
} from '../../shared/catalog/index.ts';
import type { CatalogHarness, RawCatalog } from './catalog.conformance.ts';

/** Local endpoints accept any. */
const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

const TABLE_NAME = 'iceberg';

export type Item = Record<string, AttributeValue>;

/** Raw calls on items, as Iceberg Java and PyIceberg make them. */
export interface RawDynamoDb extends RawCatalog {
  readItem(identifier: TableIdentifier): Promise<Item>;
  putItem(item: Item): Promise<void>;
}

export interface DynamoDbHarness extends CatalogHarness {
  readonly raw: RawDynamoDb;
}

/** How to reach the catalog table at `endpoint`. */
export function localConnection(endpoint: string, clock: Clock, seed = 1) {
  return {
    endpoint,
    clock,
    tableName: TABLE_NAME,
    region: 'eu-central-1',
    credentials: LOCAL_CREDENTIALS,
    random: seededRandom(seed),
  };
}

/** A catalog on a new catalog table of the service at `endpoint`. */
export async function openDynamoDbHarness(
  endpoint: string,
  clock: ManualClock,
): Promise<DynamoDbHarness> {
  await createCatalogTable(localConnection(endpoint, clock));
  const client = new DynamoDBClient({
    endpoint,
    region: 'eu-central-1',
    credentials: LOCAL_CREDENTIALS,
  });
  return {
    catalog: new DynamoDbCatalog(localConnection(endpoint, clock, 1)),
    other: new DynamoDbCatalog(localConnection(endpoint, clock, 2)),
    raw: rawDynamoDb(client, clock),
    close: async () => client.destroy(),
  };
}

export function itemKey(identifier: TableIdentifier): Item {
  return {
    identifier: { S: formatTableIdentifier(identifier) },
    namespace: { S: identifier.namespace.join('.') },
  };
}

function rawDynamoDb(client: DynamoDBClient, clock: Clock): RawDynamoDb {
  let writes = 0;
  const foreignWrite = () => ({
    v: { S: `foreign-${++writes}` },
    updated_at: { N: String(clock.nowMs()) },
  });
  const readItem = async (identifier: TableIdentifier): Promise<Item> => {
    const command = { TableName: TABLE_NAME, Key: itemKey(identifier), ConsistentRead: true };
    return (await client.send(new GetItemCommand(command))).Item ?? {};
  };
  const putItem = async (item: Item) => {
    await client.send(new PutItemCommand({ TableName: TABLE_NAME, Item: item }));
  };
  const drop = async (identifier: TableIdentifier) => {
    await client.send(new DeleteItemCommand({ TableName: TABLE_NAME, Key: itemKey(identifier) }));
  };
  return {
    readItem,
    putItem,
    drop,
    rename: async (source, target) => {
      const item = await readItem(source);
      await drop(source);
      await putItem({ ...item, ...itemKey(target), ...foreignWrite() });
    },
    replace: async (identifier, metadataLocation) => {
      const item = await readItem(identifier);
      await putItem({
        ...item,
        ...foreignWrite(),
        'p.metadata_location': { S: metadataLocation },
        'p.previous_metadata_location': item['p.metadata_location']!,
      });
    },
    setAttribute: async (identifier, attribute, text) =>
      putItem({ ...(await readItem(identifier)), [attribute]: { S: text } }),
    readAttribute: async (identifier, attribute) => (await readItem(identifier))[attribute]?.S,
    readTimes: async (identifier) => {
      const item = await readItem(identifier);
      return {
        createdAtMs: Number(item['created_at']?.N),
        updatedAtMs: Number(item['updated_at']?.N),
      };
    },
  };
}
