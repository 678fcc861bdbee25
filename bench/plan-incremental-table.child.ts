import { TableWriter } from '../local/table-writer/index.ts';
import { seededRandom, systemClock } from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';
import { encodeSingleValue, type FileOfSpec, type NestedField } from '../shared/iceberg/index.ts';
import { serve } from './support/child-process.ts';
import {
  DAY_COUNTS,
  ENTRIES_PER_DAY,
  FILES_PER_PARTITION,
  LATE_PARTITION_COUNT,
  type ManifestLayout,
  NEW_FILES_PER_PARTITION,
  NEW_PARTITION_COUNT,
  SMALL_FILES_PER_PARTITION,
  TENANTS,
} from './support/incremental-shape.ts';
import { BENCH_BUCKET, openBenchWarehouse } from './support/warehouse.ts';

/** One for each would be as realistic, and take minutes to make. */
const MANIFESTS_PER_SNAPSHOT = 50;

const MIB = 1024 ** 2;
const DAY_FIRST = 20_000;

/** Prime to the number of manifests, so that the files of a partition are in as many manifests as there are. */
const SCATTER_STEP = 97;

const FIELDS: readonly NestedField[] = Array.from({ length: 8 }, (_, index) => ({
  fieldId: index + 1,
  name: ['id', 'event_day', 'tenant'][index] ?? `column_${index + 1}`,
  isRequired: index < 3,
  type: { kind: (['long', 'date', 'int'] as const)[index] ?? 'string' },
}));

interface TableRequest {
  readonly catalogUrl: string;
  readonly table: string;
  readonly layout: ManifestLayout;
}

/** Makes a table of metadata only: planning opens no data file. */
const service = {
  create: async ({ catalogUrl, table, layout }: TableRequest) => {
    const builder = await TableWriter.create(
      {
        identifier: parseTableIdentifier(table),
        location: `s3://${BENCH_BUCKET}/${table}`,
        formatVersion: 2,
        fields: FIELDS,
        partitionFields: [
          { sourceIds: [2], fieldId: 1000, name: 'event_day', transform: { kind: 'identity' } },
          { sourceIds: [3], fieldId: 1001, name: 'tenant', transform: { kind: 'identity' } },
        ],
      },
      writerPorts(catalogUrl),
    );
    for (let first = 0; first < DAY_COUNTS[layout]; first += MANIFESTS_PER_SNAPSHOT) {
      const addedManifests = Array.from({ length: MANIFESTS_PER_SNAPSHOT }, (_, index) =>
        manifestFiles(table, first + index, layout),
      );
      await builder.commit({ operation: 'append', addedManifests });
    }
  },

  /** The commit whose files are to be planned. */
  append: async ({ catalogUrl, table, layout }: TableRequest) => {
    const dayCount = DAY_COUNTS[layout];
    const builder = new TableWriter(parseTableIdentifier(table), writerPorts(catalogUrl));
    const files = Array.from({ length: NEW_PARTITION_COUNT }, (_, index) => {
      const isLate = index < LATE_PARTITION_COUNT;
      const day = isLate ? Math.floor(((index + 1) * dayCount) / 17) : dayCount - 1;
      return Array.from({ length: NEW_FILES_PER_PARTITION }, (__, fileIndex) =>
        newFile(table, day * TENANTS + index, FILES_PER_PARTITION + fileIndex),
      );
    });
    await builder.commit({ operation: 'append', addedManifests: [files.flat()] });
  },
};

export type IncrementalTableService = typeof service;
serve(service);

function writerPorts(catalogUrl: string) {
  return { ...openBenchWarehouse(catalogUrl), clock: systemClock, random: seededRandom(29) };
}

function manifestFiles(
  table: string,
  manifestIndex: number,
  layout: ManifestLayout,
): readonly FileOfSpec[] {
  return Array.from({ length: ENTRIES_PER_DAY }, (_, index) => {
    const ofPartition = index % FILES_PER_PARTITION;
    const place = Math.floor(index / FILES_PER_PARTITION);
    if (layout === 'clustered') return newFile(table, manifestIndex * TENANTS + place, ofPartition);
    // Each of ten files of a partition in another manifest, which has no two files of one partition.
    const dayCount = DAY_COUNTS[layout];
    const ordinal = (manifestIndex + ofPartition * SCATTER_STEP) % dayCount;
    return newFile(table, place * dayCount + ordinal, ofPartition);
  });
}

function newFile(table: string, partitionIndex: number, fileIndex: number): FileOfSpec {
  const day = DAY_FIRST + Math.floor(partitionIndex / TENANTS);
  const tenant = partitionIndex % TENANTS;
  const largeCount = FILES_PER_PARTITION - SMALL_FILES_PER_PARTITION;
  const isLarge = fileIndex < largeCount;
  const recordCount = isLarge ? 4_000_000 : 20_000 + fileIndex;
  const seed = partitionIndex * FILES_PER_PARTITION + fileIndex;
  return {
    specId: 0,
    dataFile: {
      content: 'data',
      filePath: `s3://${BENCH_BUCKET}/${table}/data/event_day=${day}/tenant=${tenant}/${String(fileIndex).padStart(5, '0')}-${seed.toString(36)}.parquet`,
      fileFormat: 'PARQUET',
      partition: [day, tenant],
      recordCount,
      fileSizeBytes: isLarge ? 512 * MIB : 2 * MIB + fileIndex,
      valueCounts: new Map(FIELDS.map(({ fieldId }) => [fieldId, recordCount])),
      nullValueCounts: new Map(FIELDS.map(({ fieldId }) => [fieldId, seed % 100])),
      lowerBounds: bounds(day, tenant, seed),
      upperBounds: bounds(day, tenant, seed + 1_000_000),
      splitOffsets: isLarge ? [4, 128 * MIB, 256 * MIB, 384 * MIB] : [4],
      sortOrderId: 0,
      unknownFields: [],
    },
  };
}

function bounds(day: number, tenant: number, seed: number): ReadonlyMap<number, Uint8Array> {
  return new Map([
    [1, encodeSingleValue({ kind: 'long' }, BigInt(seed) * 1_000n)],
    [2, encodeSingleValue({ kind: 'date' }, day)],
    [3, encodeSingleValue({ kind: 'int' }, tenant)],
    // As long as bounds are truncated to.
    [4, encodeSingleValue({ kind: 'string' }, `value-${seed}`.padEnd(16, 'x').slice(0, 16))],
  ]);
}
