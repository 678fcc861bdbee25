import type { AvroRecord, AvroValue } from '../avro/index.ts';
import { CONTENT_NUMBERS } from './manifest-data-file.ts';
import { BLOCK_SIZE_IN_BYTES, DATA_FILE } from './manifest-fields.ts';
import type { PartitionAvro } from './manifest-partition.ts';
import type { DataFile } from './manifest-types.ts';

/** What v1 requires and no reader uses; the number that Iceberg Java writes. */
const BLOCK_SIZE_BYTES = 64n * 1024n * 1024n;

/**
 * The `data_file` struct of a file, with every field that some version has. Maps are sorted by field id.
 * */
export function toDataFileRecord(file: DataFile, partition: PartitionAvro): AvroRecord {
  const f = DATA_FILE;
  return {
    [f.content.name]: CONTENT_NUMBERS[file.content],
    [f.filePath.name]: file.filePath,
    [f.fileFormat.name]: file.fileFormat,
    [f.partition.name]: partition.toRecord(file.partition),
    [f.recordCount.name]: BigInt(file.recordCount),
    [f.fileSizeInBytes.name]: BigInt(file.fileSizeBytes),
    [BLOCK_SIZE_IN_BYTES.name]: BLOCK_SIZE_BYTES,
    [f.columnSizes.name]: toMap(file.columnSizes, BigInt),
    [f.valueCounts.name]: toMap(file.valueCounts, BigInt),
    [f.nullValueCounts.name]: toMap(file.nullValueCounts, BigInt),
    [f.nanValueCounts.name]: toMap(file.nanValueCounts, BigInt),
    [f.lowerBounds.name]: toMap(file.lowerBounds, asIs),
    [f.upperBounds.name]: toMap(file.upperBounds, asIs),
    [f.keyMetadata.name]: file.keyMetadata ?? null,
    [f.splitOffsets.name]: file.splitOffsets?.map(BigInt) ?? null,
    [f.equalityIds.name]: file.equalityIds ?? null,
    [f.sortOrderId.name]: file.sortOrderId ?? null,
    [f.firstRowId.name]: file.firstRowId ?? null,
    [f.referencedDataFile.name]: file.referencedDataFile ?? null,
    [f.contentOffset.name]: toLong(file.contentOffset),
    [f.contentSizeInBytes.name]: toLong(file.contentSizeBytes),
  };
}

function toMap<Value>(
  map: ReadonlyMap<number, Value> | undefined,
  convert: (value: Value) => AvroValue,
): AvroValue {
  if (map === undefined) return null;
  const entries = [...map].sort(([one], [other]) => one - other);
  return entries.map(([key, value]) => ({ key, value: convert(value) }));
}

function asIs(bytes: Uint8Array): Uint8Array {
  return bytes;
}

function toLong(value: number | undefined): bigint | null {
  return value === undefined ? null : BigInt(value);
}
