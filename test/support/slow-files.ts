import type { ObjectStore } from '../../shared/storage/index.ts';
import { type AvroRecord, fieldName } from './slow-avro.ts';
import type { SlowPartitionField } from './slow-metadata.ts';
import { slowParser } from './slow-parser.ts';

export { OBJECT_BYTES_MAX } from './slow-parser.ts';

/** A live data or delete file, with everything inherited from its manifest. */
export interface SlowFile {
  readonly content: number;
  readonly filePath: string;
  readonly fileFormat: string;
  readonly fileSizeBytes: number;
  readonly recordCount: number;
  readonly specId: number;
  /** Equal for two files of one spec if and only if their partitions are. */
  readonly partitionText: string;
  /** Fields under the names that `fieldName` gives. */
  readonly partition: AvroRecord;
  readonly dataSequenceNumber: bigint;
  readonly firstRowId: bigint | null;
  readonly equalityIds: readonly number[];
  readonly referencedDataFile: string | null;
  readonly contentOffset: number | null;
  readonly contentSizeBytes: number | null;
}

/** @see Iceberg spec, "Manifests", "Manifest Lists": field ids */
export const MANIFEST_FILE = {
  manifestPath: fieldName(500),
  partitionSpecId: fieldName(502),
  sequenceNumber: fieldName(515),
  firstRowId: fieldName(520),
};
export const MANIFEST_ENTRY = {
  status: fieldName(0),
  dataFile: fieldName(2),
  sequenceNumber: fieldName(3),
};
export const DATA_FILE = {
  content: fieldName(134),
  filePath: fieldName(100),
  fileFormat: fieldName(101),
  partition: fieldName(102),
  recordCount: fieldName(103),
  fileSizeBytes: fieldName(104),
  equalityIds: fieldName(135),
  firstRowId: fieldName(142),
  referencedDataFile: fieldName(143),
  contentOffset: fieldName(144),
  contentSizeBytes: fieldName(145),
};

const STATUS_DELETED = 2;

/** Every live file of a manifest list, whatever the list says of its manifests. */
export async function listFilesSlowly(
  store: ObjectStore,
  manifestListLocation: string,
  parser = slowParser(store),
): Promise<SlowFile[]> {
  const list = await parser.avro(manifestListLocation);
  const files: SlowFile[] = [];
  for (const manifest of list.records) {
    const manifestPath = String(manifest[MANIFEST_FILE.manifestPath]);
    files.push(...liveFiles(manifest, (await parser.avro(manifestPath)).records));
  }
  return files;
}

function liveFiles(manifest: AvroRecord, entries: readonly AvroRecord[]): SlowFile[] {
  const manifestRowId = bigintOrNull(manifest[MANIFEST_FILE.firstRowId]);
  const live = entries.filter((entry) => entry[MANIFEST_ENTRY.status] !== STATUS_DELETED);
  let nextRowId = manifestRowId ?? 0n;
  return live.map((entry) => {
    const file = entry[MANIFEST_ENTRY.dataFile] as AvroRecord;
    const partition = file[DATA_FILE.partition] as AvroRecord;
    let firstRowId = manifestRowId === null ? null : bigintOrNull(file[DATA_FILE.firstRowId]);
    if (manifestRowId !== null && firstRowId === null) {
      firstRowId = nextRowId;
      nextRowId += file[DATA_FILE.recordCount] as bigint;
    }
    return {
      content: Number(file[DATA_FILE.content] ?? 0),
      filePath: String(file[DATA_FILE.filePath]),
      fileFormat: String(file[DATA_FILE.fileFormat]).toUpperCase(),
      fileSizeBytes: Number(file[DATA_FILE.fileSizeBytes]),
      recordCount: Number(file[DATA_FILE.recordCount]),
      specId: Number(manifest[MANIFEST_FILE.partitionSpecId]),
      partition,
      partitionText: JSON.stringify(partition, (_, value) =>
        typeof value === 'bigint' ? `${value}` : value,
      ),
      dataSequenceNumber: (entry[MANIFEST_ENTRY.sequenceNumber] ??
        manifest[MANIFEST_FILE.sequenceNumber] ??
        0n) as bigint,
      firstRowId,
      equalityIds: (file[DATA_FILE.equalityIds] as number[] | null | undefined) ?? [],
      referencedDataFile: (file[DATA_FILE.referencedDataFile] as string | null | undefined) ?? null,
      contentOffset: numberOrNull(file[DATA_FILE.contentOffset]),
      contentSizeBytes: numberOrNull(file[DATA_FILE.contentSizeBytes]),
    };
  });
}

/** The values that an identity transform put into the partition, by the source's field id. */
export function identityValues(
  file: SlowFile,
  spec: readonly SlowPartitionField[],
): ReadonlyMap<number, unknown> {
  return new Map(
    spec
      .filter(
        ({ transform, fieldId }) =>
          transform === 'identity' && fieldName(fieldId) in file.partition,
      )
      .map(({ sourceId, fieldId }) => [sourceId, file.partition[fieldName(fieldId)]]),
  );
}

function bigintOrNull(value: unknown): bigint | null {
  return typeof value === 'bigint' ? value : null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'bigint' ? Number(value) : null;
}
