import { unreadableReason } from '../../deletes/index.ts';
import type { FileAgeRule } from '../../guards/index.ts';
import type {
  AttachedDeletes,
  ManifestEntry,
  Snapshot,
  TableMetadata,
} from '../../iceberg/index.ts';
import { type ManifestReader, type ScannedDataFile, scanSnapshot } from '../../table/index.ts';
import type { DuePartitions } from './due-partitions.ts';
import { fileDeletesOf } from './file-deletes.ts';
import type { TallyBook } from './manifest-tally.ts';
import type { PartitionFacts, PartitionFactsOf } from './partition-facts.ts';
import type { PlanBuilder } from './plan.ts';
import type { DeletesFlaw, ScannedFile } from './select.ts';

/** Data files, their bytes and row groups, and deleted rows of a table; row groups are a lower bound where entries do not tell them. */
export interface TableCounts {
  readonly fileCount: number;
  readonly bytes: number;
  readonly rowGroupCount: number;
  /** Rows of its delete files: of each kind, and whether or not a data file has them still. */
  readonly deleteRowCount: number;
}

/** Shows every live data file of a snapshot, or of its due partitions, to the planner, and counts them. */
export async function scanCandidates(
  builder: PlanBuilder,
  {
    metadata,
    snapshot,
    reader,
    fileAge,
    partitionFacts,
    book,
    due,
  }: {
    readonly metadata: TableMetadata;
    readonly snapshot: Snapshot;
    readonly reader: ManifestReader;
    readonly fileAge: FileAgeRule;
    readonly partitionFacts: PartitionFactsOf;
    /** Is told of every live file, data or deletes. */
    readonly book?: TallyBook;
    readonly due?: Pick<DuePartitions, 'partitions' | 'manifestPaths'>;
  },
): Promise<TableCounts> {
  const flaws = createDeletesFlaws(metadata);
  const counts = { fileCount: 0, bytes: 0, rowGroupCount: 0, deleteRowCount: 0 };
  await scanSnapshot({
    metadata,
    snapshot,
    reader,
    skipsMetrics: true,
    ...(due === undefined ? {} : { isWanted: (each) => due.manifestPaths.has(each.manifestPath) }),
    visitDeletes: (entry, manifest) => {
      counts.deleteRowCount += entry.dataFile.recordCount;
      flaws.add(entry);
      book?.add(entry, manifest, partitionFacts.of(entry).hash);
    },
    visit: (scanned) => {
      const { entry, manifest } = scanned;
      const { file, hash } = partitionFacts.of(entry);
      book?.add(entry, manifest, hash);
      if (due !== undefined && !due.partitions.has(hash)) return;
      const { fileSizeBytes, splitOffsets } = entry.dataFile;
      counts.fileCount++;
      counts.bytes += fileSizeBytes;
      counts.rowGroupCount += splitOffsets?.length ?? 1;
      const deletesFlaw = flaws.of(scanned.deletes);
      builder.add({
        ...toScannedFile(scanned, file, fileAge),
        ...(deletesFlaw === undefined ? {} : { deletesFlaw }),
      });
    },
  });
  return counts;
}

const FLAWS = {
  'unsupported-format': 'unsupported-delete-format',
  'unsupported-column': 'unsupported-delete-column',
  encrypted: 'encrypted-deletes',
} as const;

/** Remembers delete files that cannot be read, of which there are few. */
function createDeletesFlaws(metadata: TableMetadata): {
  add(deletes: ManifestEntry): void;
  of(attached: AttachedDeletes): DeletesFlaw | undefined;
} {
  const flaws = new Map<ManifestEntry, DeletesFlaw>();
  return {
    add(entry) {
      const reason = unreadableReason(entry, metadata);
      if (reason !== undefined) flaws.set(entry, FLAWS[reason]);
    },
    of(attached) {
      if (attached.deletionVectors.length > 1) return 'two-vectors';
      if (flaws.size === 0) return undefined;
      const flawed = Object.values(attached)
        .flat()
        .find((entry) => flaws.has(entry));
      return flawed && flaws.get(flawed);
    },
  };
}

function toScannedFile(
  { entry, manifest, deletes }: ScannedDataFile,
  partition: PartitionFacts['file'],
  fileAge: FileAgeRule,
): ScannedFile {
  const { dataFile } = entry;
  const dueAtMs = fileAge.dueAtMs(entry.snapshotId);
  const fileDeletes = fileDeletesOf(deletes);
  return {
    ...partition,
    filePath: dataFile.filePath,
    manifestPath: manifest.manifestPath,
    isParquet: dataFile.fileFormat.toUpperCase() === 'PARQUET',
    isEncrypted: dataFile.keyMetadata !== undefined,
    fileSizeBytes: dataFile.fileSizeBytes,
    recordCount: dataFile.recordCount,
    specId: entry.specId,
    dataSequenceNumber: entry.dataSequenceNumber,
    ...(entry.fileSequenceNumber === undefined
      ? {}
      : { fileSequenceNumber: entry.fileSequenceNumber }),
    ...(dataFile.firstRowId === undefined ? {} : { firstRowId: dataFile.firstRowId }),
    ...(dataFile.splitOffsets === undefined ? {} : { splitOffsets: dataFile.splitOffsets }),
    ...(fileDeletes === undefined ? {} : { deletes: fileDeletes }),
    ...(dueAtMs === undefined ? {} : { dueAtMs }),
  };
}
