import type { AvroType, AvroValue } from '../avro/index.ts';
import { isDeletionVector } from './content-file.ts';
import { DATA_FILE, METRICS_IDS, REMOVED_DATA_FILE_IDS } from './manifest-fields.ts';
import { compilePartitionReader } from './manifest-partition.ts';
import { present, StructReader, structShape } from './manifest-struct.ts';
import type { DataFile, FileContent } from './manifest-types.ts';
import type { PartitionType } from './partition-spec.ts';
import type { PartitionSpec } from './types.ts';

export type DataFileReader = (value: AvroValue | undefined) => DataFile;

const DATA_FILE_IDS = [
  ...Object.values(DATA_FILE).map((field) => field.id),
  ...REMOVED_DATA_FILE_IDS,
];

const CONTENTS: readonly FileContent[] = ['data', 'position-deletes', 'equality-deletes'];

/** The number of each content in a manifest. */
export const CONTENT_NUMBERS: Readonly<Record<FileContent, number>> = {
  data: 0,
  'position-deletes': 1,
  'equality-deletes': 2,
};

/**
 * Prepares reading the `data_file` structs of one manifest. `firstRowId` comes out as written; inheritance is
 * the manifest's business.
 *
 * @throws invalid-data — when the Avro type cannot hold data files of the spec
 */
export function compileDataFileReader(
  avroType: AvroType | undefined,
  spec: PartitionSpec,
  type: PartitionType,
  subject: string,
): DataFileReader {
  const shape = structShape(avroType, DATA_FILE_IDS, `${subject}: data_file`);
  const partitionType = shape.fieldsById.get(DATA_FILE.partition.id)?.type;
  const readPartition = compilePartitionReader(partitionType, spec, type, subject);
  return (value) => {
    const struct = new StructReader(shape, value, `${subject}: data_file`);
    const file: DataFile = {
      content: parseContent(struct),
      filePath: struct.requireText(DATA_FILE.filePath),
      fileFormat: struct.requireText(DATA_FILE.fileFormat),
      partition: readPartition(struct.value(DATA_FILE.partition)),
      recordCount: struct.requireCount(DATA_FILE.recordCount),
      fileSizeBytes: struct.requireCount(DATA_FILE.fileSizeInBytes),
      ...metrics(struct),
      ...present('keyMetadata', struct.bytes(DATA_FILE.keyMetadata)),
      ...present('splitOffsets', struct.numbers(DATA_FILE.splitOffsets)),
      ...present('equalityIds', struct.numbers(DATA_FILE.equalityIds)),
      ...present('sortOrderId', struct.int(DATA_FILE.sortOrderId)),
      ...present('firstRowId', struct.unsignedLong(DATA_FILE.firstRowId)),
      ...present('referencedDataFile', struct.text(DATA_FILE.referencedDataFile)),
      ...present('contentOffset', struct.count(DATA_FILE.contentOffset)),
      ...present('contentSizeBytes', struct.count(DATA_FILE.contentSizeInBytes)),
      unknownFields: struct.unknownFields(),
    };
    requireContentFields(struct, file);
    return file;
  };
}

/** Whether a field of a manifest's Avro schema is one of the metrics maps. */
export function isMetricsField(fieldId: unknown): boolean {
  return typeof fieldId === 'number' && METRICS_IDS.includes(fieldId);
}

function parseContent(struct: StructReader): FileContent {
  const number = struct.int(DATA_FILE.content) ?? 0;
  const content = CONTENTS[number];
  if (content === undefined) throw struct.invalid(DATA_FILE.content, `${number} is not 0, 1 or 2`);
  return content;
}

function metrics(struct: StructReader): Partial<DataFile> {
  return {
    ...present('columnSizes', struct.countMap(DATA_FILE.columnSizes)),
    ...present('valueCounts', struct.countMap(DATA_FILE.valueCounts)),
    ...present('nullValueCounts', struct.countMap(DATA_FILE.nullValueCounts)),
    ...present('nanValueCounts', struct.countMap(DATA_FILE.nanValueCounts)),
    ...present('lowerBounds', struct.bytesMap(DATA_FILE.lowerBounds)),
    ...present('upperBounds', struct.bytesMap(DATA_FILE.upperBounds)),
  };
}

/** What the spec requires of some contents only. */
function requireContentFields(struct: StructReader, file: DataFile): void {
  if (file.content === 'equality-deletes') {
    struct.require(DATA_FILE.equalityIds, file.equalityIds);
  }
  if (isDeletionVector(file)) {
    struct.require(DATA_FILE.referencedDataFile, file.referencedDataFile);
    struct.require(DATA_FILE.contentOffset, file.contentOffset);
    struct.require(DATA_FILE.contentSizeInBytes, file.contentSizeBytes);
  }
}
