import { IcebergError } from '../base/index.ts';
import { contentSizeBytes, isDeletionVector } from './content-file.ts';
import type { DataFile } from './manifest-types.ts';
import { snapshotOfRef, specById, tablePartitionType } from './metadata-lookup.ts';
import type { TableMetadata } from './metadata-types.ts';
import { partitionPath } from './partition-path.ts';
import type { PartitionType } from './partition-spec.ts';
import { MAIN_BRANCH } from './snapshot.ts';
import { tableProperty } from './table-properties.ts';
import type { PartitionSpec } from './types.ts';

/** A data or delete file with the spec that its partition belongs to. */
export interface FileOfSpec {
  readonly specId: number;
  readonly dataFile: DataFile;
}

export interface ReplaceChange {
  /** The table before the snapshot. */
  readonly metadata: TableMetadata;
  /** The branch that the snapshot is for; its head gives the previous totals. */
  readonly refName?: string;
  readonly addedFiles: readonly FileOfSpec[];
  readonly removedFiles: readonly FileOfSpec[];
  /** Absent: not counted in the summary. */
  readonly manifests?: {
    readonly createdCount: number;
    readonly keptCount: number;
    readonly replacedCount: number;
  };
  /** Further keys: engine name and version, run id. They cannot replace computed ones. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** The six totals: key of the total, of what is added, of what is removed. */
const TOTALS = [
  ['total-records', 'added-records', 'deleted-records'],
  ['total-files-size', 'added-files-size', 'removed-files-size'],
  ['total-data-files', 'added-data-files', 'deleted-data-files'],
  ['total-delete-files', 'added-delete-files', 'removed-delete-files'],
  ['total-position-deletes', 'added-position-deletes', 'removed-position-deletes'],
  ['total-equality-deletes', 'added-equality-deletes', 'removed-equality-deletes'],
] as const;

const INTEGER = /^[+-]?\d{1,19}$/;

/**
 * The summary of a `replace` snapshot, with the keys and rules of Iceberg Java's `SnapshotSummary` and
 * `SnapshotProducer`: counters of 0 are left out; a total is left out where the previous one is missing or
 * malformed, or the result would be negative; changed partitions are described one by one where there are
 * no more than `write.summary.partition-limit`.
 *
 * @throws invariant — when more records are added than removed: no `replace` may do that
 * @throws invalid-config — when `write.summary.partition-limit` is malformed
 * @see Iceberg spec, "Optional Snapshot Summary Fields"
 */
export function replaceSummary(change: ReplaceChange): Readonly<Record<string, string>> {
  const counters = countFiles(change.addedFiles, change.removedFiles);
  requireNoNewRecords(counters);
  return {
    ...change.extra,
    operation: 'replace',
    ...countersText(counters),
    ...partitionKeys(change),
    ...manifestKeys(change.manifests),
    ...totals(change, counters),
  };
}

type Counters = Map<string, number>;

function countFiles(added: readonly FileOfSpec[], removed: readonly FileOfSpec[]): Counters {
  const counters: Counters = new Map();
  for (const { dataFile } of added) countAdded(counters, dataFile);
  for (const { dataFile } of removed) countRemoved(counters, dataFile);
  return counters;
}

function countAdded(counters: Counters, file: DataFile): void {
  increase(counters, 'added-files-size', contentSizeBytes(file));
  if (file.content === 'data') {
    increase(counters, 'added-data-files', 1);
    increase(counters, 'added-records', file.recordCount);
    return;
  }
  increase(counters, 'added-delete-files', 1);
  increase(counters, `added-${deleteKindOf(file)}`, 1);
  increase(counters, `added-${file.content}`, file.recordCount);
}

function countRemoved(counters: Counters, file: DataFile): void {
  increase(counters, 'removed-files-size', contentSizeBytes(file));
  if (file.content === 'data') {
    increase(counters, 'deleted-data-files', 1);
    increase(counters, 'deleted-records', file.recordCount);
    return;
  }
  increase(counters, 'removed-delete-files', 1);
  increase(counters, `removed-${deleteKindOf(file)}`, 1);
  increase(counters, `removed-${file.content}`, file.recordCount);
}

function deleteKindOf(file: DataFile): string {
  if (isDeletionVector(file)) return 'dvs';
  return file.content === 'equality-deletes' ? 'equality-delete-files' : 'position-delete-files';
}

function increase(counters: Counters, key: string, amount: number): void {
  counters.set(key, (counters.get(key) ?? 0) + amount);
}

function requireNoNewRecords(counters: Counters): void {
  const added = counters.get('added-records') ?? 0;
  const deleted = counters.get('deleted-records') ?? 0;
  if (added > deleted) {
    throw new IcebergError(
      'invariant',
      `replace: ${added} records are added, only ${deleted} are removed`,
    );
  }
}

function countersText(counters: Counters): Record<string, string> {
  const counted = [...counters].filter(([, count]) => count > 0);
  return Object.fromEntries(counted.map(([key, count]) => [key, count.toString()]));
}

function partitionKeys(change: ReplaceChange): Record<string, string> {
  const groups = groupByPartition(change);
  const limit = tableProperty(change.metadata.properties, 'write.summary.partition-limit');
  const keys: Record<string, string> = { 'changed-partition-count': groups.size.toString() };
  if (groups.size === 0 || groups.size > limit) return keys;
  keys['partition-summaries-included'] = 'true';
  for (const [path, counters] of groups) {
    if (path !== '') keys[`partitions.${path}`] = joinPairs(countersText(counters));
  }
  return keys;
}

function groupByPartition(change: ReplaceChange): ReadonlyMap<string, Counters> {
  const groups = new Map<string, Counters>();
  const pathOf = partitionPaths(change.metadata);
  const countersOf = (file: FileOfSpec): Counters => {
    const path = pathOf(file);
    const counters = groups.get(path) ?? new Map<string, number>();
    groups.set(path, counters);
    return counters;
  };
  for (const file of change.addedFiles) countAdded(countersOf(file), file.dataFile);
  for (const file of change.removedFiles) countRemoved(countersOf(file), file.dataFile);
  return groups;
}

/** Resolves each spec once, since a change may hold thousands of files. */
function partitionPaths(metadata: TableMetadata): (file: FileOfSpec) => string {
  const specs = new Map<number, { spec: PartitionSpec; type: PartitionType }>();
  return ({ specId, dataFile }) => {
    let known = specs.get(specId);
    if (known === undefined) {
      const spec = specById(metadata, specId);
      known = { spec, type: tablePartitionType(metadata, spec) };
      specs.set(specId, known);
    }
    return partitionPath(known.spec, known.type, dataFile.partition);
  };
}

function joinPairs(pairs: Record<string, string>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function manifestKeys(manifests: ReplaceChange['manifests']): Record<string, string> {
  if (manifests === undefined) return {};
  return {
    'manifests-created': manifests.createdCount.toString(),
    'manifests-kept': manifests.keptCount.toString(),
    'manifests-replaced': manifests.replacedCount.toString(),
  };
}

function totals(change: ReplaceChange, counters: Counters): Record<string, string> {
  const head = snapshotOfRef(change.metadata, change.refName ?? MAIN_BRANCH);
  const keys: Record<string, string> = {};
  for (const [totalKey, addedKey, removedKey] of TOTALS) {
    const previous = head === undefined ? '0' : (head.summary[totalKey] ?? '');
    if (!INTEGER.test(previous)) continue;
    const total =
      BigInt(previous.replace('+', '')) +
      BigInt(counters.get(addedKey) ?? 0) -
      BigInt(counters.get(removedKey) ?? 0);
    if (total >= 0n && !previous.startsWith('-')) keys[totalKey] = total.toString();
  }
  return keys;
}
