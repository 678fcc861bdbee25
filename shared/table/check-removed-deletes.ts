import {
  isUnpartitioned,
  type ManifestEntry,
  partitionKey,
  referencedDataFile,
} from '../iceberg/index.ts';
import { deleteKey } from './delete-identity.ts';
import { firstViolation } from './first-violation.ts';
import { type CommitProposal, dataManifests, deleteManifests } from './proposal.ts';
import { SequenceMinima } from './sequence-minima.ts';

/** Judged by what the manifests that were read back remove and add. */
export function removedDeletesViolation(proposal: CommitProposal): string | undefined {
  const { headFacts, groups, filteredManifests } = proposal;
  const removed = deleteManifests(filteredManifests).flatMap((reread) => reread.deletedEntries);
  const removedKeys = new Set(removed.map(deleteKey));
  const gone = new Set(groups.flatMap(({ inputs }) => inputs.map(({ filePath }) => filePath)));
  const left = headFacts.deletes.find(({ entry }) => {
    const path = referencedDataFile(entry);
    return path !== undefined && gone.has(path) && !removedKeys.has(deleteKey(entry));
  });
  if (left !== undefined) {
    return `${left.entry.dataFile.filePath}: stays, and its data file leaves`;
  }
  const live = liveAfter(proposal, gone);
  return firstViolation(removed, (entry) => stillNeeded(entry, live, proposal));
}

/** Data files that are live after the commit, but for those whose deletes it writes anew. */
interface LiveAfter {
  readonly paths: ReadonlySet<string>;
  readonly minima: SequenceMinima;
}

function liveAfter(
  { headFacts, addedManifests, deleteGroups }: CommitProposal,
  gone: ReadonlySet<string>,
): LiveAfter {
  const covered = new Set(
    deleteGroups.flatMap(({ dataFiles }) => dataFiles.map(({ input }) => input.filePath)),
  );
  const paths = new Set<string>();
  const minima = new SequenceMinima();
  if (headFacts.otherMinima !== undefined) minima.addAll(headFacts.otherMinima);
  for (const input of [...headFacts.liveInputs.values()].flat()) {
    const { filePath, specId, partition, dataSequenceNumber } = input;
    if (gone.has(filePath) || covered.has(filePath)) continue;
    paths.add(filePath);
    minima.add(dataSequenceNumber, partitionKey(specId, partition));
  }
  for (const { entries } of dataManifests(addedManifests)) {
    for (const { specId, dataFile, dataSequenceNumber } of entries) {
      paths.add(dataFile.filePath);
      minima.add(dataSequenceNumber, partitionKey(specId, dataFile.partition));
    }
  }
  return { paths, minima };
}

function stillNeeded(
  entry: ManifestEntry,
  { paths, minima }: LiveAfter,
  { headFacts, base }: CommitProposal,
): string | undefined {
  const { dataFile, dataSequenceNumber, specId } = entry;
  const path = referencedDataFile(entry);
  if (path !== undefined) {
    return paths.has(path) ? `${dataFile.filePath}: is removed, and ${path} is live` : undefined;
  }
  if (headFacts.otherMinima === undefined) {
    return `${dataFile.filePath}: is removed, and not all data files were looked at`;
  }
  const isEquality = dataFile.content === 'equality-deletes';
  const spec = base.partitionSpecs.find((each) => each.specId === specId);
  const isGlobal = isEquality && spec !== undefined && isUnpartitioned(spec);
  const least = isGlobal
    ? minima.overall
    : minima.ofPartition(partitionKey(specId, dataFile.partition));
  if (least === undefined || least > dataSequenceNumber) return undefined;
  if (isEquality && least === dataSequenceNumber) return undefined;
  return `${dataFile.filePath}: is removed with sequence number ${dataSequenceNumber}, and applies to a data file of ${least}`;
}
