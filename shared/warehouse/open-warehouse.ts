import { join } from 'node:path';
import type { Clock, Random } from '../base/index.ts';
import { type Catalog, DynamoDbCatalog, FileCatalog } from '../catalog/index.ts';
import {
  createS3Client,
  LocalObjectStore,
  type ObjectStore,
  RoutingObjectStore,
  S3ObjectStore,
} from '../storage/index.ts';
import { type CatalogUrl, parseCatalogUrl } from './catalog-url.ts';

/** Below the folder of a file catalog; hidden, so that no listing of tables takes it for one. */
const FILE_CATALOG_FOLDER = '.firn-catalog';

export interface Warehouse {
  /** The URL it was opened from, for messages. */
  readonly catalogUrl: string;
  readonly catalog: Catalog;
  readonly store: ObjectStore;
}

export interface WarehouseOptions {
  readonly catalogUrl: string;
  /** Another S3 endpoint than AWS's own, unless the URL names one; addressed by path. */
  readonly s3Endpoint?: string;
  /** Instead of those of the environment, the profile or the role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Opens the catalog that a URL names and the store that its tables lie in. No request is made yet.
 *
 * @throws invalid-config — when the URL is not understood
 */
export function openWarehouse(options: WarehouseOptions): Warehouse {
  const url = parseCatalogUrl(options.catalogUrl);
  const { catalogUrl } = options;
  switch (url.kind) {
    case 'file':
      return { catalogUrl, ...openFolder(url.folder, options) };
    case 'dynamodb':
      return { catalogUrl, ...openAws(url, options) };
  }
}

type Ports = Pick<Warehouse, 'catalog' | 'store'>;

function openFolder(folder: string, { clock, random }: WarehouseOptions): Ports {
  return {
    catalog: new FileCatalog({ folder: join(folder, FILE_CATALOG_FOLDER), clock, random }),
    store: new RoutingObjectStore({ file: new LocalObjectStore({ root: folder, random }) }),
  };
}

function openAws(url: CatalogUrl & { kind: 'dynamodb' }, options: WarehouseOptions): Ports {
  const { clock, random } = options;
  const credentials = options.credentials === undefined ? {} : { credentials: options.credentials };
  const s3Endpoint = url.s3Endpoint ?? options.s3Endpoint;
  const client = createS3Client({
    region: url.region,
    ...credentials,
    ...(s3Endpoint === undefined ? {} : { endpoint: s3Endpoint, forcePathStyle: true }),
  });
  const s3 = new S3ObjectStore({ client, clock, random });
  return {
    catalog: new DynamoDbCatalog({
      tableName: url.catalogTable,
      region: url.region,
      ...credentials,
      ...(url.dynamoDbEndpoint === undefined ? {} : { endpoint: url.dynamoDbEndpoint }),
      clock,
      random,
    }),
    store: new RoutingObjectStore({ s3, s3a: s3, s3n: s3 }),
  };
}
