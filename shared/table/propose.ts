import { mapConcurrent } from '../base/index.ts';
import {
  applyTableUpdates,
  createSnapshot,
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
import { plannedDataFile } from './attached.ts';
import type { CommitPorts } from './commit-ports.ts';
import type { Decision } from './decide.ts';
import type { CommitProposal, RereadOutput } from './proposal.ts';
import { outputFiles } from './replace-group.ts';
import { rereadAdded, rereadFiltered } from './reread.ts';
import type { CommitNames, StagedManifest } from './stage.ts';
import type { NewDelete } from './stage-deletes.ts';
import type { Staging } from './staging.ts';
import { together } from './together.ts';

/** Manifests read back at a time; the entries of filtered ones are compared one by one. */
const REREADS_CONCURRENT = 4;

/** One attempt: the head it builds on, and what stands on it. */
export interface CommitAttempt extends HeadToChange, Decision {
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
  /** Delete files that the commit adds. */
  readonly newDeletes: readonly NewDelete[];
}

/** A proposal with the objects that it makes part of the table. */
export interface WrittenProposal {
  readonly proposal: CommitProposal;
  readonly locations: readonly string[];
}

/**
 * Writes what an attempt needs and reads all of it back. New for each attempt are the manifest list and the
 * metadata file; manifests and delete files are written once, unless deletes came since. Manifests that need not change
 * are not merged, which would only make other writers lose.
 *
 * @throws invalid-data — when something read back is corrupt
 * @see Iceberg spec, "Snapshots"; Iceberg Java, `SnapshotProducer.apply`
 */
export async function writeProposal(
  attempt: CommitAttempt,
  staging: Staging,
  ports: CommitPorts,
): Promise<WrittenProposal> {
  const list = await buildList(attempt, staging);
  const snapshot = newSnapshot(attempt, list, ports);
  const updated = updateMetadata(attempt, snapshot);
  // At once, since others commit meanwhile: what is written depends on nothing that is read back.
  const [manifests, metadata, staged] = await together([
    writeBack(attempt.manifestList, list.bytes, ports, (bytes, location) =>
      readManifestList(bytes, location, updated.formatVersion),
    ),
    writeBack(
      attempt.metadataLocation,
      serializeTableMetadata(updated, attempt.metadataLocation),
      ports,
      parseTableMetadata,
    ),
    writeStaged(attempt, list, { ...ports, staging }),
  ]);
  const { dropped: _, outputDeletes: __, names, ...decided } = attempt;
  const proposal: CommitProposal = {
    ...decided,
    snapshotId: names.snapshotId,
    metadata,
    manifests,
    manifestsIntended: list.manifests,
    ...staged,
  };
  const locations = [
    attempt.metadataLocation,
    attempt.manifestList,
    ...list.added.map(({ manifestPath }) => manifestPath),
    ...list.filtered.map((filtered) => filtered.staged.manifestPath),
    ...outputFiles(attempt.groups).map(({ filePath }) => filePath),
    ...attempt.newDeletes.map(({ deleteFile }) => deleteFile.filePath),
  ];
  return { proposal, locations };
}

/** A manifest list, not yet in the store, with the manifests that were written for it. */
interface BuiltList extends RowIdList {
  readonly bytes: Uint8Array;
  /** Of the snapshot. */
  readonly sequenceNumber: bigint;
  readonly added: readonly StagedManifest[];
  readonly filtered: readonly Filtered[];
}

async function buildList(attempt: CommitAttempt, { manifests }: Staging): Promise<BuiltList> {
  const { base, head, names, groups, startingSequenceNumber } = attempt;
  const added = [
    ...manifests.stageAdded(base, groups, startingSequenceNumber),
    ...manifests.stageAddedDeletes(base, attempt.newDeletes),
  ];
  const filtered = await stageFiltered(attempt, manifests);
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
  return { ...list, bytes, sequenceNumber, added, filtered };
}

function newSnapshot(attempt: CommitAttempt, list: BuiltList, { clock }: CommitPorts): Snapshot {
  const { base, head, names } = attempt;
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
        addedFiles: addedFiles(attempt),
        removedFiles: removedFiles(attempt),
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

function addedFiles({ groups, newDeletes }: CommitAttempt): readonly FileOfSpec[] {
  return [
    ...groups.flatMap(({ inputs, outputs }) =>
      outputs.map(({ dataFile }) => ({ specId: inputs[0]!.specId, dataFile })),
    ),
    ...newDeletes.map(({ specId, deleteFile }) => ({ specId, dataFile: deleteFile })),
  ];
}

function removedFiles({ groups, removedDeletes }: CommitAttempt): readonly FileOfSpec[] {
  return [
    ...groups.flatMap(({ inputs }) =>
      inputs.map((input) => ({ specId: input.specId, dataFile: plannedDataFile(input) })),
    ),
    ...removedDeletes.map(({ entry }) => entry),
  ];
}

function updateMetadata(attempt: CommitAttempt, snapshot: Snapshot): TableMetadata {
  const { base, baseMetadataLocation, branch } = attempt;
  const updates: readonly TableUpdate[] = [
    { action: 'add-snapshot', snapshot },
    branchUpdate(base, branch, snapshot.snapshotId),
  ];
  return applyTableUpdates(base, updates, {
    nowMs: snapshot.timestampMs,
    metadataLocationBefore: baseMetadataLocation,
  });
}

/** Writes an object and parses what the store has of it then. */
async function writeBack<Value>(
  location: string,
  bytes: Uint8Array,
  { store }: CommitPorts,
  parse: (bytes: Uint8Array, location: string) => Value,
): Promise<Value> {
  await store.write(location, bytes);
  return parse(await store.read(location, bytes.length), location);
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

/**
 * Writes what is not written yet, and reads back all that the commit adds. By the list as it is meant: that the one in
 * the store is the same is a claim of its own (I10).
 */
async function writeStaged(
  { names, base, newDeletes }: CommitAttempt,
  { manifests, added, filtered }: BuiltList,
  ports: CommitPorts & { readonly staging: Staging },
): Promise<Pick<CommitProposal, 'addedManifests' | 'filteredManifests' | 'rereadDeletes'>> {
  await ports.staging.batch.write();
  const listed = new Map(manifests.map((manifest) => [manifest.manifestPath, manifest]));
  const limit = { concurrencyMax: REREADS_CONCURRENT };
  // One that the list does not name is missed by the invariants, which know what was meant.
  const [addedManifests, filteredManifests, rereadDeletes] = await together([
    mapConcurrent(added, limit, async ({ manifestPath }) => {
      const manifest = listed.get(manifestPath);
      return manifest && rereadAdded(manifest, base, ports.store);
    }),
    mapConcurrent(filtered, limit, async ({ staged, sources }) => {
      const manifest = listed.get(staged.manifestPath);
      const context = { ...ports, metadata: base, snapshotId: names.snapshotId };
      return manifest && rereadFiltered(manifest, sources, context);
    }),
    ports.staging.rereader.reread(newDeletes),
  ]);
  return {
    addedManifests: addedManifests.filter((reread) => reread !== undefined),
    filteredManifests: filteredManifests.filter((reread) => reread !== undefined),
    rereadDeletes,
  };
}
