import { mkdirSync, rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { TableWriter } from '../local/table-writer/index.ts';
import { mapConcurrent, systemClock, systemRandom } from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';
import type { FileOfSpec, FormatVersion } from '../shared/iceberg/index.ts';
import { serve } from './support/child-process.ts';
import {
  foldDataFiles,
  writeKeyDeletes,
  writePositionDeletes,
  writeVectors,
} from './support/delete-files.ts';
import {
  convertedPositions,
  FOLD_FILE_COUNT,
  foldedPositions,
  ROWS_FILE_COUNT,
  ROWS_FILE_ROW_COUNT,
  VECTOR_EVERY,
} from './support/deletes-shape.ts';
import { withDuckDb } from './support/duck-db.ts';
import { readLiveFiles, readVectors } from './support/live-files.ts';
import {
  readSmallFile,
  SMALL_FIELDS,
  SMALL_PARTITION_FIELDS,
  smallFilePartition,
  writeRowsOfFirstDay,
} from './support/small-files.ts';
import { BENCH_BUCKET, openBenchWarehouse } from './support/warehouse.ts';

/** Delete files of one commit, in one manifest. */
const DELETE_FILES_PER_COMMIT = 500;
const VECTORS_PER_PUFFIN = 25;
const TRANSFERS_CONCURRENT = 8;
const OBJECT_BYTES_MAX = 1024 ** 3;

const folder = await mkdtemp(join(tmpdir(), 'firn-deletes-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const [positionsFolder, keysFolder, rowsFolder] = ['positions', 'keys', 'rows'].map((name) => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}) as [string, string, string];

const rowsPaths = Array.from({ length: ROWS_FILE_COUNT }, (_, index) =>
  join(rowsFolder, `${String(index).padStart(5, '0')}.parquet`),
);

interface Place {
  readonly catalogUrl: string;
  readonly table: string;
}

/** Everything around the runs that is not Firn: who writes the tables, reads them afterwards, and does the same as a peer. */
const service = {
  writeRows: () =>
    withDuckDb(async (duckDb) => {
      for (const [index, path] of rowsPaths.entries()) {
        const first = index * ROWS_FILE_ROW_COUNT;
        await writeRowsOfFirstDay(duckDb, { first, end: first + ROWS_FILE_ROW_COUNT }, path);
      }
    }),

  /** A v2 table with position delete files that is v3 since. */
  createFoldTable: async (place: Place) => {
    const { builder, store, location } = await createTable(place, 2, {
      fields: [
        { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
        { fieldId: 2, name: 'part', isRequired: true, type: { kind: 'int' } },
      ],
      partitionFields: [
        { sourceIds: [2], fieldId: 1000, name: 'part', transform: { kind: 'identity' } },
      ],
    });
    const dataFiles = foldDataFiles(location);
    await builder.commit({ operation: 'append', addedManifests: [dataFiles] });
    const deletes = { store, location, folder: positionsFolder };
    await commitDeletes(builder, await writePositionDeletes(dataFiles, deletes));
    await builder.upgrade(3);
  },

  /** A v3 table of the rows, with no deletes, with a vector of each file, or with equality deletes of the partition. */
  createRowsTable: async ({
    deletes,
    treatment = 'auto',
    ...place
  }: Place & {
    readonly deletes: 'none' | 'vectors' | 'equality';
    readonly treatment?: 'auto' | 'purge';
  }) => {
    const { builder, store, location } = await createTable(place, 3, {
      fields: SMALL_FIELDS,
      partitionFields: SMALL_PARTITION_FIELDS,
      properties: { 'firn.rewrite-data-files.deletes': treatment },
    });
    const partition = smallFilePartition(0);
    const concurrently = { concurrencyMax: TRANSFERS_CONCURRENT };
    const files = await mapConcurrent(rowsPaths, concurrently, async (path, index) => {
      const { bytes, fields } = await readSmallFile(path);
      const filePath = `${location}/data/${String(index).padStart(5, '0')}.parquet`;
      await store.write(filePath, bytes);
      return { specId: 0, dataFile: { ...fields, filePath, partition } };
    });
    await builder.commit({ operation: 'append', addedManifests: [files] });
    if (deletes === 'equality') {
      const place = { store, location, folder: keysFolder };
      await commitDeletes(builder, await writeKeyDeletes(partition, place));
    }
    if (deletes !== 'vectors') return { vectorBytes: 0 };
    let vectorBytes = 0;
    for (let first = 0; first < files.length; first += VECTORS_PER_PUFFIN) {
      const some = files.slice(first, first + VECTORS_PER_PUFFIN);
      const vectors = await writeVectors(some, first, { store, location });
      await builder.commit({ operation: 'delete', addedManifests: [vectors] });
      for (const { dataFile } of vectors) vectorBytes += dataFile.contentSizeBytes ?? 0;
    }
    return { vectorBytes };
  },

  /** Whether each data file has one vector, that of the positions that are expected, and nothing else is there. */
  judgeVectors: async ({ rule, ...place }: Place & { readonly rule: 'folded' | 'converted' }) => {
    const { store, data, deletes } = await readLiveFiles(
      openBenchWarehouse(place.catalogUrl),
      place.table,
    );
    const vectors = await readVectors(deletes, store);
    const converted = convertedPositions();
    let [wrongCount, positionCount] = [0, 0];
    for (const { filePath } of data) {
      const fileIndex = Number(/(\d+)\.parquet$/.exec(filePath)?.[1]);
      const expected = rule === 'folded' ? foldedPositions(fileIndex) : converted;
      const found = vectors.get(filePath) ?? new Set();
      positionCount += found.size;
      if (found.symmetricDifference(expected).size > 0) wrongCount++;
    }
    return {
      dataFileCount: data.length,
      vectorCount: vectors.size,
      otherDeleteFileCount: deletes.length - vectors.size,
      positionCount,
      wrongCount,
    };
  },

  /** Rows of a compacted table, held against those of the files it was made of less those that are deleted. */
  judgeRows: async ({ isDeleted, ...place }: Place & { readonly isDeleted: boolean }) => {
    const { store, data, deletes } = await readLiveFiles(
      openBenchWarehouse(place.catalogUrl),
      place.table,
    );
    const vectors = await readVectors(deletes, store);
    const outputs = await mapConcurrent(
      data,
      { concurrencyMax: TRANSFERS_CONCURRENT },
      async ({ filePath }, index) => {
        const path = join(folder, `${place.table}-${index}.parquet`);
        await writeFile(path, await store.read(filePath, OBJECT_BYTES_MAX));
        return { path, deleted: vectors.get(filePath) ?? new Set<number>() };
      },
    );
    const pairs = outputs.flatMap(({ path, deleted }) =>
      [...deleted].map((position) => `${path},${position}\n`),
    );
    const deletedPath = join(folder, `${place.table}-deleted.csv`);
    await writeFile(deletedPath, `path,position\n${pairs.join('')}`);
    return withDuckDb(async (duckDb) => {
      const live = isDeleted ? `WHERE ${LIVE_INPUT}` : '';
      const before = await digest(duckDb, `${readFiles(rowsPaths)} ${live}`);
      const after = await digest(
        duckDb,
        `${readFiles(outputs.map(({ path }) => path))} AS rows ANTI JOIN
         read_csv('${deletedPath}', header = true, columns = {path: 'VARCHAR', position: 'BIGINT'}) AS deleted
         ON rows.filename = deleted.path AND rows.file_row_number = deleted.position`,
      );
      const isEqual = before.rowCount === after.rowCount && before.hash === after.hash;
      return {
        fileCount: data.length,
        vectorCount: vectors.size,
        rowCount: after.rowCount,
        isEqual,
      };
    });
  },

  /** DuckDB on one thread: distinct positions of all position delete files, which are on the local disk. */
  foldWithPeer: () =>
    timed(async (duckDb) => {
      const found = await duckDb.runAndReadAll(
        `SELECT file_path, list_sort(list(DISTINCT pos))
         FROM read_parquet('${positionsFolder}/*.parquet') GROUP BY file_path`,
      );
      requireCount(found.getRows().length, FOLD_FILE_COUNT);
    }),

  /** The same for the compaction: all rows but those deleted by position into one local file. */
  compactWithPeer: () =>
    timed(async (duckDb) => {
      await duckDb.run(
        `COPY (SELECT ${COLUMNS} FROM ${readFiles(rowsPaths)} WHERE ${LIVE_INPUT})
         TO '${join(folder, 'peer.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
      );
    }),

  /** The same for the conversion: positions of all rows that the keys match. */
  convertWithPeer: () =>
    timed(async (duckDb) => {
      const found = await duckDb.runAndReadAll(
        `SELECT filename, list_sort(list(file_row_number)) FROM ${readFiles(rowsPaths)}
         SEMI JOIN read_parquet('${keysFolder}/*.parquet') AS keys USING (id) GROUP BY filename`,
      );
      requireCount(found.getRows().length, ROWS_FILE_COUNT);
    }),
};

export type DeletesTablesService = typeof service;
serve(service);

const COLUMNS = SMALL_FIELDS.map(({ name }) => name).join();

/** As `vectorPositions`: ids are counted through the files. */
const LIVE_INPUT = `(id % ${ROWS_FILE_ROW_COUNT}) % ${VECTOR_EVERY} <> (id // ${ROWS_FILE_ROW_COUNT}) % ${VECTOR_EVERY}`;

async function createTable(
  { catalogUrl, table }: Place,
  formatVersion: FormatVersion,
  shape: Pick<
    Parameters<typeof TableWriter.create>[0],
    'fields' | 'partitionFields' | 'properties'
  >,
) {
  const warehouse = openBenchWarehouse(catalogUrl);
  const location = `s3://${BENCH_BUCKET}/${table}`;
  const builder = await TableWriter.create(
    { identifier: parseTableIdentifier(table), location, formatVersion, ...shape },
    { ...warehouse, clock: systemClock, random: systemRandom },
  );
  return { builder, location, store: warehouse.store };
}

async function commitDeletes(builder: TableWriter, files: readonly FileOfSpec[]): Promise<void> {
  for (let first = 0; first < files.length; first += DELETE_FILES_PER_COMMIT) {
    const added = files.slice(first, first + DELETE_FILES_PER_COMMIT);
    await builder.commit({ operation: 'delete', addedManifests: [added] });
  }
}

async function timed(
  work: (duckDb: DuckDBConnection) => Promise<void>,
): Promise<{ readonly seconds: number }> {
  return withDuckDb(async (duckDb) => {
    await duckDb.run('SET threads = 1');
    const startMs = performance.now();
    await work(duckDb);
    return { seconds: (performance.now() - startMs) / 1000 };
  });
}

/** The number of rows, and the sum of their hashes: equal for equal multisets of rows. */
async function digest(
  duckDb: DuckDBConnection,
  from: string,
): Promise<{ readonly rowCount: number; readonly hash: string }> {
  const result = await duckDb.runAndReadAll(`SELECT count(*), sum(hash(${COLUMNS})) FROM ${from}`);
  const [rowCount, hash] = result.getRows()[0]!;
  return { rowCount: Number(rowCount), hash: String(hash) };
}

function readFiles(paths: readonly string[]): string {
  const list = paths.map((path) => `'${path}'`).join();
  return `read_parquet([${list}], filename = true, file_row_number = true)`;
}

function requireCount(found: number, expected: number): void {
  if (found !== expected) throw new Error(`peer: ${found} data files, ${expected} expected`);
}
