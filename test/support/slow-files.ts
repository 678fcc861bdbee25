import type { ObjectStore } from '../../shared/storage/index.ts';
import { type AvroRecord, readAvroSlowly } from './slow-avro.ts';
import type { SlowPartitionField } from './slow-metadata.ts';

/** A live data or delete file, with everything inherited from its manifest. */
export interface SlowFile {
  readonly content: number;
  readonly filePath: string;
  readonly fileFormat: string;
  readonly specId: number;
  /** Equal for two files of one spec if and only if their partitions are. */
  readonly partitionText: string;
  /** By partition field id. */
  readonly partition: ReadonlyMap<number, unknown>;
  readonly dataSequenceNumber: bigint;
  readonly firstRowId: bigint | null;
  readonly equalityIds: readonly number[];
  readonly referencedDataFile: string | null;
  readonly contentOffset: number | null;
  readonly contentSizeBytes: number | null;
}

interface AvroField {
  readonly name: string;
  readonly type: unknown;
  readonly 'field-id'?: number;
}

export const OBJECT_BYTES_MAX = 1024 ** 3;

const STATUS_DELETED = 2;

/** Every live file of a manifest list, whatever the list says of its manifests. */
export async function listFilesSlowly(
  store: ObjectStore,
  manifestListLocation: string,
): Promise<SlowFile[]> {
  const list = readAvroSlowly(await store.read(manifestListLocation, OBJECT_BYTES_MAX));
  const files: SlowFile[] = [];
  for (const manifest of list.records) {
    const bytes = await store.read(String(manifest['manifest_path']), OBJECT_BYTES_MAX);
    const { records, schema } = readAvroSlowly(bytes);
    files.push(...liveFiles(manifest, records, partitionFieldsOf(schema)));
  }
  return files;
}

function liveFiles(
  manifest: AvroRecord,
  entries: readonly AvroRecord[],
  partitionFields: readonly AvroField[],
): SlowFile[] {
  const manifestRowId = bigintOrNull(manifest['first_row_id']);
  const live = entries.filter((entry) => entry['status'] !== STATUS_DELETED);
  let nextRowId = manifestRowId ?? 0n;
  return live.map((entry) => {
    const file = entry['data_file'] as AvroRecord;
    const partition = file['partition'] as AvroRecord;
    let firstRowId = manifestRowId === null ? null : bigintOrNull(file['first_row_id']);
    if (manifestRowId !== null && firstRowId === null) {
      firstRowId = nextRowId;
      nextRowId += file['record_count'] as bigint;
    }
    return {
      content: Number(file['content'] ?? 0),
      filePath: String(file['file_path']),
      fileFormat: String(file['file_format']).toUpperCase(),
      specId: Number(manifest['partition_spec_id']),
      partitionText: JSON.stringify(partition, (_, value) =>
        typeof value === 'bigint' ? `${value}` : value,
      ),
      partition: new Map(
        partitionFields.map((field) => [Number(field['field-id']), partition[field.name]]),
      ),
      dataSequenceNumber: (entry['sequence_number'] ?? manifest['sequence_number'] ?? 0n) as bigint,
      firstRowId,
      equalityIds: (file['equality_ids'] as number[] | null | undefined) ?? [],
      referencedDataFile: (file['referenced_data_file'] as string | null | undefined) ?? null,
      contentOffset: numberOrNull(file['content_offset']),
      contentSizeBytes: numberOrNull(file['content_size_in_bytes']),
    };
  });
}

/** The fields of `data_file.partition` in the manifest's own schema. */
function partitionFieldsOf(entrySchema: unknown): readonly AvroField[] {
  return fieldsOf(typeOfField(typeOfField(entrySchema, 'data_file'), 'partition'));
}

function typeOfField(schema: unknown, name: string): unknown {
  return fieldsOf(schema).find((field) => field.name === name)?.type;
}

function fieldsOf(schema: unknown): readonly AvroField[] {
  return (schema as { readonly fields?: readonly AvroField[] } | undefined)?.fields ?? [];
}

/** The values that an identity transform put into the partition, by the source's field id. */
export function identityValues(
  file: SlowFile,
  spec: readonly SlowPartitionField[],
): ReadonlyMap<number, unknown> {
  return new Map(
    spec
      .filter(({ transform, fieldId }) => transform === 'identity' && file.partition.has(fieldId))
      .map(({ sourceId, fieldId }) => [sourceId, file.partition.get(fieldId)]),
  );
}

function bigintOrNull(value: unknown): bigint | null {
  return typeof value === 'bigint' ? value : null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'bigint' ? Number(value) : null;
}
