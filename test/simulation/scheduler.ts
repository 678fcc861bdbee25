import { setImmediate as macrotask } from 'node:timers/promises';
import type { ManualClock } from '../../shared/base/index.ts';
import { type Crash, crashName } from './faults.ts';

/** One actor of a simulation: a chain of calls that take turns with those of the others. */
export interface Actor {
  readonly name: string;
  /** Turns taken so far. */
  turnCount: number;
  state: 'running' | 'ended' | 'crashed';
}

/** A call at one of its two points, or a sleep. */
interface Waiting {
  readonly actor: Actor;
  readonly label: string;
  /** `effect`: the request arrives; `answer`: what came of it is seen; `wake`: time has passed. */
  readonly point: 'effect' | 'answer' | 'wake';
  /** Not before this time. */
  readonly dueMs?: number;
  readonly go: () => void;
}

/** Which of the actors that could go on goes on: one name for each turn. */
export interface TurnChooser {
  choose(names: readonly string[], turn: number): string;
  /** Whether to let time pass although somebody could go on at once. */
  skipsTime(turn: number): boolean;
}

export interface SchedulerOptions {
  readonly clock: ManualClock;
  readonly chooser: TurnChooser;
  readonly crashes: readonly Crash[];
  /** Runs after each turn, when everybody waits. */
  readonly afterTurn: () => Promise<void>;
  readonly log: (line: string) => void;
  readonly onCrash: (actor: string, name: string) => void;
}

/** A call takes this long, so that time passes even if nobody sleeps. */
const TURN_MS = 3;

/** How long all who could go on may take at most until somebody wakes. */
const SKIP_MS_MAX = 10_000;

/** Far beyond what any scenario needs: more means that somebody goes round in circles. */
const TURNS_MAX = 50_000;

