import {
  isDeletionVector,
  type ManifestEntry,
  partitionKey,
  referencedDataFile,
} from '../iceberg/index.ts';
import { deleteKey } from './delete-identity.ts';
import { firstDuplicate, firstViolation } from './first-violation.ts';
import { type CommitProposal, deleteManifests } from './proposal.ts';
import { contentKey } from './stage.ts';
import type { NewDelete } from './stage-deletes.ts';

export function vectorCountViolation({
  headFacts,
  removedDeletes,
  addedManifests,
}: CommitProposal): string | undefined {
  const removed = new Set(removedDeletes.map(({ entry }) => deleteKey(entry)));
  const kept = headFacts.deletes
    .map(({ entry }) => entry)
    .filter((entry) => !removed.has(deleteKey(entry)));
  const added = deleteManifests(addedManifests).flatMap(({ entries }) => entries);
  const vectors = [...kept, ...added].filter(({ dataFile }) => isDeletionVector(dataFile));
  const twice = firstDuplicate(vectors.map(({ dataFile }) => dataFile.referencedDataFile ?? ''));
  return twice === undefined ? undefined : `${twice}: has two deletion vectors`;
}

export function firstDeleteViolation({
  headFacts,
  addedManifests,
}: CommitProposal): string | undefined {
  const [first] = deleteManifests(addedManifests).flatMap(({ entries }) => entries);
  if (first === undefined || headFacts.liveDeleteCount > 0) return undefined;
  return `${first.dataFile.filePath}: would be the first delete file of its branch`;
}

export function readBackViolation(proposal: CommitProposal): string | undefined {
  const reread = new Map(proposal.rereadDeletes.map(({ key, found }) => [key, found]));
  return firstViolation(proposal.newDeletes, ({ dataFile, deleteFile, positions }) => {
    const { filePath, recordCount } = deleteFile;
    const found = reread.get(contentKey(deleteFile));
    if (found === undefined) return `${filePath}: was not read back`;
    if ('flaw' in found) return `${filePath}: ${found.flaw}`;
    const { cardinality } = found.positions;
    if (cardinality !== recordCount) {
      return `${filePath}: ${cardinality} positions in the store, ${recordCount} in its entry`;
    }
    if (!found.positions.slice(dataFile.recordCount, Number.POSITIVE_INFINITY).isEmpty) {
      return `${filePath}: deletes rows beyond the ${dataFile.recordCount} of ${dataFile.filePath}`;
    }
    return cardinality === positions.cardinality && found.positions.isSupersetOf(positions)
      ? undefined
      : `${filePath}: holds ${cardinality} positions, ${positions.cardinality} were meant, or others`;
  });
}

export function deleteFormatViolation(proposal: CommitProposal): string | undefined {
  const { base, newDeletes, addedManifests } = proposal;
  const meant = new Map(newDeletes.map((each) => [contentKey(each.deleteFile), each]));
  const entries = deleteManifests(addedManifests).flatMap((reread) => reread.entries);
  if (entries.length !== meant.size) {
    return `${entries.length} delete files are added, ${meant.size} were meant to be`;
  }
  return firstViolation(entries, (entry) => {
    const { filePath, fileFormat } = entry.dataFile;
    const each = meant.get(contentKey(entry.dataFile));
    if (each === undefined) return `${filePath}: was not meant to be added`;
    const isVector = isDeletionVector(entry.dataFile);
    if (base.formatVersion < 2 || isVector !== base.formatVersion >= 3) {
      return `${filePath}: a ${fileFormat} delete file in a table of v${base.formatVersion}`;
    }
    return entryViolation(entry, each);
  });
}

function entryViolation(entry: ManifestEntry, meant: NewDelete): string | undefined {
  const { filePath, content, partition, recordCount, ...file } = entry.dataFile;
  const { dataFile, deleteFile } = meant;
  if (content !== 'position-deletes') return `${filePath}: is a file of ${content}`;
  if (referencedDataFile(entry) !== dataFile.filePath) {
    return `${filePath}: belongs to ${referencedDataFile(entry)}, expected ${dataFile.filePath}`;
  }
  if (partitionKey(entry.specId, partition) !== partitionKey(meant.specId, dataFile.partition)) {
    return `${filePath}: its spec or partition is not that of ${dataFile.filePath}`;
  }
  const isSame =
    recordCount === deleteFile.recordCount &&
    file.fileSizeBytes === deleteFile.fileSizeBytes &&
    file.contentSizeBytes === deleteFile.contentSizeBytes;
  return isSame ? undefined : `${filePath}: its entry is not as it was meant`;
}
