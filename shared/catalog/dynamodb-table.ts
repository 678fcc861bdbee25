import {
  createTable,
  DynamoDbConnection,
  type DynamoDbConnectionOptions,
} from '../dynamodb/index.ts';
import { DYNAMODB_CATALOG as LAYOUT, TABLE_ROLE } from './dynamodb-layout.ts';

/**
 * Creates the catalog table as Iceberg Java does (keys, index, on-demand billing) where it is missing, and
 * waits until it is active. For tests and the local cloud: a deployment's table exists, or is declared.
 *
 * @throws access-denied, unavailable
 */
export async function createCatalogTable(options: DynamoDbConnectionOptions): Promise<void> {
  const connection = new DynamoDbConnection(TABLE_ROLE, options);
  try {
    await createTable(connection, {
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
  } finally {
    connection.client.destroy();
  }
}
