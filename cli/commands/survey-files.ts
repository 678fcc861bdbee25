import type { JsonObject } from '../../shared/base/index.ts';
import { formatBytes, formatCount, formatSizeHistogram } from '../../shared/display/index.ts';
import {
  partitionPath,
  snapshotOfRef,
  specById,
  type TableMetadata,
  tablePartitionType,
} from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import {
  createManifestReader,
  type ScannedDataFile,
  scanSnapshot,
} from '../../shared/table/index.ts';

import { indentedTable } from './indented-table.ts';

/** Files of one partition of one spec. */
interface PartitionFiles {
  readonly partition: string;
  readonly specId: number;
  fileCount: number;
  bytes: number;
  recordCount: number;
  withDeletesCount: number;
}

/** What the current snapshot's files look like. */
export interface FileSurvey {
  readonly fileSizesBytes: readonly number[];
  /** Most files first. */
  readonly partitions: readonly PartitionFiles[];
}

const PARTITIONS_SHOWN_MAX = 15;
const PROGRESS_EVERY_FILES = 5_000;

/** Reads every manifest of the current snapshot. */
export async function surveyFiles(
  metadata: TableMetadata,
  store: ObjectStore,
  onProgress: (text: string) => void,
): Promise<FileSurvey> {
  const snapshot = snapshotOfRef(metadata);
  if (snapshot === undefined) return { fileSizesBytes: [], partitions: [] };
  const fileSizesBytes: number[] = [];
  const partitions = new Map<string, PartitionFiles>();
  await scanSnapshot({
    metadata,
    snapshot,
    reader: createManifestReader(store),
    skipsMetrics: true,
    visit: (file) => {
      const { fileSizeBytes } = file.entry.dataFile;
      fileSizesBytes.push(fileSizeBytes);
      countFile(metadata, file, partitions);
      if (fileSizesBytes.length % PROGRESS_EVERY_FILES === 0) {
        onProgress(`read ${formatCount(fileSizesBytes.length, 'file entry', 'file entries')}`);
      }
    },
  });
  const sorted = [...partitions.values()].sort(
    (one, other) => other.fileCount - one.fileCount || (one.partition < other.partition ? -1 : 1),
  );
  return { fileSizesBytes, partitions: sorted };
}

function countFile(
  metadata: TableMetadata,
  { entry, deletes }: ScannedDataFile,
  partitions: Map<string, PartitionFiles>,
): void {
  const { specId, dataFile } = entry;
  const spec = specById(metadata, specId);
  const partition = partitionPath(spec, tablePartitionType(metadata, spec), dataFile.partition);
  const key = `${specId} ${partition}`;
  const counted = partitions.get(key) ?? {
    partition,
    specId,
    fileCount: 0,
    bytes: 0,
    recordCount: 0,
    withDeletesCount: 0,
  };
  counted.fileCount++;
  counted.bytes += dataFile.fileSizeBytes;
  counted.recordCount += dataFile.recordCount;
  const deleteCount =
    deletes.deletionVectors.length +
    deletes.fileScopedPositionDeleteFiles.length +
    deletes.partitionScopedPositionDeleteFiles.length +
    deletes.equalityDeleteFiles.length;
  if (deleteCount > 0) counted.withDeletesCount++;
  partitions.set(key, counted);
}

/** The survey for people: totals, a histogram of sizes, the partitions with most files. */
export function describeFiles(
  { fileSizesBytes, partitions }: FileSurvey,
  widthMax: number | undefined,
): string[] {
  if (fileSizesBytes.length === 0) return ['data files: none'];
  const bytes = fileSizesBytes.reduce((sum, size) => sum + size, 0);
  const records = partitions.reduce((sum, partition) => sum + partition.recordCount, 0);
  const shown = partitions.slice(0, PARTITIONS_SHOWN_MAX);
  const rows = shown.map((each) => [
    each.partition === '' ? '(unpartitioned)' : each.partition,
    String(each.specId),
    String(each.fileCount),
    formatBytes(each.bytes),
    each.recordCount.toLocaleString('en-US'),
    String(each.withDeletesCount),
  ]);
  const hiddenCount = partitions.length - shown.length;
  return [
    `data files: ${fileSizesBytes.length.toLocaleString('en-US')}, ${formatBytes(bytes)}, ${formatCount(records, 'record')}`,
    ...formatSizeHistogram(fileSizesBytes).map((line) => `  ${line}`),
    ...indentedTable(
      [['partition', 'spec', 'files', 'bytes', 'records', 'with deletes'], ...rows],
      { widthMax },
    ),
    ...(hiddenCount > 0
      ? [`  and ${formatCount(hiddenCount, 'partition')} more (all with --json)`]
      : []),
  ];
}

/** The survey for programs. */
export function filesToJson({ fileSizesBytes, partitions }: FileSurvey): JsonObject {
  return {
    fileCount: fileSizesBytes.length,
    bytes: fileSizesBytes.reduce((sum, size) => sum + size, 0),
    partitions: partitions.map((partition) => ({ ...partition })),
  };
}
