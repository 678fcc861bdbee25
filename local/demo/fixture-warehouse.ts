import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type AttributeValue, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { IcebergError, isJsonObject, mapConcurrent, parseJson } from '../../shared/base/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { LOCAL_CATALOG_TABLE, LOCAL_CREDENTIALS, LOCAL_REGION } from '../local-cloud.ts';

const UPLOADS_CONCURRENT = 16;

/** Objects and catalog items of tables that Spark wrote, as they lie in `test/fixtures/warehouse`. */
export interface FixtureWarehouse {
  readonly folder: string;
  readonly buckets: readonly string[];
}

export async function openFixtureWarehouse(folder: string): Promise<FixtureWarehouse> {
  return { folder, buckets: await readdir(join(folder, 'objects')) };
}

/** Puts the objects into the buckets, which must exist, and the items into the catalog table. */
export async function loadFixtureWarehouse(
  { folder }: FixtureWarehouse,
  { store, dynamoDbEndpoint }: { readonly store: ObjectStore; readonly dynamoDbEndpoint: string },
): Promise<{ readonly objectCount: number; readonly bytes: number }> {
  const root = join(folder, 'objects');
  const files = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const sizes = await mapConcurrent(files, { concurrencyMax: UPLOADS_CONCURRENT }, async (file) => {
    const bytes = await readFile(file);
    await store.write(`s3://${relative(root, file).split(sep).join('/')}`, new Uint8Array(bytes));
    return bytes.length;
  });
  await putItems(await readFile(join(folder, 'items.json'), 'utf8'), dynamoDbEndpoint);
  return { objectCount: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function putItems(text: string, endpoint: string): Promise<void> {
  const items = parseJson(text, 'items.json');
  if (!Array.isArray(items)) throw new IcebergError('invalid-data', 'items.json: is not an array');
  const credentials = LOCAL_CREDENTIALS;
  const client = new DynamoDBClient({ region: LOCAL_REGION, endpoint, credentials });
  for (const item of items) {
    if (!isJsonObject(item))
      throw new IcebergError('invalid-data', 'items.json: an item is no object');
    const Item = item as unknown as Record<string, AttributeValue>;
    await client.send(new PutItemCommand({ TableName: LOCAL_CATALOG_TABLE, Item }));
  }
  client.destroy();
}
