import {
  CreateTableCommand,
  DescribeTableCommand,
  ResourceInUseException,
} from '@aws-sdk/client-dynamodb';
import { IcebergError } from '../base/index.ts';
import { DynamoDbConnection, type DynamoDbConnectionOptions } from './dynamodb-connection.ts';
import { DYNAMODB_CATALOG as LAYOUT } from './dynamodb-layout.ts';

/** A new table is active within seconds; two minutes is far beyond. */
const ACTIVE_POLLS_MAX = 240;
const ACTIVE_POLL_WAIT_MS = 500;

/**
 * Creates the catalog table as Iceberg Java does (keys, index, on-demand billing) where it is missing, and
 * waits until it is active. For tests and the local cloud: a deployment's table exists, or is declared.
 *
 * @throws access-denied, unavailable
 */
export async function createCatalogTable(options: DynamoDbConnectionOptions): Promise<void> {
  const connection = new DynamoDbConnection(options);
  try {
    await createTable(connection);
    await waitUntilActive(connection);
  } finally {
    connection.client.destroy();
  }
}

async function createTable(connection: DynamoDbConnection): Promise<void> {
  const command = new CreateTableCommand({
    TableName: connection.tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: LAYOUT.identifier, AttributeType: 'S' },
      { AttributeName: LAYOUT.namespace, AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: LAYOUT.identifier, KeyType: 'HASH' },
      { AttributeName: LAYOUT.namespace, KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: LAYOUT.namespaceIndex,
        KeySchema: [
          { AttributeName: LAYOUT.namespace, KeyType: 'HASH' },
          { AttributeName: LAYOUT.identifier, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  });
  await connection.read({ action: 'dynamodb:CreateTable' }, async () => {
    try {
      await connection.client.send(command);
    } catch (error) {
      // Somebody's table, or our own first attempt: either way it is there.
      if (!(error instanceof ResourceInUseException)) throw error;
    }
  });
}

async function waitUntilActive(connection: DynamoDbConnection): Promise<void> {
  const { client, clock, tableName } = connection;
  for (let poll = 0; poll < ACTIVE_POLLS_MAX; poll++) {
    const answer = await connection.read({ action: 'dynamodb:DescribeTable' }, () =>
      client.send(new DescribeTableCommand({ TableName: tableName })),
    );
    if (answer.Table?.TableStatus === 'ACTIVE') return;
    await clock.sleepMs(ACTIVE_POLL_WAIT_MS);
  }
  throw new IcebergError(
    'unavailable',
    `catalog table ${tableName}: not active after ${ACTIVE_POLLS_MAX} polls`,
  );
}
