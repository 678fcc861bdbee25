import type { QueueFaults, SendFault } from '../../../shared/queue/index.ts';
import { chanceOf } from '../chance.ts';
import type { World } from '../world.ts';
import type { QueueWeather } from './events-script.ts';

/** What goes wrong with messages, and with requests of the queue, as long as anything does. */
export function queueFaults(
  world: World,
  { lossFraction, duplicateFraction, delayFraction, delayMsMax, failureFraction }: QueueWeather,
): QueueFaults {
  const chance = chanceOf(world.script.seed, 'queue');
  const happens = (fraction: number, what: string): boolean => {
    if (world.isCalm || !chance.is(fraction)) return false;
    world.count(`fault message ${what}`);
    return true;
  };
  return {
    onSend(): SendFault | undefined {
      if (happens(lossFraction, 'lost')) return 'vanished';
      if (happens(duplicateFraction, 'doubled')) return 'doubled';
      if (happens(failureFraction, 'turned away')) return 'throttled';
      if (happens(failureFraction, 'sent without an answer')) return 'answer-lost';
      return happens(delayFraction, 'late') ? { delayMs: chance.below(delayMsMax) } : undefined;
    },
    // A copy of a copy of a copy would become a letter for being received too often.
    onDelivery: ({ receiveCount }) =>
      receiveCount === 1 && happens(duplicateFraction, 'delivered twice') ? 'doubled' : undefined,
    onExtend: () => (happens(failureFraction, 'not hidden') ? 'unavailable' : undefined),
    onDeadLetter: () => (happens(failureFraction, 'not buried') ? 'unavailable' : undefined),
  };
}
