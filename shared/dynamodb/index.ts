/**
 * One DynamoDB table's requests: a client with stated limits and no retries of its own, reads that are repeated,
 * writes that are sent once, failures as error kinds, and pages. Knows nothing of what the items mean; leaves out
 * transactions, batches and streams on purpose.
 */
export { DynamoDbConnection, type DynamoDbConnectionOptions } from './connection.ts';
export { createTable, enableTimeToLive } from './create-table.ts';
export { type DynamoDbItem, type ItemPage, readPages } from './pages.ts';
