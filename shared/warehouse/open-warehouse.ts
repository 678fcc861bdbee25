import { join } from 'node:path';
import { type Clock, IcebergError, isIcebergError, type Random } from '../base/index.ts';
import { encodeUtf8 } from '../bytes/index.ts';
import { type Catalog, DynamoDbCatalog, FileCatalog } from '../catalog/index.ts';
import {
  createLedger,
  createLedgerTable,
  DynamoDbItemStore,
  enableReportExpiry,
  FileItemStore,
  type Ledger,
} from '../ledger/index.ts';
import {
  createS3Client,
  LocalObjectStore,
  type ObjectStore,
  RoutingObjectStore,
  S3ObjectStore,
} from '../storage/index.ts';
import {
  type CatalogUrl,
  parseCatalogUrl,
  parseLedgerTable,
  parseStateLocation,
} from './catalog-url.ts';

/** Below the folder of a file catalog; hidden, so that no listing of tables takes it for one. */
const FILE_CATALOG_FOLDER = '.firn-catalog';

/** Beside it: what runs did, and their bulky state. */
const FILE_LEDGER_FOLDER = '.firn-ledger';
const FILE_STATE_FOLDER = '.firn-state';

/** A ledger's DynamoDB table, unless the URL or the deployment names another one. */
export const LEDGER_TABLE_DEFAULT = 'firn-ledger';

export interface Warehouse {
  /** The URL it was opened from, for messages. */
  readonly catalogUrl: string;
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  /**
   * What Firn remembers of the catalog's tables; the same one each time. No request is made yet.
   *
   * @throws invalid-config — when nothing says where its bulky state goes
   */
  openLedger(): Ledger;
}

export interface WarehouseOptions {
  readonly catalogUrl: string;
  /** Another S3 endpoint than AWS's own, unless the URL names one; addressed by path. */
  readonly s3Endpoint?: string;
  /** Unless the URL names them. */
  readonly ledgerTable?: string;
  readonly stateLocation?: string;
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

type Ports = Omit<Warehouse, 'catalogUrl'>;

function openFolder(folder: string, { clock, random }: WarehouseOptions): Ports {
  const store = new RoutingObjectStore({ file: new LocalObjectStore({ root: folder, random }) });
  const ledger = createLedger({
    items: new FileItemStore({ folder: join(folder, FILE_LEDGER_FOLDER), random }),
    state: { store, prefix: `file:${join(folder, FILE_STATE_FOLDER)}/` },
    clock,
    random,
  });
  return {
    catalog: new FileCatalog({ folder: join(folder, FILE_CATALOG_FOLDER), clock, random }),
    store,
    openLedger: () => ledger,
  };
}

function openAws(url: CatalogUrl & { kind: 'dynamodb' }, options: WarehouseOptions): Ports {
  const { clock, random } = options;
  const store = openS3(url, options);
  let ledger: Ledger | undefined;
  const openLedger = (): Ledger => {
    const items = new DynamoDbItemStore(dynamoDbOptions(ledgerTableOf(url, options), url, options));
    return createLedger({
      items,
      state: { store, prefix: requireStateLocation(url, options) },
      clock,
      random,
    });
  };
  return {
    catalog: new DynamoDbCatalog(dynamoDbOptions(url.catalogTable, url, options)),
    store,
    openLedger: () => {
      ledger ??= openLedger();
      return ledger;
    },
  };
}

function openS3(url: CatalogUrl & { kind: 'dynamodb' }, options: WarehouseOptions): ObjectStore {
  const { clock, random, credentials } = options;
  const s3Endpoint = url.s3Endpoint ?? options.s3Endpoint;
  const client = createS3Client({
    region: url.region,
    ...(credentials === undefined ? {} : { credentials }),
    ...(s3Endpoint === undefined ? {} : { endpoint: s3Endpoint, forcePathStyle: true }),
  });
  const s3 = new S3ObjectStore({ client, clock, random });
  return new RoutingObjectStore({ s3, s3a: s3, s3n: s3 });
}

/** How a DynamoDB table of the warehouse is reached. */
function dynamoDbOptions(
  tableName: string,
  url: CatalogUrl & { kind: 'dynamodb' },
  { credentials, clock, random }: WarehouseOptions,
) {
  return {
    tableName,
    region: url.region,
    ...(credentials === undefined ? {} : { credentials }),
    ...(url.dynamoDbEndpoint === undefined ? {} : { endpoint: url.dynamoDbEndpoint }),
    clock,
    random,
  };
}

function ledgerTableOf(
  url: CatalogUrl & { kind: 'dynamodb' },
  { ledgerTable }: WarehouseOptions,
): string {
  return (
    url.ledgerTable ??
    (ledgerTable === undefined ? LEDGER_TABLE_DEFAULT : parseLedgerTable(ledgerTable))
  );
}

function requireStateLocation(
  url: CatalogUrl & { kind: 'dynamodb' },
  { stateLocation }: WarehouseOptions,
): string {
  if (url.stateLocation !== undefined) return url.stateLocation;
  if (stateLocation !== undefined) return parseStateLocation(stateLocation);
  throw new IcebergError(
    'invalid-config',
    'ledger: nothing says where its state goes; add &state=s3://BUCKET/PREFIX/ to the catalog URL or set FIRN_STATE_LOCATION',
  );
}

/** What `initLedger` found or made. */
export type LedgerSetup =
  /** A folder is made as it is written. */
  | { readonly kind: 'file' }
  | {
      readonly kind: 'dynamodb';
      readonly ledgerTable: string;
      readonly stateLocation: string;
      /** Whether old reports expire; where not, why. */
      readonly reportExpiry:
        | { readonly isOn: true }
        | { readonly isOn: false; readonly reason: string };
    };

/**
 * Creates the ledger of a catalog where it is missing, and sees whether its state location can be written. A
 * ledger that is there stays as it is.
 *
 * @throws invalid-config, access-denied, unavailable, not-found — for the table, or the bucket of the state
 */
export async function initLedger(options: WarehouseOptions): Promise<LedgerSetup> {
  const url = parseCatalogUrl(options.catalogUrl);
  if (url.kind === 'file') return { kind: 'file' };
  const ledgerTable = ledgerTableOf(url, options);
  const stateLocation = requireStateLocation(url, options);
  await openS3(url, options).write(`${stateLocation}about.txt`, encodeUtf8(ABOUT_STATE));
  const connection = dynamoDbOptions(ledgerTable, url, options);
  await createLedgerTable(connection);
  const reportExpiry = await expireReports(connection);
  return { kind: 'dynamodb', ledgerTable, stateLocation, reportExpiry };
}

const ABOUT_STATE =
  'Firn keeps lists of objects and large reports here. They belong to its ledger table; deleting them loses history,\n' +
  'and may leave objects that nobody needs undeleted. Tables do not refer to anything here.\n';

type ReportExpiry = (LedgerSetup & { kind: 'dynamodb' })['reportExpiry'];

/** A ledger works without, so that this fails softly. */
async function expireReports(
  connection: ReturnType<typeof dynamoDbOptions>,
): Promise<ReportExpiry> {
  try {
    await enableReportExpiry(connection);
    return { isOn: true };
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    return { isOn: false, reason: error.message };
  }
}
