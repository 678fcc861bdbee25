import type { FirnRun } from './actors/firn.ts';
import type { Crash } from './faults.ts';
import { type Case, FIRST_RUN, quietScript, SECOND_RUN } from './quiet-script.ts';
import { simulate } from './simulate.ts';

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
): AsyncGenerator<Case> {
  for (const { formatVersion, seed } of TABLES) {
    const script = quietScript(seed, formatVersion);
    const calm = await simulate(script, options);
    yield { label: `v${formatVersion}, no crash`, outcome: calm };
    const turnCount = calm.turnCountByActor.get(FIRST_RUN.name) ?? 0;
    for (let turn = 0; turn < turnCount; turn++) {
      for (const underWay of ['lost', 'late'] as const) {
        for (const delayMs of DELAYS_MS[underWay]) {
          const crash: Crash = { actor: FIRST_RUN.name, turn, underWay };
          const actors = [FIRST_RUN, { ...SECOND_RUN, delayMs }];
          const outcome = await simulate({ ...script, actors, crashes: [crash] }, options);
          const label = `v${formatVersion}, turn ${turn} of ${turnCount}, requests ${underWay}, next run after ${delayMs} ms`;
          yield { label, outcome };
        }
      }
    }
  }
}
