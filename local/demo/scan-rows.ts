import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type Clock, mapConcurrent } from '../../shared/base/index.ts';
import type { TableIdentifier } from '../../shared/catalog/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import type { Warehouse } from '../../shared/warehouse/index.ts';
import { listDataFiles } from './replicate.ts';

const READS_CONCURRENT = 16;

/** A full read of some data files by another engine. */
export interface RowScan {
  readonly fileSizesBytes: readonly number[];
  readonly rowCount: bigint;
  /** Equal for equal multisets of rows. */
  readonly rowHash: string;
  /** Fetching the files and reading every row. */
  readonly scanDurationMs: number;
}

/** Plans from the pointer, and scans every file of the current snapshot. */
export async function scanTable(
  identifier: TableIdentifier,
  warehouse: Warehouse,
  clock: Clock,
): Promise<RowScan> {
  const table = await loadTable(identifier, { ...warehouse, clock });
  const entries = await listDataFiles(table, warehouse.store);
  const locations = entries.map(({ dataFile }) => dataFile.filePath);
  return scanFiles(locations, { store: warehouse.store, clock });
}

/** Fetches the files and has DuckDB read all rows, on one thread. */
export async function scanFiles(
  locations: readonly string[],
  { store, clock }: { readonly store: ObjectStore; readonly clock: Clock },
): Promise<RowScan> {
  const startMs = clock.nowMs();
  const folder = await mkdtemp(join(tmpdir(), 'firn-demo-'));
  try {
    const files = await fetchFiles(locations, folder, store);
    const { rowCount, rowHash } = await hashRows(files.map(({ path }) => path));
    return {
      fileSizesBytes: files.map(({ fileSizeBytes }) => fileSizeBytes),
      rowCount,
      rowHash,
      scanDurationMs: clock.nowMs() - startMs,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface LocalFile {
  readonly path: string;
  readonly fileSizeBytes: number;
}

function fetchFiles(
  locations: readonly string[],
  folder: string,
  store: ObjectStore,
): Promise<LocalFile[]> {
  return mapConcurrent(locations, { concurrencyMax: READS_CONCURRENT }, async (location, index) => {
    const path = join(folder, `${index}.parquet`);
    const bytes = await store.read(location, Number.MAX_SAFE_INTEGER);
    await writeFile(path, bytes);
    return { path, fileSizeBytes: bytes.length };
  });
}

async function hashRows(
  paths: readonly string[],
): Promise<{ readonly rowCount: bigint; readonly rowHash: string }> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const files = paths.map((path) => `'${path.replaceAll("'", "''")}'`).join(', ');
  const reader = await connection.runAndReadAll(
    `SELECT count(*)::BIGINT, sum(hash(t)::HUGEINT)::VARCHAR FROM (SELECT * FROM read_parquet([${files}])) t`,
  );
  const [rowCount, rowHash] = reader.getRows()[0] as [bigint, string];
  connection.closeSync();
  instance.closeSync();
  return { rowCount, rowHash };
}
