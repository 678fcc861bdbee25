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

/** A full read of a table by another engine. */
export interface RowScan {
  readonly fileSizesBytes: readonly number[];
  readonly rowCount: bigint;
  /** Equal for equal multisets of rows. */
  readonly rowHash: string;
  /** From the pointer to the list of files. */
  readonly planDurationMs: number;
  /** Fetching the files and reading every row. */
  readonly scanDurationMs: number;
}

/** Plans from the pointer, fetches every file of the current snapshot, and has DuckDB read all rows on one thread. */
export async function scanRows(
  identifier: TableIdentifier,
  warehouse: Warehouse,
  clock: Clock,
): Promise<RowScan> {
  const startMs = clock.nowMs();
  const table = await loadTable(identifier, { ...warehouse, clock });
  const entries = await listDataFiles(table, warehouse.store);
  const plannedMs = clock.nowMs();
  const folder = await mkdtemp(join(tmpdir(), 'firn-demo-'));
  try {
    const locations = entries.map((entry) => entry.dataFile.filePath);
    const paths = await fetchFiles(locations, folder, warehouse.store);
    const { rowCount, rowHash } = await hashRows(paths);
    return {
      fileSizesBytes: entries.map((entry) => entry.dataFile.fileSizeBytes),
      rowCount,
      rowHash,
      planDurationMs: plannedMs - startMs,
      scanDurationMs: clock.nowMs() - plannedMs,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function fetchFiles(
  locations: readonly string[],
  folder: string,
  store: ObjectStore,
): Promise<string[]> {
  return mapConcurrent(locations, { concurrencyMax: READS_CONCURRENT }, async (location, index) => {
    const path = join(folder, `${index}.parquet`);
    await writeFile(path, await store.read(location, Number.MAX_SAFE_INTEGER));
    return path;
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
