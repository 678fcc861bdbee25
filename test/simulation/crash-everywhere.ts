import type { FirnRun } from './actors/firn.ts';
import type { Crash } from './faults.ts';
import { type ActorScript, commitsScript, type Script } from './script.ts';
import { type SimulationOutcome, simulate } from './simulate.ts';

/** One compaction that crashes at one of its points, and the run after it. */
export interface CrashCase {
  readonly label: string;
  readonly outcome: SimulationOutcome;
}

/** Versions differ in what a commit writes; the seeds give tables with something to compact. */
const TABLES = [
  { formatVersion: 1, seed: 101 },
  { formatVersion: 2, seed: 102 },
  { formatVersion: 3, seed: 103 },
] as const;

/** Sooner, the one after it finds the lease of the crashed one in its way. */
const AFTER_LEASE_MS = 240_000;

/** So that the one after it begins when what the first had under way has been lost, or has not yet arrived, or has. */
const DELAYS_MS = { lost: [AFTER_LEASE_MS], late: [0, AFTER_LEASE_MS] } as const;

/**
 * Crashes a compaction at every point where it waits, one by one: before a request arrives and before its answer is
 * seen, with requests under way lost or late. A second run begins later, and `simulate` sees to it that the table is
 * right, in the end nothing is due, and what came to nothing is on the tombstone list.
 */
export async function* crashEverywhere(
  options: { readonly firn?: FirnRun } = {},
): AsyncGenerator<CrashCase> {
  for (const { formatVersion, seed } of TABLES) {
    const script = quietScript(seed, formatVersion);
    const calm = await simulate(script, options);
    yield { label: `v${formatVersion}, no crash`, outcome: calm };
    const turnCount = calm.turnCountByActor.get(FIRST.name) ?? 0;
    for (let turn = 0; turn < turnCount; turn++) {
      for (const underWay of ['lost', 'late'] as const) {
        for (const delayMs of DELAYS_MS[underWay]) {
          const crash: Crash = { actor: FIRST.name, turn, underWay };
          const actors = [FIRST, { ...SECOND, delayMs }];
          const outcome = await simulate({ ...script, actors, crashes: [crash] }, options);
          const label = `v${formatVersion}, turn ${turn} of ${turnCount}, requests ${underWay}, next run after ${delayMs} ms`;
          yield { label, outcome };
        }
      }
    }
  }
}

const FIRST: ActorScript = {
  name: 'firn-1',
  kind: 'firn',
  taskCount: 1,
  delayMs: 0,
  skewMs: 0,
};

const SECOND: ActorScript = { ...FIRST, name: 'firn-2' };

/** A table with small files and nobody else at it. */
function quietScript(seed: number, formatVersion: 1 | 2 | 3): Script {
  return {
    ...commitsScript(seed),
    formatVersion,
    isPartitioned: false,
    actors: [FIRST],
    faults: [],
    crashes: [],
    stickiness: 0,
  };
}
