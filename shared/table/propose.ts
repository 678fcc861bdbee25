import { mapConcurrent, randomUuid } from '../base/index.ts';
import {
  applyTableUpdates,
  assignFirstRowIds,
  createSnapshot,
  type DataFile,
  type FileOfSpec,
  type ManifestFile,
  newManifestListLocation,
  newMetadataLocation,
  parseTableMetadata,
  readManifestList,
  replaceSummary,
  type Snapshot,
  serializeTableMetadata,
  type TableMetadata,
  type TableUpdate,
  tableProperty,
  writeManifestList,
} from '../iceberg/index.ts';
import type { CommitPorts } from './commit-ports.ts';
import type { CommitProposal, RereadOutput } from './proposal.ts';
import type { ReplaceGroup, ReplaceInput } from './replace-group.ts';
import { rereadAdded, rereadFiltered } from './reread.ts';
import type { HeadFacts } from './revalidate.ts';
import { mayHaveLiveFiles } from './scan.ts';
import {
  type CommitNames,
  type FilterSource,
  listStaged,
  type ManifestStaging,
  type StagedManifest,
} from './stage.ts';

/** Each holds the entries of one manifest, with metrics. */
const FILTERS_CONCURRENT = 2;

/** One attempt: the head it builds on, and the groups that stand on it. */
export interface CommitAttempt {
  readonly attempt: number;
  readonly names: CommitNames;
  readonly branch: string;
  readonly base: TableMetadata;
  readonly baseMetadataLocation: string;
  readonly head: Snapshot;
  readonly headManifests: readonly ManifestFile[];
  readonly headFacts: HeadFacts;
  readonly groups: readonly ReplaceGroup[];
  readonly startingSequenceNumber: bigint;
  readonly summaryExtra: Readonly<Record<string, string>>;
  readonly outputs: readonly RereadOutput[];
}

/** A proposal with the metadata file that the pointer would move to. */
export interface WrittenProposal {
  readonly proposal: CommitProposal;
  readonly metadataLocation: string;
}

/** A manifest that takes the place of some of the head's. */
interface Filtered {
  readonly sources: readonly FilterSource[];
  readonly staged: StagedManifest;
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
  const { base, names, groups, startingSequenceNumber } = attempt;
  const added = await staging.stageAdded(base, groups, startingSequenceNumber);
  const filtered = await stageFiltered(attempt, staging);
  const sequenceNumber = base.formatVersion === 1 ? 0n : base.lastSequenceNumber + 1n;
  const place = { snapshotId: names.snapshotId, sequenceNumber };
  const unassigned = assembleList(attempt, added, filtered, place);
  const list = assignRowIds(base, unassigned, [...added, ...filtered.map(({ staged }) => staged)]);
  const manifestList = newManifestListLocation(base, { ...names, attempt: attempt.attempt });
  const snapshot = newSnapshot(attempt, { ...list, manifestList, sequenceNumber }, ports);
  const listBytes = writeManifestList({
    formatVersion: base.formatVersion,
    snapshotId: names.snapshotId,
    parentSnapshotId: attempt.head.snapshotId,
    sequenceNumber,
    ...(list.firstRowId === undefined ? {} : { firstRowId: list.firstRowId }),
    manifests: list.manifests,
  });
  await ports.store.write(manifestList, listBytes);
  const { metadata, metadataLocation } = await writeMetadata(attempt, snapshot, ports);
  const rereadBytes = await ports.store.read(manifestList, listBytes.length);
  const manifests = readManifestList(rereadBytes, manifestList, metadata.formatVersion);
  const proposal: CommitProposal = {
    base,
    baseMetadataLocation: attempt.baseMetadataLocation,
    branch: attempt.branch,
    head: attempt.head,
    headManifests: attempt.headManifests,
    headFacts: attempt.headFacts,
    groups,
    startingSequenceNumber,
    snapshotId: names.snapshotId,
    metadata,
    manifests,
    manifestsIntended: list.manifests,
    outputs: attempt.outputs,
    ...(await rereadStaged({ attempt, added, filtered, manifests, metadata }, ports)),
  };
  return { proposal, metadataLocation };
}

function stageFiltered(
  { base, headManifests, headFacts, groups }: CommitAttempt,
  staging: ManifestStaging,
): Promise<readonly Filtered[]> {
  const removed = new Set(groups.flatMap((group) => group.inputs.map((input) => input.filePath)));
  const sources = headManifests.flatMap((source) => {
    const held = headFacts.inputPathsByManifest.get(source.manifestPath) ?? [];
    const removedPaths = held.filter((path) => removed.has(path));
    return removedPaths.length === 0 ? [] : [{ source, removedPaths }];
  });
  return mapConcurrent(
    packSources(sources, base),
    { concurrencyMax: FILTERS_CONCURRENT },
    async (packed) => ({ sources: packed, staged: await staging.stageFiltered(base, packed) }),
  );
}

/**
 * Manifests that have to be rewritten anyway are rewritten together, next to each other in the list, up to the
 * table's manifest size: streaming writers leave one for each small file.
 */
