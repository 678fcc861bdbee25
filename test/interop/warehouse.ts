// Makes test/fixtures/warehouse anew, all but its README: `node test/interop/warehouse.ts`.
// Spark writes the tables through DynamoDbCatalog into moto; then objects and catalog items are written out.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { rootFolder } from './config.ts';
import { installTools } from './install.ts';
import { createBucket, type Endpoints, startMoto } from './servers.ts';
import { Tools, type Warehouse } from './tools.ts';

const folder = `${rootFolder}test/fixtures/warehouse/`;
const bucket = 'firn-demo';
const catalogTable = 'iceberg';
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

/** Small files of `events`: this many days with this many commits each, and rows per commit. */
const DAYS = 4;
const COMMITS_PER_DAY = 12;
const ROWS_PER_COMMIT = 250;
const CLICK_COMMITS = 12;
const FIRST_SECOND = Date.UTC(2026, 0, 12) / 1000;

const EVENTS = `CREATE TABLE interop.demo.events (
  ts TIMESTAMP, id BIGINT, user STRING, amount DECIMAL(12, 2), payload STRING, tags ARRAY<STRING>
) USING iceberg PARTITIONED BY (days(ts)) TBLPROPERTIES (
  'format-version' = '2', 'write.parquet.compression-codec' = 'zstd',
  'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.previous-versions-max' = '3')`;

const CLICKS = `CREATE TABLE interop.demo.clicks (id BIGINT, page STRING, ms INT, at TIMESTAMP)
USING iceberg PARTITIONED BY (bucket(2, page)) TBLPROPERTIES (
  'format-version' = '3', 'write.parquet.compression-codec' = 'zstd',
  'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.previous-versions-max' = '3')`;

/** Rows of one commit of \`events\`, all of one day; hashes of the id stand for chance. */
function insertEvents(commit: number): string {
  const first = commit * ROWS_PER_COMMIT;
  const second = FIRST_SECOND + Math.floor(commit / COMMITS_PER_DAY) * 86_400;
  const spread = (commit % COMMITS_PER_DAY) * 7_200;
  return `INSERT INTO interop.demo.events SELECT
    timestamp_micros(CAST(${second + spread} AS BIGINT) * 1000000 + pmod(hash(id), 7200000000)),
    id, concat('user-', pmod(hash(id, 1), 500)), CAST(pmod(hash(id, 2), 1000000) / 100 AS DECIMAL(12, 2)),
    concat_ws('-', sha2(CAST(id AS STRING), 256), 'page', pmod(hash(id, 3), 40)),
    CASE WHEN pmod(id, 11) = 0 THEN NULL ELSE slice(array('new', 'mobile', 'web', 'beta'), 1, CAST(pmod(id, 5) AS INT)) END
    FROM range(${first}, ${first + ROWS_PER_COMMIT}, 1, 1)`;
}

function insertClicks(commit: number): string {
  const first = commit * ROWS_PER_COMMIT;
  return `INSERT INTO interop.demo.clicks SELECT
    id, concat('/page/', pmod(hash(id), 30)), pmod(hash(id, 1), 3000), timestamp_seconds(${FIRST_SECOND} + id)
    FROM range(${first}, ${first + ROWS_PER_COMMIT}, 1, 1)`;
}

async function writeTables(tools: Tools): Promise<void> {
  const statements = [
    EVENTS,
    ...Array.from({ length: DAYS * COMMITS_PER_DAY }, (_, commit) => insertEvents(commit)),
    CLICKS,
    ...Array.from({ length: CLICK_COMMITS }, (_, commit) => insertClicks(commit)),
    // Rows that keep their ids and are younger than their neighbours.
    `UPDATE interop.demo.clicks SET ms = 0 WHERE id < 20`,
  ];
  for (const sql of statements) await tools.call('spark4', 'sql', { sql });
}

async function dumpObjects(endpoints: Endpoints): Promise<void> {
  const { s3Endpoint: endpoint, region } = endpoints;
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket })) {
    for (const { Key } of page.Contents ?? []) {
      const object = await client.send(new GetObjectCommand({ Bucket: bucket, Key }));
      const file = `${folder}objects/${bucket}/${Key}`;
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, (await object.Body?.transformToByteArray()) ?? new Uint8Array());
    }
  }
}

/** The catalog's items in DynamoDB's wire JSON, sorted by key. */
async function dumpItems(endpoints: Endpoints): Promise<void> {
  const { dynamoDbEndpoint: endpoint, region } = endpoints;
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const { Items: items = [] } = await client.send(new ScanCommand({ TableName: catalogTable }));
  const identifier = (item: (typeof items)[number]): string => item['identifier']?.S ?? '';
  items.sort((a, b) => (identifier(a) < identifier(b) ? -1 : 1));
  await writeFile(`${folder}items.json`, `${JSON.stringify(items, null, 2)}\n`);
}

async function main(): Promise<void> {
  await installTools();
  const servers = await startMoto();
  const warehouse: Warehouse = {
    ...servers.endpoints,
    catalogTable,
    namespace: 'demo',
    warehouse: `s3://${bucket}/warehouse`,
  };
  await createBucket(warehouse, bucket);
  const tools = new Tools(warehouse);
  try {
    await writeTables(tools);
    await rm(`${folder}objects`, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await dumpObjects(warehouse);
    await dumpItems(warehouse);
  } finally {
    await tools.close();
    await servers.close();
  }
}

await main();
