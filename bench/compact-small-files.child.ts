import { rmSync } from 'node:fs';
import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { TableWriter } from '../local/table-writer/index.ts';
import { mapConcurrent, systemClock, systemRandom } from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';
import {
  type FileOfSpec,
  type FormatVersion,
  newDataLocation,
  specById,
} from '../shared/iceberg/index.ts';
import { listFilesSlowly } from '../test/support/slow-files.ts';
import { parseMetadataSlowly } from '../test/support/slow-metadata.ts';
import { serve } from './support/child-process.ts';
import { withDuckDb } from './support/duck-db.ts';
import {
  readSmallFile,
  SMALL_FIELDS,
  SMALL_PARTITION_FIELDS,
  smallFileName,
  smallFilePartition,
  writeSmallFiles,
} from './support/small-files.ts';
import { SMALL_FILE_COUNT } from './support/small-shape.ts';
import { BENCH_BUCKET, openBenchWarehouse } from './support/warehouse.ts';

/** Files that one snapshot of the writer adds, in one manifest. */
const FILES_PER_SNAPSHOT = 50;
const UPLOADS_CONCURRENT = 8;
const OBJECT_BYTES_MAX = 1024 ** 3;

const folder = await mkdtemp(join(tmpdir(), 'firn-compact-small-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const inputPaths = Array.from({ length: SMALL_FILE_COUNT }, (_, fileIndex) =>
  join(folder, smallFileName(fileIndex)),
);

/** Everything around the compaction that is not Firn: DuckDB as the writer, as the judge and as the peer. */
const service = {
  writeFiles: () => withDuckDb((duckDb) => writeSmallFiles(duckDb, folder)),

  /** Uploads the files and makes a table of them. */
  createTable: async ({
    catalogUrl,
    table,
    formatVersion,
  }: {
    readonly catalogUrl: string;
    readonly table: string;
    readonly formatVersion: FormatVersion;
  }) => {
    const warehouse = openBenchWarehouse(catalogUrl);
    const builder = await TableWriter.create(
      {
        identifier: parseTableIdentifier(table),
        location: `s3://${BENCH_BUCKET}/${table}`,
        formatVersion,
        fields: SMALL_FIELDS,
        partitionFields: SMALL_PARTITION_FIELDS,
      },
      { ...warehouse, clock: systemClock, random: systemRandom },
    );
    const { metadata } = await builder.load();
    const upload = async (fileIndex: number): Promise<FileOfSpec> => {
      const { bytes, fields } = await readSmallFile(inputPaths[fileIndex]!);
      const partition = smallFilePartition(fileIndex);
      const name = smallFileName(fileIndex);
      const filePath = newDataLocation(metadata, specById(metadata, 0), partition, name);
      await warehouse.store.write(filePath, bytes);
      return { specId: 0, dataFile: { ...fields, filePath, partition } };
    };
    const concurrently = { concurrencyMax: UPLOADS_CONCURRENT };
    const files = await mapConcurrent([...inputPaths.keys()], concurrently, upload);
    for (let first = 0; first < files.length; first += FILES_PER_SNAPSHOT) {
      const added = files.slice(first, first + FILES_PER_SNAPSHOT);
      await builder.commit({ operation: 'append', addedManifests: [added] });
    }
  },

  /** Rows of the table as it is now, held against those of the files it was made of. */
  compareRows: async ({
    catalogUrl,
    table,
  }: {
    readonly catalogUrl: string;
    readonly table: string;
  }) => {
    const paths = await downloadTable(catalogUrl, table);
    return withDuckDb(async (duckDb) => {
      const before = await digest(duckDb, inputPaths);
      const after = await digest(duckDb, paths);
      return {
        fileCount: paths.length,
        rowCount: after.rowCount,
        isEqual: before.rowCount === after.rowCount && before.hash === after.hash,
      };
    });
  },

  /** DuckDB on one thread, from local files into one local file, without a table or a commit. */
  compactWithPeer: () =>
    withDuckDb(async (duckDb) => {
      await duckDb.run('SET threads = 1');
      const path = join(folder, 'peer.parquet');
      const startMs = performance.now();
      await duckDb.run(
        `COPY (SELECT * FROM ${readFiles(inputPaths)}) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`,
      );
      const seconds = (performance.now() - startMs) / 1000;
      return { seconds, outputBytes: (await stat(path)).size };
    }),
};

export type CompactSmallFilesService = typeof service;
serve(service);

/** The live files of the head, found without Firn's own scan. */
async function downloadTable(catalogUrl: string, table: string): Promise<readonly string[]> {
  const { catalog, store } = openBenchWarehouse(catalogUrl);
  const { metadataLocation } = await catalog.loadTable(parseTableIdentifier(table));
  const metadata = parseMetadataSlowly(await store.read(metadataLocation, OBJECT_BYTES_MAX));
  const manifestList = metadata.manifestLists.get(metadata.currentSnapshotId ?? -1n);
  if (manifestList === undefined) throw new Error(`${table}: has no snapshot`);
  const files = await listFilesSlowly(store, manifestList);
  const concurrently = { concurrencyMax: UPLOADS_CONCURRENT };
  return mapConcurrent(files, concurrently, async ({ filePath }, index) => {
    const path = join(folder, `${table}-${index}.parquet`);
    await writeFile(path, await store.read(filePath, OBJECT_BYTES_MAX));
    return path;
  });
}

/** The number of rows, and the sum of their hashes: equal for equal multisets of rows. */
async function digest(
  duckDb: DuckDBConnection,
  paths: readonly string[],
): Promise<{ readonly rowCount: number; readonly hash: string }> {
  const columns = SMALL_FIELDS.map(({ name }) => name).join();
  const result = await duckDb.runAndReadAll(
    `SELECT count(*), sum(hash(${columns})) FROM ${readFiles(paths)}`,
  );
  const [rowCount, hash] = result.getRows()[0]!;
  return { rowCount: Number(rowCount), hash: String(hash) };
}

function readFiles(paths: readonly string[]): string {
  return `read_parquet([${paths.map((path) => `'${path}'`).join()}])`;
}
