import { FIRN_REQUEST_DETAIL_TYPE } from '../../events/index.ts';
import { IcebergError, randomUuid } from '../../shared/base/index.ts';
import { formatTableIdentifier } from '../../shared/catalog/index.ts';
import type { ManifestEntry } from '../../shared/iceberg/index.ts';
import { estimatePrice, PRICE_TABLE } from '../../shared/pricing/index.ts';
import { deployLocally, type LocalDeployment } from '../deployment/index.ts';
import type { InvocationReport } from '../lambda-host/index.ts';
import type { LocalCloud } from '../local-cloud.ts';
import type { ItemStream } from '../stream/index.ts';
import type { TableWriter } from '../table-writer/index.ts';
import { noteOfLogLine } from './log-notes.ts';
import { observeTable } from './observe-table.ts';
import {
  DEMO_SETTINGS,
  DEMO_SWEEP_INTERVAL_MS,
  LIVE_COMMIT_COUNT,
  LIVE_COMMIT_INTERVAL_MS,
  LIVE_COMMIT_SHARE,
} from './parameters.ts';
import { appendCopies } from './replicate.ts';
import { momentLine, noteLine, TIMELINE_HEADING } from './timeline.ts';

export interface LivePhaseOptions {
  readonly cloud: LocalCloud;
  /** Of the catalog table. */
  readonly stream: ItemStream;
  readonly writer: TableWriter;
  /** What the writer copies. */
  readonly originals: readonly ManifestEntry[];
  readonly print: (line: string) => void;
  /** Of the terminal. */
  readonly widthMax: number;
}

const LOOK_INTERVAL_MS = 20;
const TICK_MS = 1_000;

/** A run takes seconds; whoever needs longer than this for the last one is stuck. */
const QUIET_WAIT_MS_MAX = 25_000;

/** Of the functions that route; those that rewrite price themselves. */
const ROUTER_MEMORY_MIB = 512;

/**
 * A writer that commits every second, and Firn beside it, line by line as it happens; ends when the writer is done
 * and nothing is left to do for Firn.
 *
 * @returns the paths of the files that the writer added
 * @throws unavailable — Firn does not come to an end
 */
export async function runLive(options: LivePhaseOptions): Promise<string[]> {
  const { cloud, print, widthMax } = options;
  const bill = new RouterBill();
  const firn = deployLocally({
    ...options,
    settings: DEMO_SETTINGS,
    sweepEveryMs: { due: DEMO_SWEEP_INTERVAL_MS },
    logDestination: {
      write: (line) => {
        const note = noteOfLogLine(line);
        if (note !== undefined) print(noteLine(note.who, note.text, widthMax));
      },
    },
    onInvocation: (report) => bill.add(report),
  });
  const live: Live = { ...options, firn, bill, startMs: cloud.clock.nowMs(), isOver: false };
  print(TIMELINE_HEADING);
  const beside = Promise.all([host(live), watch(live)]);
  try {
    const paths = await writeEverySecond(live);
    await requestCompaction(live);
    await waitUntilQuiet(live);
    return paths;
  } finally {
    live.isOver = true;
    await beside;
  }
}

interface Live extends LivePhaseOptions {
  readonly firn: LocalDeployment;
  readonly bill: RouterBill;
  readonly startMs: number;
  isOver: boolean;
}

/** What the functions cost that price nothing themselves. */
class RouterBill {
  #invocationCount = 0;
  #durationMs = 0;

  add({ functionName, durationMs }: InvocationReport): void {
    if (functionName === 'rewrite-data-files') return;
    this.#invocationCount++;
    this.#durationMs += durationMs;
  }

  dollars(): number {
    const usage = {
      s3GetCount: this.#invocationCount,
      s3PutCount: 0,
      dynamoDbReadCount: 2 * this.#invocationCount,
      dynamoDbWriteCount: this.#invocationCount,
      lambdaInvocationCount: this.#invocationCount,
      lambdaDurationMs: this.#durationMs,
      lambdaMemoryMib: ROUTER_MEMORY_MIB,
    };
    return estimatePrice(usage, PRICE_TABLE).totalDollars;
  }
}

