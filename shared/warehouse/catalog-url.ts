import { resolve } from 'node:path';
import { IcebergError } from '../base/index.ts';

/** Where tables are found. */
export type CatalogUrl =
  | {
      readonly kind: 'dynamodb';
      readonly region: string;
      readonly catalogTable: string;
      /** Another DynamoDB endpoint than AWS's own, for local clouds. */
      readonly dynamoDbEndpoint?: string;
      readonly s3Endpoint?: string;
      /** The ledger's DynamoDB table, at the same endpoint. */
      readonly ledgerTable?: string;
      /** Where the ledger's bulky state goes, such as `s3://firn-state/ledger/`. */
      readonly stateLocation?: string;
    }
  | { readonly kind: 'file'; readonly folder: string };

const FORMS =
  'dynamodb://REGION/TABLE[?ledger=TABLE][&state=s3://BUCKET/PREFIX/][&endpoint=URL][&s3-endpoint=URL] or file:FOLDER';
const DYNAMODB_PARAMETERS = new Set(['endpoint', 's3-endpoint', 'ledger', 'state']);
const TABLE_NAME = /^[A-Za-z0-9_.-]{3,255}$/;
const STATE_LOCATION = /^s3:\/\/[^/]+\/(?:.*\/)?$/;

/**
 * Parses the text form of a catalog.
 *
 * @throws invalid-config — naming the text and the forms that are understood
 */
export function parseCatalogUrl(text: string): CatalogUrl {
  if (text.startsWith('file:')) return parseFileUrl(text);
  if (text.startsWith('dynamodb:')) return parseDynamoDbUrl(text);
  throw malformed(text, 'unknown scheme');
}

function parseFileUrl(text: string): CatalogUrl {
  const path = text.slice('file:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '') throw malformed(text, 'no folder');
  return { kind: 'file', folder: resolve(path) };
}

function parseDynamoDbUrl(text: string): CatalogUrl {
  const url = URL.parse(text);
  if (url === null) throw malformed(text, 'not a URL');
  const unknown = [...url.searchParams.keys()].filter((key) => !DYNAMODB_PARAMETERS.has(key));
  if (unknown.length > 0) throw malformed(text, `unknown parameter ${unknown.join(', ')}`);
  const catalogTable = url.pathname.replace(/^\//, '');
  if (url.hostname === '' || !TABLE_NAME.test(catalogTable)) {
    throw malformed(text, 'a region and the name of a DynamoDB table are needed');
  }
  return {
    kind: 'dynamodb',
    region: url.hostname,
    catalogTable,
    ...endpointOf(url, 'endpoint', 'dynamoDbEndpoint'),
    ...endpointOf(url, 's3-endpoint', 's3Endpoint'),
    ...ledgerOf(url),
  };
}

function ledgerOf(url: URL): { readonly ledgerTable?: string; readonly stateLocation?: string } {
  const ledgerTable = url.searchParams.get('ledger');
  const stateLocation = url.searchParams.get('state');
  return {
    ...(ledgerTable === null ? {} : { ledgerTable: parseLedgerTable(ledgerTable) }),
    ...(stateLocation === null ? {} : { stateLocation: parseStateLocation(stateLocation) }),
  };
}

/** @throws invalid-config — when no DynamoDB table can have the name */
export function parseLedgerTable(name: string): string {
  if (TABLE_NAME.test(name)) return name;
  throw new IcebergError(
    'invalid-config',
    `ledger table ${name}: is no name of a DynamoDB table (3 to 255 letters, digits, _ . -)`,
  );
}

/** @returns the location with a slash at its end @throws invalid-config — when it is no location in S3 */
export function parseStateLocation(text: string): string {
  const location = text.endsWith('/') ? text : `${text}/`;
  if (STATE_LOCATION.test(location)) return location;
  throw new IcebergError(
    'invalid-config',
    `state location ${text}: is not of the form s3://BUCKET/PREFIX/`,
  );
}

function endpointOf<Key extends string>(
  url: URL,
  parameter: string,
  key: Key,
): { readonly [name in Key]?: string } {
  const endpoint = url.searchParams.get(parameter);
  if (endpoint === null) return {};
  if (URL.parse(endpoint) === null) throw malformed(url.href, `${parameter} is not a URL`);
  return { [key]: endpoint } as { readonly [name in Key]?: string };
}

function malformed(text: string, problem: string): IcebergError {
  return new IcebergError('invalid-config', `catalog ${text}: ${problem}; expected ${FORMS}`);
}
