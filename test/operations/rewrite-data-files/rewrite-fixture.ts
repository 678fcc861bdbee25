import { type NewDataFile, type Row, TableWriter } from '../../../local/table-writer/index.ts';
import {
  ManualClock,
  NO_DEADLINE,
  type Random,
  seededRandom,
  silentLogger,
} from '../../../shared/base/index.ts';
import { type CatalogFaults, MemoryCatalog } from '../../../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import type { FormatVersion, PartitionField } from '../../../shared/iceberg/index.ts';
import type { Ledger } from '../../../shared/ledger/index.ts';
import type { OperationPorts, OptionTexts } from '../../../shared/maintenance/index.ts';
import {
  type RewriteDataFilesOutcome,
  type RewriteDataFilesRequest,
  rewriteDataFiles,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { MemoryObjectStore } from '../../../shared/storage/index.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';

export type { FormatVersion };

const IDENTIFIER = { namespace: ['db'], name: 'orders' };

export const FIELDS = [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'region', isRequired: false, type: { kind: 'string' } },
  { fieldId: 3, name: 'amount', isRequired: false, type: { kind: 'double' } },
] as const;

const BY_REGION: readonly PartitionField[] = [
  { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
];

export interface Warehouse {
  readonly clock: ManualClock;
  readonly random: Random;
  readonly store: MemoryObjectStore;
  readonly catalog: MemoryCatalog;
  readonly builder: TableWriter;
  readonly ledger: Ledger;
  /** `run-1`, `run-2`, ... */
  readonly nextRunId: () => string;
}

/** Rows of consecutive ids; every fifth has no amount. */
export function rows(firstId: number, count: number, region: string | null): readonly Row[] {
  return Array.from({ length: count }, (_, index) => ({
    1: BigInt(firstId + index),
    2: region,
    3: index % 5 === 0 ? null : (firstId + index) / 4,
  }));
}

/** Twelve files of ten rows in two regions, appended by three snapshots, unless told otherwise. */
export async function createWarehouse(
  options: {
    readonly formatVersion?: FormatVersion;
    readonly partitionFields?: readonly PartitionField[];
    readonly faults?: CatalogFaults;
    readonly properties?: Readonly<Record<string, string>>;
    /** Of four files each; 3 where it is not given. */
    readonly appendCount?: number;
  } = {},
): Promise<Warehouse> {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(11);
  const store = new MemoryObjectStore({ clock });
  const catalog = new MemoryCatalog({ clock, random, faults: options.faults ?? {} });
  const partitionFields = options.partitionFields ?? BY_REGION;
  const builder = await TableWriter.create(
    {
      identifier: IDENTIFIER,
      location: 's3://bucket/db/orders',
      formatVersion: options.formatVersion ?? 2,
      fields: FIELDS,
      partitionFields,
      properties: options.properties ?? { 'firn.verify': 'rows' },
    },
    { catalog, store, clock, random },
  );
  const ledger = memoryLedger({ clock });
  let runCount = 0;
  const nextRunId = (): string => `run-${++runCount}`;
  const warehouse = { clock, random, store, catalog, builder, ledger, nextRunId };
  for (let batch = 0; batch < (options.appendCount ?? 3); batch++) {
    await builder.append(smallFiles(batch * 40, partitionFields.length > 0));
    clock.advanceMs(1000);
  }
  return warehouse;
}

/** Two files of ten rows in each region. */
export function smallFiles(firstId: number, isPartitioned = true): readonly NewDataFile[] {
  return ['eu', 'us', 'eu', 'us'].map((region, index) => ({
    rows: rows(firstId + index * 10, 10, region),
    partition: isPartitioned ? [region] : [],
  }));
}

export async function rewrite(
  warehouse: Warehouse,
  options: OptionTexts = {},
  other: Partial<RewriteDataFilesRequest> & {
    readonly ports?: Partial<OperationPorts>;
  } = {},
): Promise<RewriteDataFilesOutcome> {
  const { catalog, store, clock, random, builder, ledger, nextRunId } = warehouse;
  const { ports, ...request } = other;
  return rewriteDataFiles(
    {
      table: await builder.load(),
      options,
      mode: 'commit',
      runId: nextRunId(),
      guards: LOWERED_GUARD_SETTINGS,
      ...request,
    },
    {
      catalog,
      store,
      ledger,
      clock,
      random,
      deadline: NO_DEADLINE,
      logger: silentLogger,
      ...ports,
    },
  );
}
