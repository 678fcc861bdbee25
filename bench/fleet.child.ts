import { seededRandom } from '../shared/base/index.ts';
import { formatTableIdentifier } from '../shared/catalog/index.ts';
import { print } from './report.ts';
import { serve } from './support/child-process.ts';
import { FleetJudge, markedCount, markedOverdueMs } from './support/fleet-check.ts';
import { driveUntil, type Happening } from './support/fleet-drive.ts';
import { FLEET_WINDOW_MS, fleetCommits, fleetTables, HOT_TIERS } from './support/fleet-shape.ts';
import { FleetTable } from './support/fleet-table.ts';
import { FLEET_OVERDUE_MS_MAX, type FleetWorld, openFleetWorld } from './support/fleet-world.ts';
import { cpuSeconds, peakRssMb } from './support/resources.ts';

const MINUTE_MS = 60_000;

/** After the last commit: the longest interval of a trigger is six hours. */
const QUIET_MS_MAX = 12 * 60 * MINUTE_MS;

/** How often the ledger's marks are looked at, and how often every table is judged anew. */
const MARK_CHECK_MS = MINUTE_MS;
const VIEW_CHECK_MS = 10 * MINUTE_MS;
const PROGRESS_MS = 30 * MINUTE_MS;

interface Fleet {
  readonly world: FleetWorld;
  readonly tables: readonly FleetTable[];
  readonly judge: FleetJudge;
  readonly checks: Checks;
}

interface Checks {
  /** By the ledger's marks. */
  overdueMsMax: number;
  /** Tables found due for longer than the bound, by their metadata. */
  readonly overdueTables: Set<string>;
  viewCheckCount: number;
}

/** Runs the whole fleet in this process, and measures it. */
const service = {
  run: async (seed: number) => {
    const world = openFleetWorld(seed);
    const checks: Checks = { overdueMsMax: 0, overdueTables: new Set(), viewCheckCount: 0 };
    const createdFrom = performance.now();
    const tables: FleetTable[] = [];
    for (const shape of fleetTables())
      tables.push(await FleetTable.create(shape, world.writerPorts));
    const fleet = { world, tables, judge: new FleetJudge(tables, world), checks };
    const createdIn = performance.now() - createdFrom;
    const startMs = world.clock.nowMs();
    const cpuSecondsBefore = cpuSeconds();
    const from = performance.now();
    const commitCount = await writeToFleet(fleet, startMs);
    const windowSeconds = (performance.now() - from) / 1000;
    const quietAtMs = await runUntilQuiet(fleet);
    return {
      tableCount: tables.length,
      commitCount,
      createSeconds: createdIn / 1000,
      windowSeconds,
      wallSeconds: (performance.now() - from) / 1000,
      cpuSeconds: cpuSeconds() - cpuSecondsBefore,
      peakRssMb: peakRssMb(),
      virtualHours: (quietAtMs - startMs) / (60 * MINUTE_MS),
      largeMetadataBytes: tables.find(({ shape }) => shape.isLarge)?.metadataBytes ?? 0,
      smallMetadataBytes: tables.find(({ shape }) => !shape.isLarge)?.metadataBytes ?? 0,
      overdueMsMax: checks.overdueMsMax,
      overdueTables: [...checks.overdueTables],
      viewCheckCount: checks.viewCheckCount,
      ...(await stateOf(fleet)),
    };
  },
};

export type FleetService = typeof service;
serve(service);

async function writeToFleet(fleet: Fleet, startMs: number): Promise<number> {
  const { world, tables } = fleet;
  const from = performance.now();
  const commits = fleetCommits(
    tables.map(({ shape }) => shape),
    seededRandom(7),
  );
  const happenings: Happening[] = [
    ...commits.map(({ tableIndex, atMs }) => ({
      atMs: startMs + atMs,
      happen: () => tables[tableIndex]!.commit(),
    })),
    ...checksFrom(startMs, startMs + FLEET_WINDOW_MS, fleet),
    ...Array.from({ length: FLEET_WINDOW_MS / PROGRESS_MS }, (_, index) => ({
      atMs: startMs + (index + 1) * PROGRESS_MS,
      happen: async () => {
        const seconds = Math.round((performance.now() - from) / 1000);
        print(`  ${((index + 1) * PROGRESS_MS) / MINUTE_MS} minutes of commits in ${seconds} s`);
      },
    })),
  ].sort((one, other) => one.atMs - other.atMs);
  await driveUntil(world, happenings.values(), startMs + FLEET_WINDOW_MS);
  return commits.length;
}

