import { globSync, readFileSync } from 'node:fs';
import { TableWriter } from '../../local/table-writer/index.ts';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { MemoryCatalog } from '../../shared/catalog/index.ts';
import type { DataFile, FormatVersion, NestedField } from '../../shared/iceberg/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import type { SlowAvroFile } from '../support/slow-avro.ts';
import { readParquetSlowly, type SlowParquetFile } from '../support/slow-parquet-rows.ts';
import { type SlowParser, slowParser } from '../support/slow-parser.ts';

/** A sound table; each case corrupts a copy of it. */
export interface BaseTable {
  readonly name: string;
  readonly store: MemoryObjectStore;
  readonly metadataLocation: string;
  readonly locations: ReadonlySet<string>;
  /** Remembers the sound objects. */
  readonly parser: SlowParser;
}

const JAVA_FOLDER = new URL('../fixtures/iceberg-java/tables/', import.meta.url);
const WAREHOUSE_FOLDER = new URL('../fixtures/warehouse/', import.meta.url);
const PARQUET_FOLDER = new URL('../fixtures/hostile-parquet/', import.meta.url);

/** Written by Iceberg Java, metadata, manifests and data. */
const JAVA_TABLES = [
  'v1-all-types',
  'v2-gzip',
  'v2-deletes',
  'v1-upgraded-to-v3',
  'v3-deletes',
  'v3-only',
];

/** When the tables built here were made; runs come later. */
export const BUILT_AT_MS = Date.UTC(2026, 0, 1);

/** Every table by name; each is loaded or built when it is first asked for. */
export const BASE_TABLES: ReadonlyMap<string, () => Promise<BaseTable>> = new Map([
  ...JAVA_TABLES.map((name) => [`java-${name}`, () => javaTable(name)] as const),
  ['spark-v3', sparkTable],
  ['mixed-v2', () => mixedTable('mixed-v2', 2)],
  ['partitioned-v1', () => partitionedTable('partitioned-v1', 1)],
  ['partitioned-v3', () => partitionedTable('partitioned-v3', 3)],
]);

async function baseTable(
  name: string,
  store: MemoryObjectStore,
  metadataLocation: string,
): Promise<BaseTable> {
  const { bucket } = /^s3:\/\/(?<bucket>[^/]+)/.exec(metadataLocation)!.groups!;
  const locations = new Set<string>();
  for await (const { location } of store.list(`s3://${bucket}/`)) locations.add(location);
  return { name, store, metadataLocation, locations, parser: rememberingParser(store) };
}

/** Only for objects that never change. */
function rememberingParser(store: MemoryObjectStore): SlowParser {
  const parser = slowParser(store);
  const avroFiles = new Map<string, Promise<SlowAvroFile>>();
  const parquetFiles = new Map<string, Promise<SlowParquetFile>>();
  return {
    avro: (location) => {
      const known = avroFiles.get(location) ?? parser.avro(location);
      avroFiles.set(location, known);
      return known;
    },
    parquet: (file) => {
      const key = `${file.fileSizeBytes} ${file.filePath}`;
      const known = parquetFiles.get(key) ?? parser.parquet(file);
      parquetFiles.set(key, known);
      return known;
    },
  };
}

async function javaTable(name: string): Promise<BaseTable> {
  const folder = new URL(`${name}/`, JAVA_FOLDER);
  const index = JSON.parse(readFileSync(new URL('index.json', folder), 'utf8')) as {
    readonly location: string;
    readonly 'metadata-location': string;
    readonly files: Readonly<Record<string, number>>;
  };
  const store = new MemoryObjectStore();
  for (const location of Object.keys(index.files)) {
    const path = location.slice(index.location.length + 1).replaceAll('%', '%25');
    await store.write(location, readFileSync(new URL(path, folder)));
  }
  return baseTable(`java-${name}`, store, index['metadata-location']);
}

/** `demo.clicks` of the fixture warehouse: bucketed, many small files, some rewritten by an UPDATE. */
async function sparkTable(): Promise<BaseTable> {
  const items = JSON.parse(readFileSync(new URL('items.json', WAREHOUSE_FOLDER), 'utf8')) as {
    readonly [attribute: string]: { readonly S: string };
  }[];
  const item = items.find(({ identifier }) => identifier?.S === 'demo.clicks');
  const metadataLocation = item!['p.metadata_location']!.S;
  const folder = new URL('objects/', WAREHOUSE_FOLDER);
  const store = new MemoryObjectStore();
  for (const path of globSync('**/clicks/**/*.*', { cwd: folder.pathname })) {
    await store.write(`s3://${path}`, readFileSync(`${folder.pathname}${path}`));
  }
  return baseTable('spark-v3', store, metadataLocation);
}

