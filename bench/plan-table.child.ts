import { TableWriter } from '../local/table-writer/index.ts';
import { randomUuid, seededRandom, systemClock } from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';
import {
  encodeSingleValue,
  type FileOfSpec,
  type FormatVersion,
  isPrimitiveType,
  type NestedField,
  newDataLocation,
  type PartitionField,
  type SingleValue,
  specById,
  type TableMetadata,
} from '../shared/iceberg/index.ts';
import { serve } from './support/child-process.ts';
import {
  BUCKETS,
  FILES_PER_BUCKET,
  MANIFESTS_PER_DAY,
  PLAN_MANIFEST_COUNT,
} from './support/plan-shape.ts';
import { BENCH_BUCKET, openBenchWarehouse } from './support/warehouse.ts';

/** Manifests that arrive in one snapshot; one for each would be as realistic, and take minutes to make. */
const MANIFESTS_PER_SNAPSHOT = 50;

const MIB = 1024 ** 2;
const IN_RANGE_BYTES = 512 * MIB;
const DAY_FIRST = 20_700;
const DAY_MICROS = 86_400_000_000n;

const KINDS = ['long', 'timestamptz', 'long', 'string', 'string', 'double', 'int', 'date'] as const;

/** A key, a time, a user, and seventeen more of the usual kinds. */
const FIELDS: readonly NestedField[] = Array.from({ length: 20 }, (_, index) => ({
  fieldId: index + 1,
  name: ['id', 'event_time', 'user_id'][index] ?? `column_${index + 1}`,
  isRequired: index === 0,
  type: index === 19 ? { kind: 'decimal', precision: 18, scale: 2 } : { kind: KINDS[index % 8]! },
}));

const PARTITION_FIELDS: readonly PartitionField[] = [
  { sourceIds: [2], fieldId: 1000, name: 'event_time_day', transform: { kind: 'day' } },
  {
    sourceIds: [3],
    fieldId: 1001,
    name: 'user_id_bucket',
    transform: { kind: 'bucket', bucketCount: BUCKETS },
  },
];

/** Makes a table of metadata only: planning opens no data file. */
const service = {
  create: async ({
    catalogUrl,
    table,
    formatVersion,
  }: {
    readonly catalogUrl: string;
    readonly table: string;
    readonly formatVersion: FormatVersion;
  }) => {
    const random = seededRandom(17);
    const builder = await TableWriter.create(
      {
        identifier: parseTableIdentifier(table),
        location: `s3://${BENCH_BUCKET}/${table}`,
        formatVersion,
        fields: FIELDS,
        partitionFields: PARTITION_FIELDS,
      },
      { ...openBenchWarehouse(catalogUrl), clock: systemClock, random },
    );
    const { metadata } = await builder.load();
    for (let first = 0; first < PLAN_MANIFEST_COUNT; first += MANIFESTS_PER_SNAPSHOT) {
      const addedManifests = Array.from({ length: MANIFESTS_PER_SNAPSHOT }, (_, index) =>
        manifestFiles(metadata, first + index, randomUuid(random)),
      );
      await builder.commit({ operation: 'append', addedManifests });
    }
  },
};

export type PlanTableService = typeof service;
serve(service);

/** What one commit of a streaming writer adds: files of one day, some in each bucket, the last of them large. */
function manifestFiles(
  metadata: TableMetadata,
  manifestIndex: number,
  writeUuid: string,
): readonly FileOfSpec[] {
  const day = DAY_FIRST + Math.floor(manifestIndex / MANIFESTS_PER_DAY);
  const spec = specById(metadata, 0);
  return Array.from({ length: BUCKETS * FILES_PER_BUCKET }, (_, fileIndex): FileOfSpec => {
    const partition = [day, fileIndex % BUCKETS];
    const isLarge = fileIndex >= BUCKETS * (FILES_PER_BUCKET - 1);
    const name = `${String(fileIndex).padStart(5, '0')}-${manifestIndex}-${writeUuid}.parquet`;
    const recordCount = isLarge ? 4_000_000 : 20_000 + 7 * fileIndex;
    return {
      specId: 0,
      dataFile: {
        content: 'data',
        filePath: newDataLocation(metadata, spec, partition, name),
        fileFormat: 'PARQUET',
        partition,
        recordCount,
        fileSizeBytes: isLarge ? IN_RANGE_BYTES : 2 * MIB + 1000 * fileIndex,
        ...metrics({ day, seed: manifestIndex * 50 + fileIndex, recordCount }),
        splitOffsets: isLarge ? [4, 128 * MIB, 256 * MIB, 384 * MIB] : [4],
        sortOrderId: 0,
        unknownFields: [],
      },
    };
  });
}

function metrics({
  day,
  seed,
  recordCount,
}: {
  readonly day: number;
  readonly seed: number;
  readonly recordCount: number;
}): Pick<
  FileOfSpec['dataFile'],
  'columnSizes' | 'valueCounts' | 'nullValueCounts' | 'lowerBounds' | 'upperBounds'
> {
  const byField = <Value>(value: (field: NestedField) => Value): Map<number, Value> =>
    new Map(FIELDS.map((field) => [field.fieldId, value(field)]));
  return {
    columnSizes: byField(({ fieldId }) => 50_000 + fieldId * seed),
    valueCounts: byField(() => recordCount),
    nullValueCounts: byField(({ isRequired }) => (isRequired ? 0 : seed % 100)),
    lowerBounds: byField((field) => bound(field, { day, seed })),
    upperBounds: byField((field) => bound(field, { day, seed: seed + 1_000_000 })),
  };
}

function bound(
  { type, fieldId }: NestedField,
  place: { readonly day: number; readonly seed: number },
): Uint8Array {
  if (!isPrimitiveType(type)) throw new Error(`column ${fieldId} is nested`);
  return encodeSingleValue(type, boundValue(type.kind, { ...place, fieldId }));
}

function boundValue(
  kind: string,
  { day, seed, fieldId }: { readonly day: number; readonly seed: number; readonly fieldId: number },
): SingleValue {
  switch (kind) {
    case 'string':
      // As long as bounds are truncated to.
      return `${fieldId}-value-${seed}`.padEnd(16, 'x').slice(0, 16);
    case 'timestamptz':
      return BigInt(day) * DAY_MICROS + BigInt(seed);
    case 'date':
      return day;
    case 'double':
      return seed / 7;
    case 'int':
      return seed;
    default:
      return BigInt(seed) * 1_000n;
  }
}
