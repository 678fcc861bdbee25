import { type ManifestFile, snapshotById } from '../iceberg/index.ts';
import { plannedDataFiles } from './commit-request.ts';
import { firstViolation } from './first-violation.ts';
import { type CommitProposal, dataManifests, deleteManifests } from './proposal.ts';
import { contentKey } from './stage.ts';

export function sequenceViolation(proposal: CommitProposal): string | undefined {
  const { base, metadata, head, startingSequenceNumber: starting } = proposal;
  const snapshot = snapshotById(proposal.metadata, proposal.snapshotId);
  if (snapshot === undefined) return `snapshot ${proposal.snapshotId} is not in the metadata`;
  const isNumbered = metadata.formatVersion > 1;
  const sequenceNumber = isNumbered ? base.lastSequenceNumber + 1n : 0n;
  if (
    snapshot.sequenceNumber !== sequenceNumber ||
    metadata.lastSequenceNumber !== sequenceNumber
  ) {
    return `snapshot has ${snapshot.sequenceNumber}, the metadata ${metadata.lastSequenceNumber}, expected ${sequenceNumber}`;
  }
  if (starting > head.sequenceNumber) {
    return `starting sequence number ${starting} lies above the head's ${head.sequenceNumber}`;
  }
  const inInputs = firstViolation(proposal.groups, (group) =>
    firstViolation(group.inputs, (input) =>
      input.dataSequenceNumber > starting
        ? `${input.filePath}: data sequence number ${input.dataSequenceNumber} lies above the starting one ${starting}`
        : undefined,
    ),
  );
  if (inInputs !== undefined) return inInputs;
  const inManifests = firstViolation(proposal.addedManifests, ({ manifest }) =>
    manifest.sequenceNumber === sequenceNumber
      ? undefined
      : `${manifest.manifestPath}: sequence number ${manifest.sequenceNumber}, expected ${sequenceNumber}`,
  );
  if (inManifests !== undefined) return inManifests;
  const inDeletes = deleteSequenceViolation(proposal, sequenceNumber);
  if (inDeletes !== undefined) return inDeletes;
  return firstViolation(dataManifests(proposal.addedManifests), ({ manifest, entries }) => {
    const minExpected = isNumbered ? starting : 0n;
    if (manifest.minSequenceNumber !== minExpected) {
      return `${manifest.manifestPath}: min sequence number ${manifest.minSequenceNumber}, expected ${minExpected}`;
    }
    return firstViolation(entries, (entry) =>
      entry.dataSequenceNumber === minExpected && entry.fileSequenceNumber === sequenceNumber
        ? undefined
        : `${entry.dataFile.filePath}: data sequence number ${entry.dataSequenceNumber} and file sequence number ${entry.fileSequenceNumber}, expected ${minExpected} and ${sequenceNumber}`,
    );
  });
}

/** Inherited from the commit, or what the caller has chosen; never below that of the data file, which it must reach. */
function deleteSequenceViolation(
  { newDeletes, groups, startingSequenceNumber, ...proposal }: CommitProposal,
  sequenceNumber: bigint,
): string | undefined {
  const meant = new Map(newDeletes.map((each) => [contentKey(each.deleteFile), each]));
  const inputs = new Map(
    plannedDataFiles({ groups, deleteGroups: proposal.deleteGroups }).map((input) => [
      input.filePath,
      input.dataSequenceNumber,
    ]),
  );
  const entries = deleteManifests(proposal.addedManifests).flatMap((reread) => reread.entries);
  return firstViolation(entries, ({ dataFile, dataSequenceNumber, fileSequenceNumber }) => {
    const each = meant.get(contentKey(dataFile));
    const expected = each?.dataSequenceNumber ?? sequenceNumber;
    const least = inputs.get(each?.dataFile.filePath ?? '') ?? startingSequenceNumber;
    if (dataSequenceNumber < least || dataSequenceNumber > sequenceNumber) {
      return `${dataFile.filePath}: data sequence number ${dataSequenceNumber} is not within ${least} and ${sequenceNumber}`;
    }
    return dataSequenceNumber === expected && fileSequenceNumber === sequenceNumber
      ? undefined
      : `${dataFile.filePath}: data sequence number ${dataSequenceNumber} and file sequence number ${fileSequenceNumber}, expected ${expected} and ${sequenceNumber}`;
  });
}

export function rowIdViolation(proposal: CommitProposal): string | undefined {
  const { base, metadata, manifests, headManifests } = proposal;
  if (metadata.formatVersion < 3) return undefined;
  const snapshot = snapshotById(proposal.metadata, proposal.snapshotId);
  const start = base.nextRowId ?? 0n;
  if (snapshot?.firstRowId !== start) {
    return `the snapshot's first row id is ${snapshot?.firstRowId ?? 'absent'}, expected ${start}`;
  }
  const end = start + (snapshot.addedRows ?? 0n);
  if (snapshot.addedRows === undefined || metadata.nextRowId !== end) {
    return `next row id is ${metadata.nextRowId ?? 'absent'}, expected ${end}`;
  }
  const assigned = new Map(headManifests.map((manifest) => [manifest.manifestPath, manifest]));
  const unassignedRows = new Map(
    [...proposal.addedManifests, ...proposal.filteredManifests].map((reread) => [
      reread.manifest.manifestPath,
      BigInt(reread.unassignedRowsCount),
    ]),
  );
  let next = start;
  const inList = firstViolation(manifests, (manifest) => {
    if (manifest.content === 'deletes') {
      return manifest.firstRowId === undefined
        ? undefined
        : `${manifest.manifestPath}: a delete manifest with row ids`;
    }
    const before = assigned.get(manifest.manifestPath)?.firstRowId;
    if (before !== undefined) {
      return manifest.firstRowId === before
        ? undefined
        : `${manifest.manifestPath}: first row id ${manifest.firstRowId} was ${before}`;
    }
    if (manifest.firstRowId === undefined || manifest.firstRowId < next) {
      return `${manifest.manifestPath}: first row id ${manifest.firstRowId ?? 'absent'}, expected at least ${next}`;
    }
    next = manifest.firstRowId + (unassignedRows.get(manifest.manifestPath) ?? liveRows(manifest));
    return undefined;
  });
  if (inList !== undefined) return inList;
  return next <= end ? undefined : `row ids up to ${next} are used, ${end} are accounted for`;
}

function liveRows(manifest: ManifestFile): bigint {
  return BigInt((manifest.addedRowsCount ?? 0) + (manifest.existingRowsCount ?? 0));
}
