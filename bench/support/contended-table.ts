import { type Row, TableWriter } from '../../local/table-writer/index.ts';
import {
  type Clock,
  IcebergError,
  isIcebergError,
  type Random,
  randomFraction,
  randomUuid,
  seededRandom,
} from '../../shared/base/index.ts';
import { MemoryCatalog } from '../../shared/catalog/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { createManifestReader, scanSnapshot } from '../../shared/table/index.ts';
import { type CompactionCosts, compactMeasured, type SlowWorld } from './measured-compaction.ts';
import { type Latencies, slowCatalog, slowStore } from './slow-ports.ts';

/** Other writers of the table that is compacted. */
export interface Contention {
  readonly writerCount: number;
  /** From the start of one commit to the start of the next; 0 lets each begin as soon as the last has ended. */
  readonly paceMs: number;
  readonly deadlineMs: number;
}

/** What one compaction met and took. */
export interface ContendedRun extends CompactionCosts {
  readonly foreignLandedCount: number;
  /** Attempts of other writers that came too late, by whomever they were overtaken. */
  readonly foreignOvertakenCount: number;
  /** Commits of other writers that gave up after all their retries. */
  readonly foreignLostCount: number;
  /** Data files of the final snapshot that are not there, or too many. */
  readonly filesWrong: number;
}

const IDENTIFIER = { namespace: ['bench'], name: 'contended' };
const INPUT_FILE_COUNT = 6;
const ROWS_PER_FILE = 20;

/** In range, so that nobody compacts them. */
const FOREIGN_FILE_BYTES = 512 * 1024 ** 2;

/** Iceberg's defaults of `commit.retry.*`, which the other writers follow. */
const FOREIGN_RETRIES_MAX = 4;
const FOREIGN_WAIT_MS_FIRST = 100;

/** Compacts a new small table while others commit to it, and checks what they all left behind. */
export async function compactContended(
  contention: Contention,
  { clock, latencies, seed }: { clock: Clock; latencies: Latencies; seed: number },
): Promise<ContendedRun> {
  const random = seededRandom(seed);
  const store = new MemoryObjectStore({ clock });
  const catalog = new MemoryCatalog({ clock, random });
  const ports = { catalog, store, clock, random };
  const table = await TableWriter.create(
    {
      identifier: IDENTIFIER,
      location: 's3://bench/contended',
      formatVersion: 2,
      fields: [{ fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } }],
    },
    ports,
  );
  await table.append(
    Array.from({ length: INPUT_FILE_COUNT }, (_, file) => ({ rows: someRows(file) })),
  );
  const world = { ...ports, latencies };
  const state = { isOver: false, landedCount: 0, overtakenCount: 0, lostCount: 0 };
  const writers = Array.from({ length: contention.writerCount }, () =>
    keepCommitting(world, contention, state),
  );
  // Until the others are under way, each at its own time.
  await clock.sleepMs(Math.max(400, contention.paceMs));
  const { costs } = await compactMeasured(IDENTIFIER, contention, world);
  state.isOver = true;
  await Promise.all(writers);
  const expected = state.landedCount + (costs.isLanded ? 1 : INPUT_FILE_COUNT);
  return {
    ...costs,
    foreignLandedCount: state.landedCount,
    foreignOvertakenCount: state.overtakenCount,
    foreignLostCount: state.lostCount,
    filesWrong: Math.abs((await liveFileCount(table, store)) - expected),
  };
}

interface ForeignState {
  isOver: boolean;
  landedCount: number;
  overtakenCount: number;
  lostCount: number;
}

/**
 * Appends as Iceberg Java does: pointer, metadata, manifest, list of the head, list, metadata, conditional write; after
 * a lost race once more, with the manifest that is there already, after a wait that doubles.
 */
async function keepCommitting(
  { catalog, store, clock, random, latencies }: SlowWorld,
  { paceMs }: Contention,
  state: ForeignState,
): Promise<void> {
  let isRetry = false;
  const first = slowStore(store, clock, latencies);
  const isManifest = (location: string): boolean => /-m\d+\.avro$/.test(location);
  const writer = new TableWriter(IDENTIFIER, {
    catalog: slowCatalog(catalog, clock, latencies),
    store: {
      ...first,
      write: (location, bytes, options) =>
        (isRetry && isManifest(location) ? store : first).write(location, bytes, options),
    },
    clock,
    random,
  });
  await clock.sleepMs(Math.floor(randomFraction(random) * Math.max(paceMs, 200)));
  while (!state.isOver) {
    const startMs = clock.nowMs();
    const change = { operation: 'append', addedManifests: [[foreignFile(random)]] } as const;
    for (let retry = 0; ; retry++) {
      isRetry = retry > 0;
      try {
        await writer.commit(change);
        state.landedCount++;
        break;
      } catch (error) {
        if (!isIcebergError(error, 'commit-conflict')) throw error;
        state.overtakenCount++;
        if (retry === FOREIGN_RETRIES_MAX) {
          state.lostCount++;
          break;
        }
        const waitMs = FOREIGN_WAIT_MS_FIRST * 2 ** retry;
        await clock.sleepMs(Math.floor(waitMs * (1 + 0.1 * randomFraction(random))));
      }
    }
    const restMs = startMs + paceMs - clock.nowMs();
    if (restMs > 0) await clock.sleepMs(restMs);
  }
}

function foreignFile(random: Random) {
  return {
    specId: 0,
    dataFile: {
      content: 'data',
      filePath: `s3://bench/contended/data/${randomUuid(random)}.parquet`,
      fileFormat: 'PARQUET',
      partition: [],
      recordCount: 1000,
      fileSizeBytes: FOREIGN_FILE_BYTES,
      unknownFields: [],
    },
  } as const;
}

function someRows(file: number): readonly Row[] {
  return Array.from({ length: ROWS_PER_FILE }, (_, row) => ({
    1: BigInt(file * ROWS_PER_FILE + row),
  }));
}

async function liveFileCount(table: TableWriter, store: MemoryObjectStore): Promise<number> {
  const { metadata } = await table.load();
  const snapshot = snapshotOfRef(metadata);
  if (snapshot === undefined) throw new IcebergError('invariant', 'bench: the table has no head');
  let count = 0;
  await scanSnapshot({
    metadata,
    snapshot,
    reader: createManifestReader(store),
    skipsMetrics: true,
    visit: () => {
      count++;
    },
  });
  return count;
}
