import { IcebergError } from '../base/index.ts';
import type { DynamoDbItem } from '../dynamodb/index.ts';
import type { TablePointer } from './catalog.ts';
import {
  formatNamespace,
  formatTableIdentifier,
  type TableIdentifier,
} from './table-identifier.ts';

/**
 * Items of the catalog table, as Iceberg Java's DynamoDbCatalog lays them out:
 *
 *     key        identifier (S, hash)   `ns1.ns2.table`, or the literal `NAMESPACE` for a namespace
 *                namespace  (S, range)  `ns1.ns2`
 *     lock       v (S)                  a random UUID, new with each write
 *     times      created_at, updated_at (N)   milliseconds since the epoch
 *     pointer    p.table_type (S)       `ICEBERG`, in any case
 *                p.metadata_location (S)
 *                p.previous_metadata_location (S)   absent on a new table of Java's, empty on PyIceberg's
 *     others     p.<key> (S)            other properties
 *
 * PyIceberg refuses items with attributes other than S and N, and Java dies on a `p.` attribute that is not S:
 * nothing else is ever written.
 */
export const DYNAMODB_CATALOG = {
  identifier: 'identifier',
  namespace: 'namespace',
  version: 'v',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  tableType: 'p.table_type',
  metadataLocation: 'p.metadata_location',
  previousMetadataLocation: 'p.previous_metadata_location',
  propertyPrefix: 'p.',
  /** The value of `identifier` on a namespace's item. */
  namespaceMarker: 'NAMESPACE',
  /** Global secondary index: hash `namespace`, range `identifier`, keys only. */
  namespaceIndex: 'namespace-identifier',
  tableTypeIceberg: 'ICEBERG',
} as const;

/** How messages name the table. */
export const TABLE_ROLE = 'catalog table';

/** The key of a table's item. @throws invalid-config — when the identifier is no table name */
export function tableKey(identifier: TableIdentifier): Record<string, { S: string }> {
  return {
    [DYNAMODB_CATALOG.identifier]: { S: formatTableIdentifier(identifier) },
    [DYNAMODB_CATALOG.namespace]: { S: formatNamespace(identifier.namespace) },
  };
}

/**
 * The pointer that a table's item holds.
 *
 * @throws invalid-data — when the item is not an Iceberg table's, or has no metadata location or version
 */
export function parsePointer(identifier: TableIdentifier, item: DynamoDbItem): TablePointer {
  const subject = `catalog item of ${formatTableIdentifier(identifier)}`;
  const tableType = requireText(item, DYNAMODB_CATALOG.tableType, subject);
  if (tableType.toUpperCase() !== DYNAMODB_CATALOG.tableTypeIceberg) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: p.table_type is ${tableType}, not ${DYNAMODB_CATALOG.tableTypeIceberg}`,
    );
  }
  const previous = item[DYNAMODB_CATALOG.previousMetadataLocation]?.S;
  return {
    identifier,
    metadataLocation: requireText(item, DYNAMODB_CATALOG.metadataLocation, subject),
    ...(previous ? { previousMetadataLocation: previous } : {}),
    version: requireText(item, DYNAMODB_CATALOG.version, subject),
    properties: parseProperties(item),
  };
}

/** The table that an item's key names; undefined for a namespace, or a key that is no table's. */
export function parseKey(item: DynamoDbItem): TableIdentifier | undefined {
  const fullName = item[DYNAMODB_CATALOG.identifier]?.S ?? '';
  const namespace = item[DYNAMODB_CATALOG.namespace]?.S ?? '';
  if (fullName === DYNAMODB_CATALOG.namespaceMarker || !fullName.startsWith(`${namespace}.`)) {
    return undefined;
  }
  const levels = namespace.split('.');
  const name = fullName.slice(namespace.length + 1);
  if (name === '' || name.includes('.') || levels.includes('')) return undefined;
  return { namespace: levels, name };
}

function requireText(item: DynamoDbItem, attribute: string, subject: string): string {
  const text = item[attribute]?.S;
  if (text) return text;
  const problem = item[attribute] === undefined ? 'is missing' : 'is empty or not a string';
  throw new IcebergError('invalid-data', `${subject}: ${attribute} ${problem}`);
}

function parseProperties(item: DynamoDbItem): Readonly<Record<string, string>> {
  const pointerAttributes: readonly string[] = [
    DYNAMODB_CATALOG.tableType,
    DYNAMODB_CATALOG.metadataLocation,
    DYNAMODB_CATALOG.previousMetadataLocation,
  ];
  const entries: [string, string][] = [];
  for (const [attribute, value] of Object.entries(item)) {
    if (!attribute.startsWith(DYNAMODB_CATALOG.propertyPrefix)) continue;
    if (value.S === undefined || pointerAttributes.includes(attribute)) continue;
    entries.push([attribute.slice(DYNAMODB_CATALOG.propertyPrefix.length), value.S]);
  }
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