/**
 * Runs actors one turn at a time. Every call of a port waits twice: until its effect takes place, and until its
 * answer is seen. In between anybody else may go on, so that whatever two processes can do to each other by way of
 * the ports can happen here; within a turn nothing but plain computing happens, which is why a seed replays.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #crashes: Map<string, Crash>;
  readonly #actors: Actor[] = [];
  #waiting: Waiting[] = [];
  #turn = 0;
  #failure: { readonly actor: string; readonly error: unknown } | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#crashes = new Map(options.crashes.map((crash) => [crash.actor, crash]));
  }

  /** Begins an actor; it goes as far as its first call. What it throws ends the simulation. */
  spawn(name: string, body: (actor: Actor) => Promise<void>): void {
    const actor: Actor = { name, turnCount: 0, state: 'running' };
    this.#actors.push(actor);
    const end = async (): Promise<void> => {
      try {
        await body(actor);
      } catch (error) {
        this.#failure ??= { actor: name, error };
      }
      if (actor.state === 'running') actor.state = 'ended';
    };
    void end();
  }

  /** A call: `effect` takes place in one turn and its outcome arrives in another. */
  call<Answer>(actor: Actor, label: string, effect: () => Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answer = (said: string, give: () => void): void => {
        if (actor.state === 'crashed') return;
        this.#wait({ actor, label: `${label} ${said}`, point: 'answer', go: give });
      };
      const go = (): void => {
        effect().then(
          (value) => answer('ok', () => resolve(value)),
          (error: unknown) => answer(describe(error), () => reject(error)),
        );
      };
      this.#wait({ actor, label, point: 'effect', go });
    });
  }

  sleep(actor: Actor, durationMs: number): Promise<void> {
    const dueMs = this.#options.clock.nowMs() + durationMs;
    return new Promise((resolve) => {
      this.#wait({ actor, label: `slept ${durationMs} ms`, point: 'wake', dueMs, go: resolve });
    });
  }

  /** Something that happens by itself at some time from now on. */
  later(label: string, delayMs: number, happen: () => void): void {
    const actor: Actor = { name: 'network', turnCount: 0, state: 'ended' };
    const dueMs = this.#options.clock.nowMs() + delayMs;
    this.#wait({ actor, label, point: 'effect', dueMs, go: happen });
  }

  /** From now on nobody crashes. */
  endCrashes(): void {
    this.#crashes.clear();
  }

  /** How many turns each actor took. */
  turnCounts(): ReadonlyMap<string, number> {
    return new Map(this.#actors.map(({ name, turnCount }) => [name, turnCount]));
  }

  /**
   * Takes turns until nobody waits any more.
   *
   * @throws whatever an actor threw; TypeError when an actor neither ended nor waits, or when there is no end
   */
  async run(): Promise<void> {
    for (; ; this.#turn++) {
      // Promises are settled before the next macrotask: then every actor waits or has ended.
      await macrotask();
      if (this.#failure !== undefined) throw this.#failure.error;
      await this.#options.afterTurn();
      const next = this.#next();
      if (next === undefined) break;
      if (this.#turn >= TURNS_MAX)
        throw new TypeError(`scheduler: no end after ${TURNS_MAX} turns`);
      this.#take(next);
    }
    const stuck = this.#actors.find(({ state }) => state === 'running');
    if (stuck !== undefined) throw new TypeError(`scheduler: ${stuck.name} waits for nothing`);
  }

  #wait(waiting: Waiting): void {
    if (waiting.actor.state !== 'crashed') this.#waiting.push(waiting);
  }

  #next(): Waiting | undefined {
    const nowMs = this.#options.clock.nowMs();
    const sleeping = this.#waiting.filter(({ dueMs }) => dueMs !== undefined && dueMs > nowMs);
    const ready = this.#waiting.filter((waiting) => !sleeping.includes(waiting));
    const first = sleeping.reduce<Waiting | undefined>(
      (soonest, other) =>
        soonest === undefined || other.dueMs! < soonest.dueMs! ? other : soonest,
      undefined,
    );
    if (first !== undefined && (ready.length === 0 || this.#isSkipped(first, nowMs))) return first;
    const names = [...new Set(ready.map(({ actor }) => actor.name))];
    if (names.length === 0) return undefined;
    const name = this.#options.chooser.choose(names, this.#turn);
    return ready.find(({ actor }) => actor.name === name);
  }

  /** Everybody else is slow for as long; a stall of minutes is a fault of its own. */
  #isSkipped({ dueMs = 0 }: Waiting, nowMs: number): boolean {
    return dueMs - nowMs <= SKIP_MS_MAX && this.#options.chooser.skipsTime(this.#turn);
  }

  #take(waiting: Waiting): void {
    const { actor, label, point, dueMs, go } = waiting;
    const { clock, log } = this.#options;
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    clock.advanceMs(Math.max(TURN_MS, (dueMs ?? 0) - clock.nowMs()));
    const crash = this.#crashes.get(actor.name);
    if (actor.state === 'running' && crash?.turn === actor.turnCount) {
      this.#crash(waiting, crash);
      return;
    }
    actor.turnCount++;
    log(`${actor.name} ${point === 'effect' ? '->' : '<-'} ${label}`);
    go();
  }

  /** The actor never goes on; what it had sent is lost, or arrives when nobody waits for the answer. */
  #crash(current: Waiting, crash: Crash): void {
    const { actor } = current;
    actor.state = 'crashed';
    this.#options.log(`${actor.name} crashes at ${current.point} of ${current.label}`);
    this.#options.onCrash(actor.name, crashName(crash));
    const held = [current, ...this.#waiting.filter((waiting) => waiting.actor === actor)];
    this.#waiting = this.#waiting.filter((waiting) => waiting.actor !== actor);
    if (crash.underWay === 'lost') return;
    for (const { label, point, go } of held) {
      if (point === 'effect') this.later(`late ${label} of ${actor.name}`, LATE_MS, go);
    }
  }
}

/** How long what a crashed actor had sent is under way. */
const LATE_MS = 5000;

function describe(error: unknown): string {
  if (error instanceof Error && 'kind' in error) return String(error.kind);
  return String(error);
}
