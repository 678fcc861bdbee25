import { runFirn } from '../actors/firn.ts';
import { checkGain } from '../events/check-commit.ts';
import { checkHealth, checkLetters, comeToRest, stayAtRest } from '../events/come-to-rest.ts';
import { EventCloud } from '../events/event-cloud.ts';
import type { Scenario } from '../scenario.ts';
import { eventsScript } from './events-script.ts';

/**
 * The deployed functions at work on several tables: records and messages are lost, doubled, late and out of order,
 * invocations crash, sweeps are left out. When nothing goes wrong any more, every table comes to rest, is as good as it can
 * be, and is left alone.
 */
export const EVENTS: Scenario = {
  scriptOf: eventsScript,
  firn: runFirn,
  checkCommit: checkGain,
  play: async (stage) => {
    const { events } = stage.world.script;
    if (events === undefined) throw new TypeError('events: the script has no functions');
    const cloud = new EventCloud(stage, events);
    cloud.ringFromOutside();
    await cloud.runForMs(events.faultsMs);
    cloud.calmDown();
    await comeToRest(cloud, stage);
    await stayAtRest(cloud, stage);
    checkLetters(cloud, stage);
    await checkHealth(cloud, stage);
  },
  expected: [],
};