/** Until the ledger knows of nothing that is due, now or later, and no message is left. */
async function runUntilQuiet(fleet: Fleet): Promise<number> {
  const { world } = fleet;
  const endMs = world.clock.nowMs() + QUIET_MS_MAX;
  for (;;) {
    const nowMs = world.clock.nowMs();
    const { visible, hidden } = world.firn.rewriteQueue.counts();
    if ((await markedCount(world)) === 0 && visible + hidden === 0) return nowMs;
    if (nowMs >= endMs) return nowMs;
    const checks = checksFrom(nowMs, nowMs + VIEW_CHECK_MS, fleet);
    await driveUntil(world, checks.values(), nowMs + VIEW_CHECK_MS);
  }
}

function checksFrom(startMs: number, endMs: number, fleet: Fleet): readonly Happening[] {
  const { world, judge, checks } = fleet;
  const happenings: Happening[] = [];
  for (let atMs = startMs + MARK_CHECK_MS; atMs <= endMs; atMs += MARK_CHECK_MS) {
    happenings.push({
      atMs,
      happen: async () => {
        checks.overdueMsMax = Math.max(checks.overdueMsMax, await markedOverdueMs(world));
      },
    });
  }
  for (let atMs = startMs + VIEW_CHECK_MS; atMs <= endMs; atMs += VIEW_CHECK_MS) {
    happenings.push({
      atMs,
      happen: async () => {
        checks.viewCheckCount++;
        const due = await judge.dueSince(atMs - FLEET_OVERDUE_MS_MAX);
        for (const table of due) checks.overdueTables.add(table);
      },
    });
  }
  return happenings.sort((one, other) => one.atMs - other.atMs);
}

/** What the fleet looks like at the end, and what was seen on the way. */
async function stateOf({ world, tables, judge }: Fleet) {
  const { watch, meter, firn, clock, invocations, logCounts, complaints } = world;
  const { rewriteQueue, eventDeadLetters } = firn;
  const hotTables = new Set(
    tables
      .filter(({ shape }) => HOT_TIERS.has(shape.tier.name))
      .map(({ identifier }) => formatTableIdentifier(identifier)),
  );
  return {
    dueTables: await judge.dueSince(clock.nowMs()),
    markedCount: await markedCount(world),
    unseenCount: await unseenCount(tables, world),
    pendingTables: [...watch.pending.keys()],
    messageCount: rewriteQueue.counts().visible + rewriteQueue.counts().hidden,
    deadLetterCount: rewriteQueue.counts().deadLetters + eventDeadLetters.counts().deadLetters,
    leases: countsOf(watch.leases),
    runs: countsOf(watch.runs),
    hastyReadCount: watch.hastyReadCount,
    simultaneousReadCount: watch.simultaneousReadCount,
    waits: watch.waits.map(({ table, ...wait }) => ({ ...wait, isHot: hotTables.has(table) })),
    usage: Object.fromEntries(meter.usage),
    invocations,
    logCounts: Object.fromEntries([...logCounts].sort()),
    complaints,
  };
}

function countsOf({ beganCount, openCount, openOfOneMax, openMax }: FleetWorld['watch']['runs']) {
  return { beganCount, openCount, openOfOneMax, openMax };
}

async function unseenCount(
  tables: readonly FleetTable[],
  { ledger }: Pick<FleetWorld, 'ledger'>,
): Promise<number> {
  let count = 0;
  for (const { identifier } of tables) {
    if ((await ledger.states.read(formatTableIdentifier(identifier))) === undefined) count++;
  }
  return count;
}
