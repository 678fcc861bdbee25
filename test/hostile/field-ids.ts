import { fieldName } from '../support/slow-avro.ts';

/** Names of the spec for the fields that are corrupted here. @see Iceberg spec, "Manifest Lists", "Manifests" */
export const LIST_FIELDS = {
  manifestPath: fieldName(500),
  manifestLength: fieldName(501),
  partitionSpecId: fieldName(502),
  addedSnapshotId: fieldName(503),
  addedFilesCount: fieldName(504),
  existingFilesCount: fieldName(505),
  deletedFilesCount: fieldName(506),
  partitions: fieldName(507),
  addedRowsCount: fieldName(512),
  existingRowsCount: fieldName(513),
  deletedRowsCount: fieldName(514),
  sequenceNumber: fieldName(515),
  minSequenceNumber: fieldName(516),
  content: fieldName(517),
  keyMetadata: fieldName(519),
  firstRowId: fieldName(520),
} as const;

export const ENTRY_FIELDS = {
  status: fieldName(0),
  snapshotId: fieldName(1),
  dataFile: fieldName(2),
  sequenceNumber: fieldName(3),
  fileSequenceNumber: fieldName(4),
} as const;

export const FILE_FIELDS = {
  content: fieldName(134),
  filePath: fieldName(100),
  fileFormat: fieldName(101),
  recordCount: fieldName(103),
  fileSizeBytes: fieldName(104),
  columnSizes: fieldName(108),
  valueCounts: fieldName(109),
  nullValueCounts: fieldName(110),
  lowerBounds: fieldName(125),
  upperBounds: fieldName(128),
  keyMetadata: fieldName(131),
  splitOffsets: fieldName(132),
  equalityIds: fieldName(135),
  sortOrderId: fieldName(140),
  firstRowId: fieldName(142),
  contentOffset: fieldName(144),
  contentSizeBytes: fieldName(145),
} as const;
