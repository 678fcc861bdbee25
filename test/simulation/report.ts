import type { FailingSchedule } from './shrink.ts';
import type { SimulationOutcome } from './simulate.ts';

type Print = (line: string) => void;

/** What happened in all simulations of a run together. */
export class Totals {
  readonly #counts = new Map<string, number>();
  #turnCount = 0;

  add({ counts, turnCountByActor }: SimulationOutcome): void {
    for (const [what, count] of counts) {
      this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
    }
    for (const count of turnCountByActor.values()) this.#turnCount += count;
  }

  print(print: Print): void {
    print(`${this.#turnCount} turns`);
    for (const [what, count] of [...this.#counts].sort()) {
      print(`${String(count).padStart(8)}  ${what}`);
    }
  }

  /** What should have happened and never did: then the simulation shows less than it seems to. */
  missing(expected: readonly string[]): readonly string[] {
    return expected.filter((what) => !this.#counts.has(what));
  }
}

const LOG_LINES_SHOWN = 40;
const SMALL_LOG_LINES_SHOWN = 200;

/** How a seed of a scenario failed, and how to run it again. */
export function printFailure(
  { scenario, seed }: { readonly scenario: string; readonly seed: number },
  { failure, log }: SimulationOutcome,
  print: Print,
): void {
  print(`\nFAILED seed ${seed}: ${failure?.message}`);
  print(`  again: npm run test:simulation -- --scenario ${scenario} --seed ${seed}`);
  for (const line of log.slice(-LOG_LINES_SHOWN)) print(`  ${line}`);
}

/** The smallest schedule that fails in the same way. */
export function printSmallest({ script, outcome }: FailingSchedule, print: Print): void {
  const { actors, faults, crashes } = script;
  print(`\nsmallest schedule found: v${script.formatVersion}, ${script.fileCount} files`);
  for (const { name, taskCount, cue } of actors) {
    print(`  ${name}: ${taskCount} tasks${cue === undefined ? '' : `, once ${cue}`}`);
  }
  for (const { actor, port, kind, nth } of faults)
    print(`  ${actor}: ${port} ${kind}, call ${nth}`);
  for (const { actor, turn, underWay } of crashes) {
    print(`  ${actor}: crashes at turn ${turn}, requests ${underWay}`);
  }
  print(`  ${outcome.failure?.message}`);
  for (const line of outcome.log.slice(-SMALL_LOG_LINES_SHOWN)) print(`  ${line}`);
}