const ID: NestedField = { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } };
const WORD: NestedField = { fieldId: 2, name: 'word', isRequired: false, type: { kind: 'string' } };

const NESTED_FIELDS: readonly NestedField[] = [
  ID,
  WORD,
  optional(3, 'price', { kind: 'decimal', precision: 9, scale: 2 }),
  optional(4, 'tags', {
    kind: 'list',
    elementId: 5,
    isElementRequired: false,
    elementType: { kind: 'int' },
  }),
  optional(6, 'attrs', {
    kind: 'map',
    keyId: 7,
    keyType: { kind: 'string' },
    valueId: 8,
    isValueRequired: false,
    valueType: { kind: 'double' },
  }),
  optional(9, 'point', {
    kind: 'struct',
    fields: [optional(10, 'x', { kind: 'int' }), optional(11, 'y', { kind: 'string' })],
  }),
];

function optional(fieldId: number, name: string, type: NestedField['type']): NestedField {
  return { fieldId, name, isRequired: false, type };
}

/** Nested columns in files of pyarrow and DuckDB: page indexes, checksums, Bloom filters, both page versions. */
async function mixedTable(name: string, formatVersion: FormatVersion): Promise<BaseTable> {
  const { store, builder, finish } = await startTable(name, formatVersion, {
    fields: NESTED_FIELDS,
  });
  for (const fileName of ['arrow-v1', 'arrow-v2', 'duckdb-a', 'duckdb-b']) {
    const bytes = new Uint8Array(readFileSync(new URL(`${fileName}.parquet`, PARQUET_FOLDER)));
    const filePath = `s3://bucket/${name}/data/${fileName}.parquet`;
    await store.write(filePath, bytes);
    const { rows } = await readParquetSlowly(bytes);
    const dataFile: DataFile = {
      content: 'data',
      filePath,
      fileFormat: 'PARQUET',
      partition: [],
      recordCount: rows.length,
      fileSizeBytes: bytes.length,
      unknownFields: [],
    };
    await builder.commit({ operation: 'append', addedManifests: [[{ specId: 0, dataFile }]] });
  }
  return finish();
}

/** Flat columns in files of hyparquet-writer, several row groups each, in identity partitions. */
async function partitionedTable(name: string, formatVersion: FormatVersion): Promise<BaseTable> {
  const { builder, finish } = await startTable(name, formatVersion, {
    fields: [ID, WORD],
    partitionFields: [
      { sourceIds: [2], fieldId: 1000, name: 'word', transform: { kind: 'identity' } },
    ],
  });
  for (let snapshot = 0; snapshot < 2; snapshot++) {
    await builder.append(
      ['east', 'west'].map((word) => ({
        rows: Array.from({ length: 6 }, (_, row) => ({ 1: BigInt(100 * snapshot + row), 2: word })),
        partition: [word],
        layout: { rowsPerRowGroup: 4 },
        fileName: `${word}-${snapshot}.parquet`,
      })),
    );
  }
  return finish();
}

async function startTable(
  name: string,
  formatVersion: FormatVersion,
  table: Pick<Parameters<typeof TableWriter.create>[0], 'fields' | 'partitionFields'>,
): Promise<{
  readonly store: MemoryObjectStore;
  readonly builder: TableWriter;
  readonly finish: () => Promise<BaseTable>;
}> {
  const clock = new ManualClock(BUILT_AT_MS);
  const random = seededRandom(formatVersion);
  const store = new MemoryObjectStore({ clock });
  const catalog = new MemoryCatalog({ clock, random });
  const identifier = { namespace: ['db'], name };
  const builder = await TableWriter.create(
    { identifier, location: `s3://bucket/${name}`, formatVersion, ...table },
    { store, catalog, clock, random },
  );
  const finish = async (): Promise<BaseTable> => {
    const { metadataLocation } = await builder.load();
    return baseTable(name, store, metadataLocation);
  };
  return { store, builder, finish };
}