async function host(live: Live): Promise<void> {
  const { clock } = live.cloud;
  while (!live.isOver) {
    live.firn.host.dispatch();
    await clock.sleepMs(LOOK_INTERVAL_MS);
  }
  await live.firn.host.settle();
}

/** A line each second. */
async function watch(live: Live): Promise<void> {
  const { cloud, writer, originals, print, bill, startMs } = live;
  const { clock } = cloud;
  const first = await observeTable(writer.identifier, cloud);
  const fileCountMax = first.fileCount + originals.length * LIVE_COMMIT_SHARE * LIVE_COMMIT_COUNT;
  let before = first;
  while (!live.isOver) {
    const elapsedMs = clock.nowMs() - startMs;
    const seen = await observeTable(writer.identifier, cloud);
    const moment = {
      elapsedMs,
      fileCount: seen.fileCount,
      writerCommitCount: seen.foreignCommitCount - first.foreignCommitCount,
      firnCommitCount: seen.firnCommitCount,
      dollars: seen.runDollars + bill.dollars(),
      hasCommitted: seen.firnCommitCount > before.firnCommitCount,
    };
    print(momentLine(moment, fileCountMax));
    before = seen;
    // Timers may come a little early: the next line is that of the next second all the same.
    const tick = Math.round((clock.nowMs() - startMs) / TICK_MS) + 1;
    await clock.sleepMs(startMs + tick * TICK_MS - clock.nowMs());
  }
}

async function writeEverySecond({ cloud, writer, originals, startMs }: Live): Promise<string[]> {
  const { clock, warehouse } = cloud;
  const partCount = Math.round(1 / LIVE_COMMIT_SHARE);
  const paths: string[] = [];
  for (let commit = 0; commit < LIVE_COMMIT_COUNT; commit++) {
    const dueMs = startMs + (commit + 1) * LIVE_COMMIT_INTERVAL_MS;
    await clock.sleepMs(Math.max(0, dueMs - clock.nowMs()));
    const part = originals.filter((_, index) => index % partCount === commit % partCount);
    const label = `live-${commit}`;
    paths.push(...(await appendCopies(writer, part, { store: warehouse.store, label })));
  }
  return paths;
}

/** What a pipeline does when it is through: it says so on the bus. */
async function requestCompaction({ cloud, firn, writer, print, widthMax }: Live): Promise<void> {
  const { clock, random } = cloud;
  // Files that were just written are left alone.
  await clock.sleepMs(DEMO_SETTINGS.guards.minFileAgeMsFloor);
  const reason = `the writer is done after ${LIVE_COMMIT_COUNT} commits`;
  const table = formatTableIdentifier(writer.identifier);
  print(noteLine('writer', `done; puts a firn.request on the bus: compact ${table}`, widthMax));
  await firn.putEvent({
    version: '0',
    id: randomUuid(random),
    'detail-type': FIRN_REQUEST_DETAIL_TYPE,
    source: 'demo.writer',
    detail: { version: 1, operation: 'compact', table, reason },
  });
}

/** Until no message is left, nothing runs, and the ledger knows of nothing to come. */
async function waitUntilQuiet({ cloud, firn }: Live): Promise<void> {
  const { clock, warehouse } = cloud;
  const endMs = clock.nowMs() + QUIET_WAIT_MS_MAX;
  while (clock.nowMs() < endMs) {
    await clock.sleepMs(TICK_MS / 4);
    const { visible, hidden } = firn.rewriteQueue.counts();
    if (visible + hidden + firn.host.underWayCount() > 0) continue;
    const { tables } = await warehouse.openLedger().states.listDue({
      dueAtMsMax: clock.nowMs() + 2 * DEMO_SWEEP_INTERVAL_MS,
      tableCountMax: 10,
    });
    if (tables.length === 0) return;
  }
  throw new IcebergError('unavailable', `demo: Firn is still busy after ${QUIET_WAIT_MS_MAX} ms`);
}
