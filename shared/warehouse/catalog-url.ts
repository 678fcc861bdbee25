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
    }
  | { readonly kind: 'file'; readonly folder: string };

const FORMS = 'dynamodb://REGION/TABLE[?endpoint=URL][&s3-endpoint=URL] or file:FOLDER';
const DYNAMODB_PARAMETERS = new Set(['endpoint', 's3-endpoint']);

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
  if (url.hostname === '' || !/^[A-Za-z0-9_.-]{3,255}$/.test(catalogTable)) {
    throw malformed(text, 'a region and the name of a DynamoDB table are needed');
  }
  return {
    kind: 'dynamodb',
    region: url.hostname,
    catalogTable,
    ...endpointOf(url, 'endpoint', 'dynamoDbEndpoint'),
    ...endpointOf(url, 's3-endpoint', 's3Endpoint'),
  };
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
