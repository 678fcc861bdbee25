import { type ManifestFile, snapshotById } from '../iceberg/index.ts';
import { firstViolation } from './first-violation.ts';
import type { CommitProposal } from './proposal.ts';

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
  return firstViolation(proposal.addedManifests, ({ manifest, entries }) => {
    if (manifest.sequenceNumber !== sequenceNumber) {
      return `${manifest.manifestPath}: sequence number ${manifest.sequenceNumber}, expected ${sequenceNumber}`;
    }
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
