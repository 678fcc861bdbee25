import { IcebergError, isJsonObject, parseJson, serializeJson } from '../base/index.ts';
import type { DynamoDbItem } from '../dynamodb/index.ts';
import type { DueItem, Item, ItemKey } from './item-store.ts';

/**
 * Items of the ledger table:
 *
 *     key        table (S, hash)      the Iceberg table's full name
 *                item (S, range)      kind and identity, such as `lease#rewrite`
 *     condition  revision (S)         a random UUID, new with each write
 *     record     body (S)             JSON
 *     lifetime   expires_at (N)       seconds since the epoch; on reports only
 *     due        due_at (N)           milliseconds since the epoch; on states that are due at some time
 *
 * The index `due` has the hash key `item` and the range key `due_at`, and holds keys only.
 */
export const DYNAMODB_LEDGER = {
  table: 'table',
  item: 'item',
  revision: 'revision',
  body: 'body',
  expiresAt: 'expires_at',
  dueAt: 'due_at',
  dueIndex: 'due',
} as const;

/** How messages name the table. */
export const TABLE_ROLE = 'ledger table';

export function dynamoDbKey({ partition, sort }: ItemKey) {
  return { [DYNAMODB_LEDGER.table]: { S: partition }, [DYNAMODB_LEDGER.item]: { S: sort } };
}

export function toDynamoDbItem(item: Item): DynamoDbItem {
  const { expiresAtMs, dueAtMs } = item;
  return {
    ...dynamoDbKey(item),
    [DYNAMODB_LEDGER.revision]: { S: item.revision },
    [DYNAMODB_LEDGER.body]: { S: serializeJson(item.body) },
    ...(expiresAtMs === undefined
      ? {}
      : { [DYNAMODB_LEDGER.expiresAt]: { N: String(Math.ceil(expiresAtMs / 1000)) } }),
    ...(dueAtMs === undefined ? {} : { [DYNAMODB_LEDGER.dueAt]: { N: String(dueAtMs) } }),
  };
}

/** @throws invalid-data — when an attribute is missing, or of another type */
export function fromDynamoDbItem(item: DynamoDbItem): Item {
  const partition = item[DYNAMODB_LEDGER.table]?.S ?? '';
  const sort = item[DYNAMODB_LEDGER.item]?.S ?? '';
  const subject = `ledger item ${sort} of ${partition}`;
  const body = parseJson(requireText(item, DYNAMODB_LEDGER.body, subject), subject);
  if (!isJsonObject(body)) throw new IcebergError('invalid-data', `${subject}: is no object`);
  const expiresAt = item[DYNAMODB_LEDGER.expiresAt]?.N;
  const dueAt = item[DYNAMODB_LEDGER.dueAt]?.N;
  return {
    partition,
    sort,
    revision: requireText(item, DYNAMODB_LEDGER.revision, subject),
    body,
    ...(expiresAt === undefined ? {} : { expiresAtMs: Number.parseInt(expiresAt, 10) * 1000 }),
    ...(dueAt === undefined ? {} : { dueAtMs: Number.parseInt(dueAt, 10) }),
  };
}

/** What the index has of an item. @throws invalid-data — when an attribute is missing, or of another type */
export function fromDueIndex(item: DynamoDbItem): DueItem {
  const sort = requireText(item, DYNAMODB_LEDGER.item, 'ledger index due');
  const partition = requireText(item, DYNAMODB_LEDGER.table, 'ledger index due');
  const dueAtMs = Number.parseInt(item[DYNAMODB_LEDGER.dueAt]?.N ?? '', 10);
  if (Number.isSafeInteger(dueAtMs)) return { partition, sort, dueAtMs };
  throw new IcebergError('invalid-data', `ledger index due: no due_at for ${sort} of ${partition}`);
}

function requireText(item: DynamoDbItem, attribute: string, subject: string): string {
  const text = item[attribute]?.S;
  if (text) return text;
  throw new IcebergError(
    'invalid-data',
    `${subject}: ${attribute} is missing, empty or not a string`,
  );
}
