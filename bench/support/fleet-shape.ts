import { type Random, randomFraction } from '../../shared/base/index.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long the fleet is written to. */
export const FLEET_WINDOW_MS = 120 * MINUTE_MS;

/** Tables that are committed to at one rhythm. */
export interface FleetTier {
  readonly name: string;
  readonly tableCount: number;
  /** Of each table, in the window; evenly spread, with chance within its share of it. */
  readonly commitCount: number;
  /** Before the window; what the age of files follows from. */
  readonly gapBeforeMs: number;
}

/** Few tables take most of the commits, and two thirds of the tables have one. */
export const FLEET_TIERS: readonly FleetTier[] = [
  { name: 'each 10 s', tableCount: 10, commitCount: 720, gapBeforeMs: 10 * SECOND_MS },
  { name: 'each minute', tableCount: 60, commitCount: 120, gapBeforeMs: MINUTE_MS },
  { name: 'each 5 min', tableCount: 190, commitCount: 24, gapBeforeMs: 5 * MINUTE_MS },
  { name: 'each 30 min', tableCount: 100, commitCount: 4, gapBeforeMs: 30 * MINUTE_MS },
  { name: 'once', tableCount: 640, commitCount: 1, gapBeforeMs: DAY_MS },
];

/** What counts as hot; the others are cold. */
export const HOT_TIERS: ReadonlySet<string> = new Set(['each 10 s', 'each minute']);

/** One table in so many has large metadata. */
const LARGE_EVERY = 20;

/** Snapshots that a table has at the start; a large one is a stream of four days that nobody expires. */
const SNAPSHOT_COUNT = 30;
const LARGE_SNAPSHOT_COUNT = 6_000;

export interface FleetTableShape {
  readonly name: string;
  readonly tier: FleetTier;
  readonly isLarge: boolean;
  readonly snapshotCount: number;
}

export function fleetTables(): readonly FleetTableShape[] {
  const tiers = FLEET_TIERS.flatMap((tier) =>
    Array.from({ length: tier.tableCount }, (): FleetTier => tier),
  );
  return tiers.map((tier, index) => {
    const isLarge = index % LARGE_EVERY === LARGE_EVERY - 1;
    return {
      name: `table_${String(index).padStart(4, '0')}`,
      tier,
      isLarge,
      snapshotCount: isLarge ? LARGE_SNAPSHOT_COUNT : SNAPSHOT_COUNT,
    };
  });
}

export interface FleetCommit {
  readonly tableIndex: number;
  /** From the start of the window. */
  readonly atMs: number;
}

/** All commits of the window, the earliest first. */
export function fleetCommits(
  tables: readonly FleetTableShape[],
  random: Random,
): readonly FleetCommit[] {
  const commits = tables.flatMap(({ tier }, tableIndex) =>
    Array.from({ length: tier.commitCount }, (_, commit): FleetCommit => {
      const share = (commit + randomFraction(random)) / tier.commitCount;
      return { tableIndex, atMs: Math.floor(share * FLEET_WINDOW_MS) };
    }),
  );
  return commits.sort((one, other) => one.atMs - other.atMs);
}
