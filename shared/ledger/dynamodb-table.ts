import {
  createTable,
  DynamoDbConnection,
  type DynamoDbConnectionOptions,
  enableTimeToLive,
} from '../dynamodb/index.ts';
import { DYNAMODB_LEDGER as LAYOUT, TABLE_ROLE } from './dynamodb-layout.ts';

/**
 * Creates the ledger table where it is missing, and waits until it is active. For `firn init`, tests and the local
 * cloud: a deployment declares it, and with it that `expires_at` is its time to live.
 *
 * @throws access-denied, unavailable
 */
export async function createLedgerTable(options: DynamoDbConnectionOptions): Promise<void> {
  const connection = new DynamoDbConnection(TABLE_ROLE, options);
  try {
    await createTable(connection, {
      AttributeDefinitions: [
        { AttributeName: LAYOUT.table, AttributeType: 'S' },
        { AttributeName: LAYOUT.item, AttributeType: 'S' },
        { AttributeName: LAYOUT.dueAt, AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: LAYOUT.table, KeyType: 'HASH' },
        { AttributeName: LAYOUT.item, KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: LAYOUT.dueIndex,
          KeySchema: [
            { AttributeName: LAYOUT.item, KeyType: 'HASH' },
            { AttributeName: LAYOUT.dueAt, KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
  } finally {
    connection.client.destroy();
  }
}

/** Lets the ledger table drop reports that have expired. @throws as `enableTimeToLive` */
export async function enableReportExpiry(options: DynamoDbConnectionOptions): Promise<void> {
  const connection = new DynamoDbConnection(TABLE_ROLE, options);
  try {
    await enableTimeToLive(connection, LAYOUT.expiresAt);
  } finally {
    connection.client.destroy();
  }
}
