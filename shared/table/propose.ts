import { mapConcurrent } from '../base/index.ts';
import {
  applyTableUpdates,
  createSnapshot,
  type DataFile,
  type FileOfSpec,
  parseTableMetadata,
  readManifestList,
  replaceSummary,
  type Snapshot,
  serializeTableMetadata,
  type TableMetadata,
  type TableUpdate,
  writeManifestList,
} from '../iceberg/index.ts';
import {
  assembleList,
  assignRowIds,
  type Filtered,
  type HeadToChange,
  type RowIdList,
  stageFiltered,
} from './assemble-list.ts';
import type { CommitPorts } from './commit-ports.ts';
import type { CommitProposal, RereadOutput } from './proposal.ts';
import type { ReplaceGroup, ReplaceInput } from './replace-group.ts';
import { rereadAdded, rereadFiltered } from './reread.ts';
import type { CommitNames, ManifestStaging, StagedManifest } from './stage.ts';

/** Manifests read back at a time; the entries of filtered ones are compared one by one. */
const REREADS_CONCURRENT = 4;

/** One attempt: the head it builds on, and the groups that stand on it. */
export interface CommitAttempt extends HeadToChange {
  readonly attempt: number;
  readonly names: CommitNames;
  readonly branch: string;
  readonly baseMetadataLocation: string;
  /** Of the two objects that are new for each attempt. */
  readonly manifestList: string;
  readonly metadataLocation: string;
  readonly head: Snapshot;
  readonly startingSequenceNumber: bigint;
  readonly summaryExtra: Readonly<Record<string, string>>;
  readonly outputs: readonly RereadOutput[];
}

/** A proposal with the objects that it makes part of the table. */
export interface WrittenProposal {
  readonly proposal: CommitProposal;
  readonly locations: readonly string[];
}

/**
 * Writes what an attempt needs and reads all of it back. New for each attempt are the manifest list and the
 * metadata file; manifests are written once (see `ManifestStaging`). Manifests that need not change are not merged,
 * which would only make other writers lose; delete manifests are not touched: none can be lost here.
 *
 * @throws invalid-data — when something read back is corrupt
 * @see Iceberg spec, "Snapshots"; Iceberg Java, `SnapshotProducer.apply`
 */
export async function writeProposal(
  attempt: CommitAttempt,
  staging: ManifestStaging,
  ports: CommitPorts,
): Promise<WrittenProposal> {
  const list = await writeList(attempt, staging, ports);
  const snapshot = newSnapshot(attempt, list, ports);
  const metadata = await writeMetadata(attempt, snapshot, ports);
  const { manifestList, metadataLocation } = attempt;
  const rereadBytes = await ports.store.read(manifestList, list.lengthBytes);
  const manifests = readManifestList(rereadBytes, manifestList, metadata.formatVersion);
  const { base, baseMetadataLocation, branch, head, headManifests, headFacts } = attempt;
  const proposal: CommitProposal = {
    base,
    baseMetadataLocation,
    branch,
    head,
    headManifests,
    headFacts,
    groups: attempt.groups,
    startingSequenceNumber: attempt.startingSequenceNumber,
    snapshotId: attempt.names.snapshotId,
    outputs: attempt.outputs,
    metadata,
    manifests,
    manifestsIntended: list.manifests,
    ...(await rereadStaged(attempt, { ...list, manifests, metadata }, ports)),
  };
  const staged = [...list.added, ...list.filtered.map((filtered) => filtered.staged)];
  const locations = [
    metadataLocation,
    manifestList,
    ...staged.map(({ manifestPath }) => manifestPath),
    ...attempt.groups.flatMap((group) => group.outputs.map(({ filePath }) => filePath)),
  ];
  return { proposal, locations };
}

/** A manifest list in the store, with the manifests that were written for it. */
interface WrittenList extends RowIdList {
  readonly lengthBytes: number;
  /** Of the snapshot. */
  readonly sequenceNumber: bigint;
  readonly added: readonly StagedManifest[];
  readonly filtered: readonly Filtered[];
}

async function writeList(
  attempt: CommitAttempt,
  staging: ManifestStaging,
  { store }: CommitPorts,
): Promise<WrittenList> {
  const { base, head, names, groups, startingSequenceNumber } = attempt;
  const added = await staging.stageAdded(base, groups, startingSequenceNumber);
  const filtered = await stageFiltered(attempt, staging);
  const sequenceNumber = base.formatVersion === 1 ? 0n : base.lastSequenceNumber + 1n;
  const place = { snapshotId: names.snapshotId, sequenceNumber };
  const unassigned = assembleList(attempt, added, filtered, place);
  const list = assignRowIds(base, unassigned, [...added, ...filtered.map(({ staged }) => staged)]);
  const bytes = writeManifestList({
    formatVersion: base.formatVersion,
    snapshotId: names.snapshotId,
    parentSnapshotId: head.snapshotId,
    sequenceNumber,
    ...(list.firstRowId === undefined ? {} : { firstRowId: list.firstRowId }),
    manifests: list.manifests,
  });
  await store.write(attempt.manifestList, bytes);
  return { ...list, lengthBytes: bytes.length, sequenceNumber, added, filtered };
}

