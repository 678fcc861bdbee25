import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COPY_COUNT } from '../../local/demo/parameters.ts';
import { appendCopies, listDataFiles } from '../../local/demo/replicate.ts';
import { type NewDataFile, TableWriter } from '../../local/table-writer/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type ManualClock,
  parseJson,
  type Random,
} from '../../shared/base/index.ts';
import {
  formatTableIdentifier,
  type MemoryCatalog,
  parseTableIdentifier,
} from '../../shared/catalog/index.ts';
import type { FormatVersion } from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');
const JAVA_TABLES = join(FIXTURES, 'iceberg-java/tables');
const SPARK_WAREHOUSE = join(FIXTURES, 'warehouse');

export interface TablePorts {
  readonly catalog: MemoryCatalog;
  readonly store: ObjectStore;
  readonly clock: ManualClock;
  readonly random: Random;
}

/** Every table that others have written for tests, the demo's as it is when the demo compacts it, and some of our own. */
export async function createTables(ports: TablePorts): Promise<readonly string[]> {
  return [
    ...(await loadJavaTables(ports)),
    ...(await loadSparkWarehouse(ports)),
    ...(await writeTables(ports)),
  ].sort();
}

async function loadJavaTables({ catalog, store }: TablePorts): Promise<readonly string[]> {
  const names: string[] = [];
  for (const folder of readdirSync(JAVA_TABLES)) {
    const { files, ...index } = readObject(join(JAVA_TABLES, folder, 'index.json'));
    for (const location of Object.keys(files as JsonObject)) {
      const path = location.replace(`${String(index['location'])}/`, '');
      await store.write(location, new Uint8Array(readFileSync(join(JAVA_TABLES, folder, path))));
    }
    const name = `golden.${folder}`;
    const metadataLocation = String(index['metadata-location']);
    await catalog.registerTable(parseTableIdentifier(name), metadataLocation);
    names.push(name);
  }
  return names;
}

async function loadSparkWarehouse(ports: TablePorts): Promise<readonly string[]> {
  const { catalog, store } = ports;
  const root = join(SPARK_WAREHOUSE, 'objects');
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    await store.write(`s3://${path.slice(root.length + 1)}`, new Uint8Array(readFileSync(path)));
  }
  const items = parseJson(readFileSync(join(SPARK_WAREHOUSE, 'items.json'), 'utf8'), 'items');
  if (!Array.isArray(items)) throw new TypeError('items.json is no array');
  const names: string[] = [];
  for (const item of items) {
    const name = textOf(item as JsonObject, 'identifier');
    const metadataLocation = textOf(item as JsonObject, 'p.metadata_location');
    if (name === undefined || metadataLocation === undefined) continue;
    await catalog.registerTable(parseTableIdentifier(name), metadataLocation);
    names.push(name);
  }
  const events = new TableWriter(parseTableIdentifier('demo.events'), ports);
  const originals = await listDataFiles(await events.load(), store);
  for (let copy = 0; copy < COPY_COUNT; copy++) {
    await appendCopies(events, originals, { store, label: `copy-${copy}` });
  }
  return names;
}

async function writeTables(ports: TablePorts): Promise<readonly string[]> {
  const names: string[] = [];
  for (const formatVersion of [1, 2, 3] as const) {
    names.push(await writeTable(`own.small_v${formatVersion}`, formatVersion, 12, ports));
  }
  names.push(await writeTable('own.few', 2, 2, ports), await writeTable('own.empty', 2, 0, ports));
  return names;
}

/** A table of small files in one partition. */
async function writeTable(
  name: string,
  formatVersion: FormatVersion,
  fileCount: number,
  ports: TablePorts,
): Promise<string> {
  const writer = await TableWriter.create(
    {
      identifier: parseTableIdentifier(name),
      location: `s3://own/${name}`,
      formatVersion,
      fields: [{ fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } }],
    },
    ports,
  );
  const files: readonly NewDataFile[] = Array.from({ length: fileCount }, (_, index) => ({
    rows: [{ 1: BigInt(index) }],
  }));
  if (fileCount > 0) await writer.append(files);
  return formatTableIdentifier(writer.identifier);
}

function textOf(item: JsonObject, attribute: string): string | undefined {
  const value = item[attribute];
  return isJsonObject(value) && typeof value['S'] === 'string' ? value['S'] : undefined;
}

function readObject(path: string): JsonObject {
  const document = parseJson(readFileSync(path, 'utf8'), path);
  if (!isJsonObject(document)) throw new TypeError(`${path} is no object`);
  return document;
}
