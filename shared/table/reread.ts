import { isDeepStrictEqual } from 'node:util';
import { assert, isIcebergError, mapConcurrent } from '../base/index.ts';
import { type FileGroupOutput, tallyRowIds } from '../datafile/index.ts';
import {
  type ManifestEntry,
  type ManifestFile,
  readManifest,
  type TableMetadata,
} from '../iceberg/index.ts';
import { readAhead, verifyParquetFile } from '../parquet/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { withoutMetrics } from './head-facts.ts';
import { type ManifestReader, manifestContext } from './manifest-reader.ts';
import type {
  EntryCounts,
  RereadAddedManifest,
  RereadFilteredManifest,
  RereadOutput,
} from './proposal.ts';
import { contentKey, type FilterSource } from './stage.ts';

const OUTPUTS_CONCURRENT = 4;

/** Differences reported of one manifest; the rest would say the same. */
const DIFFERENCES_MAX = 5;

/**
 * Reads outputs back from the store, every page of them. Costs one HEAD and about one read of each file, and in v3 one more
 * of its row ids where it is large.
 *
 * @throws unavailable, access-denied — when the store cannot be asked; what is wrong with a file is its flaw
 */
export function rereadOutputs(
  outputs: readonly FileGroupOutput[],
  store: ObjectStore,
): Promise<readonly RereadOutput[]> {
  return mapConcurrent(outputs, { concurrencyMax: OUTPUTS_CONCURRENT }, (output) =>
    rereadOutput(output, store),
  );
}

async function rereadOutput(
  { dataFile: { filePath }, deletedPositions }: FileGroupOutput,
  store: ObjectStore,
): Promise<RereadOutput> {
  try {
    const { fileSizeBytes } = await store.head(filePath);
    const reader = readAhead(store.openRanged(filePath, fileSizeBytes));
    const { rowCount, file } = await verifyParquetFile(reader);
    const rowIds = await tallyRowIds({ reader, file, deletedPositions });
    return { filePath, fileSizeBytes, recordCount: rowCount, rowIds };
  } catch (error) {
    const isFlaw =
      isIcebergError(error, 'invalid-data') ||
      isIcebergError(error, 'unsupported') ||
      isIcebergError(error, 'not-found');
    if (!isFlaw) throw error;
    return { filePath, flaw: error.message };
  }
}

/** Reads a manifest of added files back. One GET. @throws invalid-data — when it contradicts the list */
export async function rereadAdded(
  manifest: ManifestFile,
  metadata: TableMetadata,
  store: ObjectStore,
): Promise<RereadAddedManifest> {
  const entries = [...(await rereadEntries(manifest, metadata, store))];
  const tally = createTally();
  for (const entry of entries) tally.add(entry, manifest.content === 'data');
  return { manifest, entries, ...tally.result() };
}

/**
 * Reads a filtered manifest back and compares it with its sources, entry by entry. One GET, and one for each source
 * unless it was read lately. Memory: two entries at a time, and the bytes of the sources.
 */
export async function rereadFiltered(
  manifest: ManifestFile,
  sources: readonly FilterSource[],
  context: {
    readonly metadata: TableMetadata;
    readonly store: ObjectStore;
    readonly reader: ManifestReader;
    readonly snapshotId: bigint;
  },
): Promise<RereadFilteredManifest> {
  const { metadata, store, snapshotId } = context;
  const expected = expectedEntries(sources, context);
  const tally = createTally();
  const deletedEntries: ManifestEntry[] = [];
  const differences: string[] = [];
  for (const found of await rereadEntries(manifest, metadata, store)) {
    const { value: next } = await expected.next();
    if (next === undefined) {
      differences.push(`${found.dataFile.filePath}: is in no source`);
      break;
    }
    if (!isSameEntry(found, { ...next, snapshotId })) {
      differences.push(`${next.before.dataFile.filePath}: its entry is not as it was`);
    }
    if (found.status === 'deleted') deletedEntries.push(withoutMetrics(found));
    const { content, firstRowId } = next.before.dataFile;
    tally.add(found, content === 'data' && firstRowId === undefined);
    if (differences.length === DIFFERENCES_MAX) break;
  }
  const { value: missing } = await expected.next();
  if (missing !== undefined && differences.length === 0) {
    differences.push(`${missing.before.dataFile.filePath}: its entry is gone`);
  }
  return {
    manifest,
    sources: sources.map(({ source }) => source),
    deletedEntries,
    differences,
    ...tally.result(),
  };
}

interface ExpectedEntry {
  readonly before: ManifestEntry;
  readonly isRemoved: boolean;
}

async function* expectedEntries(
  sources: readonly FilterSource[],
  { metadata, reader }: { readonly metadata: TableMetadata; readonly reader: ManifestReader },
): AsyncGenerator<ExpectedEntry, undefined> {
  for (const { source, removedKeys } of sources) {
    const removed = new Set(removedKeys);
    for (const before of await reader.readEntries(metadata, source, { skipsMetrics: false })) {
      if (before.status === 'deleted') continue;
      yield { before, isRemoved: removed.has(contentKey(before.dataFile)) };
    }
  }
  return undefined;
}

async function rereadEntries(
  manifest: ManifestFile,
  metadata: TableMetadata,
  store: ObjectStore,
): Promise<Iterable<ManifestEntry>> {
  const bytes = await store.read(manifest.manifestPath, manifest.manifestLengthBytes);
  return readManifest(bytes, manifest, manifestContext(metadata, false));
}

/** Everything is kept but the status, and the snapshot of an entry that is deleted now. */
function isSameEntry(
  found: ManifestEntry,
  { before, isRemoved, snapshotId }: ExpectedEntry & { readonly snapshotId: bigint },
): boolean {
  const expected: ManifestEntry = isRemoved
    ? { ...before, status: 'deleted', snapshotId }
    : { ...before, status: 'existing' };
  if (before.dataFile.firstRowId !== undefined) return isDeepStrictEqual(found, expected);
  // A file without row ids, from before the table was upgraded to v3, gets its first ones here.
  const { firstRowId: _, ...dataFile } = found.dataFile;
  return isDeepStrictEqual({ ...found, dataFile }, expected);
}

interface Tally {
  add(entry: ManifestEntry, isUnassigned: boolean): void;
  result(): { readonly counts: EntryCounts; readonly unassignedRowsCount: number };
}

const COUNT_NAMES = {
  added: ['addedFilesCount', 'addedRowsCount'],
  existing: ['existingFilesCount', 'existingRowsCount'],
  deleted: ['deletedFilesCount', 'deletedRowsCount'],
} as const;

function createTally(): Tally {
  const counts = {
    addedFilesCount: 0,
    existingFilesCount: 0,
    deletedFilesCount: 0,
    addedRowsCount: 0,
    existingRowsCount: 0,
    deletedRowsCount: 0,
  };
  let unassignedRowsCount = 0;
  return {
    add({ status, dataFile }, isUnassigned) {
      assert(dataFile.recordCount >= 0, `${dataFile.filePath}: a negative record count`);
      const [files, rows] = COUNT_NAMES[status];
      counts[files] += 1;
      counts[rows] += dataFile.recordCount;
      if (isUnassigned && status !== 'deleted') unassignedRowsCount += dataFile.recordCount;
    },
    result: () => ({ counts: { ...counts }, unassignedRowsCount }),
  };
}
