import { assert, type Clock } from '../../shared/base/index.ts';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/**
 * A clock on which sleepers really wait, until its owner lets time jump to the next of them. Whoever falls asleep has
 * worked since the turn began, and wakes later by as much: so what happens takes its processor time as well as the
 * time of its requests, as if each had a processor of its own.
 */
export class EventClock implements Clock {
  #nowMs: number;
  #turnStartMs = threadCpuMs();
  /** A heap: no sleeper wakes before the one at half its index. */
  readonly #sleepers: Sleeper[] = [];

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  sleepMs(durationMs: number): Promise<void> {
    const workedMs = Math.round(threadCpuMs() - this.#turnStartMs);
    return new Promise((wake) => {
      this.#push({ wakeAtMs: this.#nowMs + durationMs + workedMs, wake });
    });
  }

  /** When the first sleeper wakes; undefined when nobody sleeps. */
  nextWakeMs(): number | undefined {
    return this.#sleepers[0]?.wakeAtMs;
  }

  /** Lets time pass; nobody may sleep for less. */
  jumpTo(nowMs: number): void {
    assert(nowMs >= this.#nowMs, `clock: ${nowMs} is before ${this.#nowMs}`);
    this.#nowMs = nowMs;
  }

  /** Wakes the first of those who have slept long enough, in a turn of its own; false when there is none. */
  wakeOne(): Promise<boolean> {
    return this.takeTurn(() => {
      const first = this.#sleepers[0];
      if (first === undefined || first.wakeAtMs > this.#nowMs) return false;
      this.#removeFirst();
      first.wake();
      return true;
    });
  }

  /** Lets something begin, and if it has, everything that follows from it until all of it sleeps. */
  async takeTurn(begin: () => boolean): Promise<boolean> {
    this.#turnStartMs = threadCpuMs();
    if (!begin()) return false;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    return true;
  }

  #push(sleeper: Sleeper): void {
    const heap = this.#sleepers;
    let index = heap.push(sleeper) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (heap[parent]!.wakeAtMs <= sleeper.wakeAtMs) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = sleeper;
  }

  #removeFirst(): void {
    const heap = this.#sleepers;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.wakeAtMs < heap[child]!.wakeAtMs) child++;
      if (last.wakeAtMs <= heap[child]!.wakeAtMs) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}

/** Processor time of this thread: what other processes and threads take is not in it. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
