import type { JsonObject, JsonValue } from '../base/index.ts';
import {
  BLOCK_SIZE_IN_BYTES,
  DATA_FILE,
  MANIFEST_ENTRY,
  type ManifestField,
  toAvroField,
} from './manifest-fields.ts';
import type { FormatVersion } from './metadata-types.ts';

/**
 * The Avro schema of a manifest of the format version; field order as Iceberg Java writes it.
 *
 * @param partitionType the record of the spec's partition tuples
 * @see Iceberg spec, "Manifest Entry Fields" and "Data File Fields"
 */
export function manifestSchema(formatVersion: FormatVersion, partitionType: JsonObject): JsonValue {
  const f = MANIFEST_ENTRY;
  const sequenceNumbers = formatVersion === 1 ? [] : [f.sequenceNumber, f.fileSequenceNumber];
  const fields = [
    toAvroField(f.status, 'required'),
    toAvroField(f.snapshotId, formatVersion === 1 ? 'required' : 'optional'),
    ...sequenceNumbers.map((field) => toAvroField(field, 'optional')),
    toAvroField(
      { ...f.dataFile, avroType: dataFileType(formatVersion, partitionType) },
      'required',
    ),
  ];
  return { type: 'record', name: 'manifest_entry', fields };
}

function dataFileType(formatVersion: FormatVersion, partitionType: JsonObject): JsonObject {
  const f = DATA_FILE;
  const required = [
    ...(formatVersion >= 2 ? [f.content] : []),
    f.filePath,
    f.fileFormat,
    { ...f.partition, avroType: partitionType },
    f.recordCount,
    f.fileSizeInBytes,
    ...(formatVersion === 1 ? [BLOCK_SIZE_IN_BYTES] : []),
  ];
  const optional = [
    f.columnSizes,
    f.valueCounts,
    f.nullValueCounts,
    f.nanValueCounts,
    f.lowerBounds,
    f.upperBounds,
    f.keyMetadata,
    f.splitOffsets,
    ...versionFields(formatVersion),
  ];
  const fields = [
    ...required.map((field) => toAvroField(field, 'required')),
    ...optional.map((field) => toAvroField(field, 'optional')),
  ];
  return { type: 'record', name: 'r2', fields };
}

function versionFields(formatVersion: FormatVersion): readonly ManifestField[] {
  const f = DATA_FILE;
  switch (formatVersion) {
    case 1:
      return [f.sortOrderId];
    case 2:
      return [f.equalityIds, f.sortOrderId, f.referencedDataFile];
    case 3:
      return [
        f.equalityIds,
        f.sortOrderId,
        f.firstRowId,
        f.referencedDataFile,
        f.contentOffset,
        f.contentSizeInBytes,
      ];
  }
}
