import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../shared/base/index.ts';
import { scriptedChooser, TIME, type Turns } from './choosers.ts';
import type { Crash } from './faults.ts';
import { Scheduler } from './scheduler.ts';

function createScheduler(turns: Turns, crashes: readonly Crash[] = []) {
  const clock = new ManualClock(0);
  const log: string[] = [];
  const scheduler = new Scheduler({
    clock,
    chooser: scriptedChooser(turns),
    crashes,
    afterTurn: async () => {},
    log: (line) => log.push(line),
    onCrash: () => {},
  });
  return { clock, log, scheduler };
}

/** Spawns an actor that makes one call, which sets a flag of its name. */
function spawnCaller(scheduler: Scheduler, name: string, effects: string[]): void {
  scheduler.spawn(name, (actor) =>
    scheduler.call(actor, 'call', async () => {
      effects.push(name);
    }),
  );
}

describe('Scheduler', () => {
  it('lets others go on between the effect of a call and its answer', async () => {
    const { log, scheduler } = createScheduler(['a', 'b', 'b', 'a']);
    const effects: string[] = [];
    spawnCaller(scheduler, 'a', effects);
    spawnCaller(scheduler, 'b', effects);

    await scheduler.run();

    assert.deepEqual(log, ['a -> call', 'b -> call', 'b <- call ok', 'a <- call ok']);
    assert.deepEqual(effects, ['a', 'b']);
  });

  it('lets time pass only to the next one who sleeps when nobody else can go on', async () => {
    const { clock, log, scheduler } = createScheduler([]);
    for (const durationMs of [500, 200]) {
      scheduler.spawn(`sleeper-${durationMs}`, (actor) => scheduler.sleep(actor, durationMs));
    }

    await scheduler.run();

    assert.deepEqual(log, ['sleeper-200 <- slept 200 ms', 'sleeper-500 <- slept 500 ms']);
    assert.equal(clock.nowMs(), 500);
  });

  it('lets seconds pass although somebody could go on, when the schedule says so', async () => {
    const { log, scheduler } = createScheduler([TIME]);
    scheduler.spawn('sleeper', (actor) => scheduler.sleep(actor, 10_000));
    spawnCaller(scheduler, 'a', []);

    await scheduler.run();

    assert.equal(log[0], 'sleeper <- slept 10000 ms');
  });

  it('never lets minutes pass while somebody could go on', async () => {
    const { log, scheduler } = createScheduler([TIME]);
    scheduler.spawn('sleeper', (actor) => scheduler.sleep(actor, 60_000));
    spawnCaller(scheduler, 'a', []);

    await scheduler.run();

    assert.deepEqual(log, ['a -> call', 'a <- call ok', 'sleeper <- slept 60000 ms']);
  });

  it('never answers an actor that crashed, and loses what it had sent', async () => {
    const crash: Crash = { actor: 'a', turn: 0, underWay: 'lost' };
    const { log, scheduler } = createScheduler([], [crash]);
    const effects: string[] = [];
    spawnCaller(scheduler, 'a', effects);

    await scheduler.run();

    assert.deepEqual(log, ['a crashes at effect of call']);
    assert.deepEqual(effects, []);
  });

  it('delivers what a crashed actor had sent when it is late', async () => {
    const crash: Crash = { actor: 'a', turn: 0, underWay: 'late' };
    const { log, scheduler } = createScheduler([], [crash]);
    const effects: string[] = [];
    spawnCaller(scheduler, 'a', effects);

    await scheduler.run();

    assert.deepEqual(log, ['a crashes at effect of call', 'network -> late call of a']);
    assert.deepEqual(effects, ['a']);
  });

  it('lets a crash between effect and answer keep the effect', async () => {
    const crash: Crash = { actor: 'a', turn: 1, underWay: 'lost' };
    const { log, scheduler } = createScheduler([], [crash]);
    const effects: string[] = [];
    spawnCaller(scheduler, 'a', effects);

    await scheduler.run();

    assert.deepEqual(log, ['a -> call', 'a crashes at answer of call ok']);
    assert.deepEqual(effects, ['a']);
  });

  it('throws what an actor throws', async () => {
    const { scheduler } = createScheduler([]);
    scheduler.spawn('a', async () => {
      throw new RangeError('no');
    });

    await assert.rejects(scheduler.run(), RangeError);
  });

  it('throws when an actor waits for something that is no call', async () => {
    const { scheduler } = createScheduler([]);
    scheduler.spawn('a', () => new Promise(() => {}));

    await assert.rejects(scheduler.run(), /a waits for nothing/);
  });
});