function packSources(
  sources: readonly FilterSource[],
  { properties }: TableMetadata,
): readonly (readonly FilterSource[])[] {
  if (!tableProperty(properties, 'commit.manifest-merge.enabled')) {
    return sources.map((source) => [source]);
  }
  const bytesMax = tableProperty(properties, 'commit.manifest.target-size-bytes');
  const open = new Map<number, { readonly packed: FilterSource[]; bytes: number }>();
  const all: FilterSource[][] = [];
  for (const each of sources) {
    const { partitionSpecId, manifestLengthBytes } = each.source;
    let bin = open.get(partitionSpecId);
    if (bin === undefined || bin.bytes + manifestLengthBytes > bytesMax) {
      bin = { packed: [], bytes: 0 };
      open.set(partitionSpecId, bin);
      all.push(bin.packed);
    }
    bin.packed.push(each);
    bin.bytes += manifestLengthBytes;
  }
  return all;
}

/** New manifests first, then the head's in their order: those without live files leave, filtered ones swap. */
function assembleList(
  { headManifests }: CommitAttempt,
  added: readonly StagedManifest[],
  filtered: readonly Filtered[],
  place: { readonly snapshotId: bigint; readonly sequenceNumber: bigint },
): readonly ManifestFile[] {
  // The first source of each is replaced by it, the others by nothing.
  const swaps = new Map<string, readonly ManifestFile[]>();
  for (const { sources, staged } of filtered) {
    for (const [index, { source }] of sources.entries()) {
      swaps.set(source.manifestPath, index === 0 ? [listStaged(staged, place)] : []);
    }
  }
  const kept = headManifests.flatMap(
    (manifest) =>
      swaps.get(manifest.manifestPath) ?? (mayHaveLiveFiles(manifest) ? [manifest] : []),
  );
  return [...added.map((staged) => listStaged(staged, place)), ...kept];
}

interface RowIdList {
  readonly manifests: readonly ManifestFile[];
  readonly firstRowId?: bigint;
  readonly addedRows?: bigint;
}

/** v3: ranges for manifests that have none; those written here need only as many ids as rows without one. */
function assignRowIds(
  base: TableMetadata,
  manifests: readonly ManifestFile[],
  staged: readonly StagedManifest[],
): RowIdList {
  if (base.formatVersion < 3) return { manifests };
  const firstRowId = base.nextRowId ?? 0n;
  const unassignedRowsCounts = new Map(
    staged.map(({ manifestPath, written }) => [manifestPath, written.unassignedRowsCount]),
  );
  return { firstRowId, ...assignFirstRowIds(manifests, firstRowId, unassignedRowsCounts) };
}

function newSnapshot(
  attempt: CommitAttempt,
  list: RowIdList & { readonly manifestList: string; readonly sequenceNumber: bigint },
  { clock }: CommitPorts,
): Snapshot {
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
      manifestList: list.manifestList,
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
  { store, random }: CommitPorts,
): Promise<{ readonly metadata: TableMetadata; readonly metadataLocation: string }> {
  const { base, baseMetadataLocation, branch } = attempt;
  const updates: readonly TableUpdate[] = [
    { action: 'add-snapshot', snapshot },
    branchUpdate(base, branch, snapshot.snapshotId),
  ];
  const updated = applyTableUpdates(base, updates, {
    nowMs: snapshot.timestampMs,
    metadataLocationBefore: baseMetadataLocation,
  });
  const metadataLocation = newMetadataLocation(base, baseMetadataLocation, randomUuid(random));
  const bytes = serializeTableMetadata(updated, metadataLocation);
  await store.write(metadataLocation, bytes);
  const reread = await store.read(metadataLocation, bytes.length);
  return { metadata: parseTableMetadata(reread, metadataLocation), metadataLocation };
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
  written: {
    readonly attempt: CommitAttempt;
    readonly added: readonly StagedManifest[];
    readonly filtered: readonly Filtered[];
    readonly manifests: readonly ManifestFile[];
    readonly metadata: TableMetadata;
  },
  ports: CommitPorts,
): Promise<Pick<CommitProposal, 'addedManifests' | 'filteredManifests'>> {
  const { attempt, added, filtered, manifests, metadata } = written;
  const listed = new Map(manifests.map((manifest) => [manifest.manifestPath, manifest]));
  const limit = { concurrencyMax: FILTERS_CONCURRENT };
  // One that the list does not name is missed by the invariants, which know what was meant.
  const addedManifests = await mapConcurrent(added, limit, async ({ manifestPath }) => {
    const manifest = listed.get(manifestPath);
    return manifest && rereadAdded(manifest, metadata, ports.store);
  });
  const filteredManifests = await mapConcurrent(filtered, limit, async (each) => {
    const manifest = listed.get(each.staged.manifestPath);
    const context = { ...ports, metadata, snapshotId: attempt.names.snapshotId };
    return manifest && rereadFiltered(manifest, each.sources, context);
  });
  return {
    addedManifests: addedManifests.filter((reread) => reread !== undefined),
    filteredManifests: filteredManifests.filter((reread) => reread !== undefined),
  };
}
