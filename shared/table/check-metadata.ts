import { isDeepStrictEqual } from 'node:util';
import type { TableMetadata } from '../iceberg/index.ts';
import type { CommitProposal } from './proposal.ts';

/** Parts of the metadata that a commit of data files must leave exactly as they are. */
const UNCHANGED = [
  'formatVersion',
  'tableUuid',
  'location',
  'lastColumnId',
  'schemas',
  'currentSchemaId',
  'partitionSpecs',
  'defaultSpecId',
  'lastPartitionId',
  'sortOrders',
  'defaultSortOrderId',
  'properties',
  'statistics',
  'partitionStatistics',
] as const satisfies readonly (keyof TableMetadata)[];

/** Keys of the document that change with a snapshot, or that v1 repeats from parts checked above. */
const CHANGING_KEYS: ReadonlySet<string> = new Set([
  'last-sequence-number',
  'last-updated-ms',
  'current-snapshot-id',
  'next-row-id',
  'refs',
  'snapshots',
  'snapshot-log',
  'metadata-log',
  'schema',
  'partition-spec',
]);

export function metadataViolation(proposal: CommitProposal): string | undefined {
  const { base, metadata } = proposal;
  const changed = UNCHANGED.find((part) => !isDeepStrictEqual(metadata[part], base[part]));
  if (changed !== undefined) return `${changed} is not as it was`;
  const lost = Object.keys(base.source)
    .filter((key) => !CHANGING_KEYS.has(key))
    .find((key) => !isDeepStrictEqual(metadata.source[key], base.source[key]));
  if (lost !== undefined) return `key ${lost} is not as it was`;
  return snapshotViolation(proposal) ?? refViolation(proposal) ?? logViolation(proposal);
}

function snapshotViolation({
  base,
  metadata,
  head,
  snapshotId,
}: CommitProposal): string | undefined {
  const before = metadata.snapshots.slice(0, base.snapshots.length);
  if (!isDeepStrictEqual(before, base.snapshots)) return 'a snapshot is not as it was';
  const added = metadata.snapshots.slice(base.snapshots.length);
  if (added.length !== 1 || added[0]?.snapshotId !== snapshotId) {
    return `${added.length} snapshots are new, expected ${snapshotId} alone`;
  }
  if (added[0].parentSnapshotId !== head.snapshotId) {
    return `the new snapshot's parent is ${added[0].parentSnapshotId ?? 'absent'}, expected ${head.snapshotId}`;
  }
  const operation = added[0].summary['operation'];
  return operation === 'replace' ? undefined : `the new snapshot's operation is ${operation}`;
}

function refViolation({ base, metadata, branch, snapshotId }: CommitProposal): string | undefined {
  if (metadata.refs.get(branch)?.snapshotId !== snapshotId) {
    return `branch ${branch} does not point to ${snapshotId}`;
  }
  const currentExpected = branch === 'main' ? snapshotId : base.currentSnapshotId;
  if (metadata.currentSnapshotId !== currentExpected) {
    return `current snapshot is ${metadata.currentSnapshotId ?? 'absent'}, expected ${currentExpected ?? 'none'}`;
  }
  const settings = { ...metadata.refs.get(branch), snapshotId: 0n, source: undefined };
  const settingsBefore = { ...base.refs.get(branch), snapshotId: 0n, source: undefined };
  if (!isDeepStrictEqual(settings, settingsBefore)) return `settings of ${branch} have changed`;
  const others = new Map([...metadata.refs].filter(([name]) => name !== branch));
  const othersBefore = new Map([...base.refs].filter(([name]) => name !== branch));
  return isDeepStrictEqual(others, othersBefore) ? undefined : 'another branch or tag has changed';
}

function logViolation({
  base,
  metadata,
  baseMetadataLocation,
}: CommitProposal): string | undefined {
  const previous = metadata.metadataLog.at(-1)?.metadataFile;
  if (previous !== baseMetadataLocation) {
    return `the metadata log ends with ${previous ?? 'nothing'}, expected ${baseMetadataLocation}`;
  }
  const kept = metadata.metadataLog.slice(0, -1);
  const keptBefore = base.metadataLog.slice(base.metadataLog.length - kept.length);
  return isDeepStrictEqual(kept, keptBefore) ? undefined : 'the metadata log is not as it was';
}
