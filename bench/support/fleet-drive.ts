import type { FleetWorld } from './fleet-world.ts';

/** Something that happens at a time, besides Firn. */
export interface Happening {
  readonly atMs: number;
  readonly happen: () => Promise<void>;
}

/** Lets time pass until `untilMs`: what is due happens when it is due, in the order of time. What is under way then goes on later. */
export async function driveUntil(
  { clock, firn }: Pick<FleetWorld, 'clock' | 'firn'>,
  happenings: Iterator<Happening>,
  untilMs: number,
): Promise<void> {
  let next = happenings.next();
  for (;;) {
    if (await clock.takeTurn(() => firn.host.dispatch() > 0)) continue;
    if (await clock.wakeOne()) continue;
    while (next.done !== true && next.value.atMs <= clock.nowMs()) {
      await next.value.happen();
      next = happenings.next();
    }
    if (clock.nowMs() >= untilMs) return;
    const times = [
      untilMs,
      clock.nextWakeMs(),
      firn.host.nextDueAtMs(),
      next.done === true ? undefined : next.value.atMs,
    ];
    clock.jumpTo(earliestAfter(clock.nowMs(), times));
  }
}

/** What is due and has not begun waits for capacity: it goes on when somebody wakes. */
function earliestAfter(nowMs: number, times: readonly (number | undefined)[]): number {
  return Math.min(...times.filter((time) => time !== undefined && time > nowMs).map(Number));
}
