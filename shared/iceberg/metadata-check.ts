import { invalidJson, requireUniqueIds } from './json-fields.ts';
import type { Snapshot, TableMetadata } from './metadata-types.ts';
import { MAIN_BRANCH } from './snapshot.ts';

const SUBJECT = 'table metadata';

/** Clocks of committers may differ by this much; Iceberg Java uses the same tolerance. */
export const CLOCK_SKEW_TOLERANCE_MS = 60_000;

/**
 * Checks what the parts of table metadata say about each other: snapshots, references, logs, sequence
 * numbers, row ids. A commit relies on each of these, and Iceberg Java would refuse to load most breaches.
 *
 * @throws invalid-data — when one does not hold
 */
export function checkTableMetadata(metadata: TableMetadata): void {
  const snapshots = requireUniqueIds(
    metadata.snapshots,
    (snapshot) => snapshot.snapshotId,
    `${SUBJECT} snapshots`,
  );
  checkCurrentSnapshot(metadata, snapshots);
  checkRefs(metadata, snapshots);
  for (const snapshot of metadata.snapshots) checkSnapshot(snapshot, metadata);
  checkLog('snapshot-log', metadata.snapshotLog, metadata.lastUpdatedMs);
  checkLog('metadata-log', metadata.metadataLog, metadata.lastUpdatedMs);
}

function checkCurrentSnapshot(
  { currentSnapshotId, refs }: TableMetadata,
  snapshots: ReadonlyMap<bigint, Snapshot>,
): void {
  const main = refs.get(MAIN_BRANCH);
  if (currentSnapshotId !== undefined && !snapshots.has(currentSnapshotId)) {
    throw invalidJson(SUBJECT, `current-snapshot-id ${currentSnapshotId} is not in snapshots`);
  }
  if (main !== undefined && main.type !== 'branch') {
    throw invalidJson(SUBJECT, 'ref main is a tag');
  }
  if (main?.snapshotId !== currentSnapshotId) {
    throw invalidJson(
      SUBJECT,
      `ref main points to ${main?.snapshotId}, current-snapshot-id is ${currentSnapshotId ?? 'absent'}`,
    );
  }
}

function checkRefs({ refs }: TableMetadata, snapshots: ReadonlyMap<bigint, Snapshot>): void {
  for (const [name, ref] of refs) {
    if (!snapshots.has(ref.snapshotId)) {
      throw invalidJson(
        SUBJECT,
        `ref ${name.slice(0, 100)} points to snapshot ${ref.snapshotId}, which is not in snapshots`,
      );
    }
  }
}

function checkSnapshot(snapshot: Snapshot, metadata: TableMetadata): void {
  const { lastSequenceNumber, nextRowId } = metadata;
  const subject = `snapshot ${snapshot.snapshotId}`;
  if (snapshot.sequenceNumber > lastSequenceNumber) {
    throw invalidJson(
      subject,
      `sequence-number ${snapshot.sequenceNumber} exceeds last-sequence-number ${lastSequenceNumber}`,
    );
  }
  if (snapshot.firstRowId === undefined || nextRowId === undefined) return;
  const endRowId = snapshot.firstRowId + (snapshot.addedRows ?? 0n);
  if (endRowId > nextRowId) {
    throw invalidJson(subject, `its row ids end at ${endRowId}, beyond next-row-id ${nextRowId}`);
  }
}

/** Log entries ascend, and none is later than the last update, within the tolerance for clock skew. */
function checkLog(
  name: string,
  entries: readonly { readonly timestampMs: number }[],
  lastUpdatedMs: number,
): void {
  let previousMs: number | undefined;
  for (const timestampMs of [...entries.map((entry) => entry.timestampMs), lastUpdatedMs]) {
    if (previousMs !== undefined && timestampMs < previousMs - CLOCK_SKEW_TOLERANCE_MS) {
      throw invalidJson(
        SUBJECT,
        `${name}: timestamp ${timestampMs} follows ${previousMs}, more than ${CLOCK_SKEW_TOLERANCE_MS} ms later`,
      );
    }
    previousMs = timestampMs;
  }
}
