import { type Clock, type Random, systemClock, systemRandom } from '../shared/base/index.ts';
import { createCatalogTable } from '../shared/catalog/index.ts';
import { initLedger, openWarehouse, type Warehouse } from '../shared/warehouse/index.ts';
import {
  type DynamoDbEndpoint,
  type ItemChange,
  startDynamoDbEndpoint,
} from './dynamodb-endpoint/index.ts';
import { type S3Endpoint, startS3Endpoint } from './s3-endpoint/index.ts';

export const LOCAL_REGION = 'us-east-1';
export const LOCAL_CATALOG_TABLE = 'iceberg';

/** For what the ledger keeps in objects; no table lies in it. */
const LOCAL_STATE_BUCKET = 'firn-state';

/** Any will do: the local endpoints check no signature. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

/** S3 and DynamoDB on this machine, in this process, with an empty catalog table and ledger. */
export interface LocalCloud {
  readonly s3: S3Endpoint;
  readonly dynamoDb: DynamoDbEndpoint;
  /** What the `firn` command takes as `--catalog`. */
  readonly catalogUrl: string;
  readonly warehouse: Warehouse;
  readonly clock: Clock;
  readonly random: Random;
  close(): Promise<void>;
}

export interface LocalCloudOptions {
  readonly buckets: readonly string[];
  /** Called for each change of an item of the catalog table, whoever makes it, before the writer has its answer. */
  readonly onCatalogChange?: (change: ItemChange) => void;
}

/** Starts the endpoints on free ports of the loopback interface; everything is in memory. */
export async function startLocalCloud({
  buckets,
  onCatalogChange,
}: LocalCloudOptions): Promise<LocalCloud> {
  const clock = systemClock;
  const random = systemRandom;
  const s3 = await startS3Endpoint({ buckets: [...buckets, LOCAL_STATE_BUCKET] });
  const dynamoDb = await startDynamoDbEndpoint(
    onCatalogChange === undefined
      ? undefined
      : { tableNames: new Set([LOCAL_CATALOG_TABLE]), onChange: onCatalogChange },
  );
  await createCatalogTable({
    tableName: LOCAL_CATALOG_TABLE,
    region: LOCAL_REGION,
    endpoint: dynamoDb.endpoint,
    credentials: LOCAL_CREDENTIALS,
    clock,
    random,
  });
  const catalogUrl =
    `dynamodb://${LOCAL_REGION}/${LOCAL_CATALOG_TABLE}` +
    `?endpoint=${dynamoDb.endpoint}&s3-endpoint=${s3.endpoint}&state=s3://${LOCAL_STATE_BUCKET}/ledger/`;
  const warehouseOptions = { catalogUrl, credentials: LOCAL_CREDENTIALS, clock, random };
  await initLedger(warehouseOptions);
  return {
    s3,
    dynamoDb,
    catalogUrl,
    warehouse: openWarehouse(warehouseOptions),
    clock,
    random,
    close: async () => {
      await s3.close();
      await dynamoDb.close();
    },
  };
}