function newSnapshot(attempt: CommitAttempt, list: WrittenList, { clock }: CommitPorts): Snapshot {
  const { base, head, names, groups } = attempt;
  const createdCount = list.manifests.filter(
    (manifest) => manifest.addedSnapshotId === names.snapshotId,
  ).length;
  const keptCount = list.manifests.length - createdCount;
  return createSnapshot(
    {
      snapshotId: names.snapshotId,
      parentSnapshotId: head.snapshotId,
      sequenceNumber: list.sequenceNumber,
      timestampMs: commitTimestampMs(attempt, clock.nowMs()),
      manifestList: attempt.manifestList,
      summary: replaceSummary({
        metadata: base,
        refName: attempt.branch,
        addedFiles: groups.flatMap((group) => group.outputs.map((file) => outputOf(group, file))),
        removedFiles: groups.flatMap((group) => group.inputs.map(inputFile)),
        manifests: {
          createdCount,
          keptCount,
          replacedCount: attempt.headManifests.length - keptCount,
        },
        extra: attempt.summaryExtra,
      }),
      schemaId: base.currentSchemaId,
      ...(list.firstRowId === undefined ? {} : { firstRowId: list.firstRowId }),
      ...(list.addedRows === undefined ? {} : { addedRows: list.addedRows }),
    },
    base.formatVersion,
  );
}

/** Never before what it follows, whatever this machine's clock says. */
function commitTimestampMs({ base, head }: CommitAttempt, nowMs: number): number {
  return Math.max(nowMs, base.lastUpdatedMs, head.timestampMs);
}

function outputOf(group: ReplaceGroup, dataFile: DataFile): FileOfSpec {
  return { specId: group.inputs[0]!.specId, dataFile };
}

function inputFile(input: ReplaceInput): FileOfSpec {
  const { filePath, partition, recordCount, fileSizeBytes } = input;
  const dataFile: DataFile = {
    content: 'data',
    filePath,
    fileFormat: 'PARQUET',
    partition,
    recordCount,
    fileSizeBytes,
    unknownFields: [],
  };
  return { specId: input.specId, dataFile };
}

async function writeMetadata(
  attempt: CommitAttempt,
  snapshot: Snapshot,
  { store }: CommitPorts,
): Promise<TableMetadata> {
  const { base, baseMetadataLocation, metadataLocation, branch } = attempt;
  const updates: readonly TableUpdate[] = [
    { action: 'add-snapshot', snapshot },
    branchUpdate(base, branch, snapshot.snapshotId),
  ];
  const updated = applyTableUpdates(base, updates, {
    nowMs: snapshot.timestampMs,
    metadataLocationBefore: baseMetadataLocation,
  });
  const bytes = serializeTableMetadata(updated, metadataLocation);
  await store.write(metadataLocation, bytes);
  const reread = await store.read(metadataLocation, bytes.length);
  return parseTableMetadata(reread, metadataLocation);
}

/** The branch moves; its retention settings stay. */
function branchUpdate(base: TableMetadata, branch: string, snapshotId: bigint): TableUpdate {
  const { minSnapshotsToKeep, maxSnapshotAgeMs, maxRefAgeMs } = base.refs.get(branch) ?? {};
  return {
    action: 'set-snapshot-ref',
    refName: branch,
    type: 'branch',
    snapshotId,
    ...(minSnapshotsToKeep === undefined ? {} : { minSnapshotsToKeep }),
    ...(maxSnapshotAgeMs === undefined ? {} : { maxSnapshotAgeMs }),
    ...(maxRefAgeMs === undefined ? {} : { maxRefAgeMs }),
  };
}

async function rereadStaged(
  { names }: CommitAttempt,
  list: WrittenList & { readonly metadata: TableMetadata },
  ports: CommitPorts,
): Promise<Pick<CommitProposal, 'addedManifests' | 'filteredManifests'>> {
  const { metadata } = list;
  const listed = new Map(list.manifests.map((manifest) => [manifest.manifestPath, manifest]));
  const limit = { concurrencyMax: REREADS_CONCURRENT };
  // One that the list does not name is missed by the invariants, which know what was meant.
  const addedManifests = await mapConcurrent(list.added, limit, async ({ manifestPath }) => {
    const manifest = listed.get(manifestPath);
    return manifest && rereadAdded(manifest, metadata, ports.store);
  });
  const filteredManifests = await mapConcurrent(list.filtered, limit, async (filtered) => {
    const manifest = listed.get(filtered.staged.manifestPath);
    const context = { ...ports, metadata, snapshotId: names.snapshotId };
    return manifest && rereadFiltered(manifest, filtered.sources, context);
  });
  return {
    addedManifests: addedManifests.filter((reread) => reread !== undefined),
    filteredManifests: filteredManifests.filter((reread) => reread !== undefined),
  };
}
