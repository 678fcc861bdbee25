import type { FirnRun } from './actors/firn.ts';
import type { Checker, FirnCommit } from './checker.ts';
import type { Script } from './script.ts';
import type { World } from './world.ts';

/** One simulation under way, as the end of a scenario sees it. */
export interface Stage {
  readonly world: World;
  /** Of the first table. */
  readonly checker: Checker;
  /** Of each table, by its number. */
  readonly checkers: readonly Checker[];
  /** The job that runs in the actors of kind `firn`. */
  readonly firn: FirnRun;
}

/** A family of simulations; `scenarios.ts` has them by name. */
export type Scenario = {
  /** What a seed stands for. */
  readonly scriptOf: (seed: number) => Script;
  readonly firn: FirnRun;
  /** What must hold of each commit of Firn besides what holds everywhere. @throws Violation */
  readonly checkCommit?: (commit: FirnCommit) => Promise<void>;
  /** Names of counts: what should happen in a few hundred seeds, or they show less than it seems. */
  readonly expected: readonly string[];
} & (
  | {
      /** When all actors have ended: Firn's last runs, without faults, and what must hold then. @throws Violation */
      readonly end: (stage: Stage) => Promise<void>;
    }
  | {
      /** When all actors have begun: everything until the end, for scenarios that have more at work. @throws Violation */
      readonly play: (stage: Stage) => Promise<void>;
    }
);
