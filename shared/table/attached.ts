import {
  type AttachedDeletes,
  createDeleteIndex,
  type DataFile,
  type ManifestEntry,
  type PartitionSpec,
} from '../iceberg/index.ts';
import type { HeadFacts } from './head.ts';
import type { ReplaceInput } from './replace-group.ts';

/**
 * The delete files that apply to planned data files at head.
 *
 * @throws invalid-data — when a deletion vector belongs to no data file; from what is returned also when one is older
 *   than the data file
 */
export function attachedAtHead(
  { deletes }: HeadFacts,
  specs: readonly PartitionSpec[],
): (input: ReplaceInput) => AttachedDeletes {
  if (deletes.length === 0) return () => NO_DELETES;
  const index = createDeleteIndex(specs);
  for (const { entry } of deletes) index.add(entry);
  return (input) => index.attachedTo(plannedEntry(input));
}

const NO_DELETES: AttachedDeletes = {
  deletionVectors: [],
  fileScopedPositionDeleteFiles: [],
  partitionScopedPositionDeleteFiles: [],
  equalityDeleteFiles: [],
};

/** The live entry of a planned data file, as far as it is known. */
export function plannedEntry(input: ReplaceInput): ManifestEntry {
  const { specId, dataSequenceNumber } = input;
  const dataFile = plannedDataFile(input);
  return {
    status: 'existing',
    snapshotId: 0n,
    dataSequenceNumber,
    specId,
    dataFile,
    unknownFields: [],
  };
}

export function plannedDataFile(input: ReplaceInput): DataFile {
  const { filePath, partition, recordCount, fileSizeBytes } = input;
  return {
    content: 'data',
    filePath,
    fileFormat: 'PARQUET',
    partition,
    recordCount,
    fileSizeBytes,
    unknownFields: [],
  };
}
