import type { FirnRun } from './actors/firn.ts';
import { scriptedChooser, type Turns } from './choosers.ts';
import type { Scenario } from './scenario.ts';
import type { Script } from './script.ts';
import { type SimulationOutcome, simulate } from './simulate.ts';

/** A schedule that fails, and how. */
export interface FailingSchedule {
  readonly script: Script;
  readonly turns: Turns;
  readonly outcome: SimulationOutcome;
}

export interface ShrinkOptions {
  readonly scenario?: Scenario;
  readonly firn?: FirnRun;
  /** Simulations that shrinking may cost. */
  readonly triesMax?: number;
}

const TRIES_MAX_DEFAULT = 250;

/**
 * Takes actors, faults, crashes and turns away for as long as the same claim still fails, and returns the smallest
 * schedule that it found. Turns that cannot be taken any more are skipped.
 */
export async function shrink(
  failing: FailingSchedule,
  options: ShrinkOptions = {},
): Promise<FailingSchedule> {
  const shrinking = new Shrinking(failing, options);
  let sizeBefore = Number.POSITIVE_INFINITY;
  while (shrinking.size < sizeBefore && shrinking.hasTriesLeft) {
    sizeBefore = shrinking.size;
    await shrinking.dropParts('actors');
    await shrinking.dropParts('crashes');
    await shrinking.dropParts('faults');
    await shrinking.dropTasks();
    await shrinking.dropTurns();
  }
  return shrinking.smallest;
}

class Shrinking {
  smallest: FailingSchedule;
  readonly #options: ShrinkOptions;
  #tryCount = 0;

  constructor(failing: FailingSchedule, options: ShrinkOptions) {
    this.smallest = failing;
    this.#options = options;
  }

  get hasTriesLeft(): boolean {
    return this.#tryCount < (this.#options.triesMax ?? TRIES_MAX_DEFAULT);
  }

  get size(): number {
    const { script, turns } = this.smallest;
    const { actors, faults, crashes } = script;
    const taskCount = actors.reduce((sum, actor) => sum + actor.taskCount, 0);
    return taskCount + actors.length + faults.length + crashes.length + turns.length;
  }

  async dropParts(key: 'actors' | 'faults' | 'crashes'): Promise<void> {
    for (let index = this.smallest.script[key].length - 1; index >= 0; index--) {
      const { script, turns } = this.smallest;
      await this.#try({ ...script, [key]: script[key].toSpliced(index, 1) }, turns);
    }
  }

  async dropTasks(): Promise<void> {
    for (let index = 0; index < this.smallest.script.actors.length; index++) {
      let isSmaller = true;
      while (isSmaller && this.smallest.script.actors[index]!.taskCount > 1) {
        const { script, turns } = this.smallest;
        const actor = script.actors[index]!;
        const fewer = { ...actor, taskCount: actor.taskCount - 1 };
        isSmaller = await this.#try({ ...script, actors: script.actors.with(index, fewer) }, turns);
      }
    }
  }

  /** Ever smaller pieces of the schedule. */
  async dropTurns(): Promise<void> {
    const pieceMin = 4;
    for (let piece = Math.ceil(this.smallest.turns.length / 2); piece >= pieceMin; piece >>= 1) {
      for (let start = 0; start < this.smallest.turns.length && this.hasTriesLeft; ) {
        const { script, turns } = this.smallest;
        const isSmaller = await this.#try(script, turns.toSpliced(start, piece));
        if (!isSmaller) start += piece;
      }
    }
  }

  async #try(script: Script, turns: Turns): Promise<boolean> {
    if (!this.hasTriesLeft) return false;
    this.#tryCount++;
    const outcome = await simulate(script, { ...this.#options, chooser: scriptedChooser(turns) });
    if (outcome.failure?.claim !== this.smallest.outcome.failure?.claim) return false;
    this.smallest = { script, turns, outcome };
    return true;
  }
}
