import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { IcebergError } from '../base/index.ts';
import type { DynamoDbConnection } from './connection.ts';

/** Keys and indexes of a table; its name is the connection's. */
export type TableLayout = Pick<
  CreateTableCommandInput,
  'AttributeDefinitions' | 'KeySchema' | 'GlobalSecondaryIndexes'
>;

/** A new table is active within seconds; two minutes is far beyond. */
const ACTIVE_POLLS_MAX = 240;
const ACTIVE_POLL_WAIT_MS = 500;

/**
 * Creates the connection's table, billed on demand, where it is missing, and waits until it is active. A table
 * that is there is left as it is.
 *
 * @throws access-denied, invalid-config, unavailable
 */
export async function createTable(
  connection: DynamoDbConnection,
  layout: TableLayout,
): Promise<void> {
  const command = new CreateTableCommand({
    TableName: connection.tableName,
    BillingMode: 'PAY_PER_REQUEST',
    ...layout,
  });
  await connection.read({ action: 'dynamodb:CreateTable' }, async () => {
    try {
      await connection.client.send(command);
    } catch (error) {
      // Somebody's table, or our own first attempt: either way it is there.
      if (!(error instanceof ResourceInUseException)) throw error;
    }
  });
  await waitUntilActive(connection);
}

/**
 * Lets items expire by an attribute that holds seconds since the epoch; without effect where it is so already.
 *
 * @throws access-denied, not-found, unavailable, commit-state-unknown
 * @throws invalid-config — also where the endpoint does not offer it
 */
export async function enableTimeToLive(
  connection: DynamoDbConnection,
  attribute: string,
): Promise<void> {
  const { client, tableName } = connection;
  const answer = await connection.read({ action: 'dynamodb:DescribeTimeToLive' }, () =>
    client.send(new DescribeTimeToLiveCommand({ TableName: tableName })),
  );
  if (answer.TimeToLiveDescription?.TimeToLiveStatus?.startsWith('ENABL')) return;
  const command = new UpdateTimeToLiveCommand({
    TableName: tableName,
    TimeToLiveSpecification: { AttributeName: attribute, Enabled: true },
  });
  await connection.write({ action: 'dynamodb:UpdateTimeToLive' }, () => client.send(command));
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
    `${connection.subject}: not active after ${ACTIVE_POLLS_MAX} polls`,
  );
}
