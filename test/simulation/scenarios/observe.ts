import { actorContext } from '../actors/actor-context.ts';
import { runFirnAsShipped } from '../actors/firn.ts';
import { chanceOf } from '../chance.ts';
import { checkUntouched } from '../check-untouched.ts';
import type { Scenario, Stage } from '../scenario.ts';
import type { Script } from '../script.ts';
import { claim } from '../violation.ts';
import { LAST_RUN, LAST_SCRIPT } from '../world.ts';
import { commitsScript } from './commits-script.ts';

/**
 * Firn as it is shipped, with nothing enabled, among everything that happens in `commits`: it never changes an
 * object of the table or its pointer, and its reports say what it would have done.
 */
export const OBSERVE: Scenario = {
  scriptOf: observeScript,
  firn: runFirnAsShipped,
  end: async (stage) => {
    await observeOnceMore(stage);
    await stage.checker.checkAll();
    await checkUntouched(stage);
  },
  expected: ['reports of an observed plan', 'runs ended observed', 'runs ended nothing-planned'],
};

const HOUR_MS = 60 * 60_000;

/** As shipped, files are left alone for two hours at most, and fewer than five are not worth a rewrite. */
const AGE_MS = 3 * HOUR_MS;
const FILES_MIN = 5;
const FILES_MORE_MAX = 8;

function observeScript(seed: number): Script {
  const script = commitsScript(seed);
  const chance = chanceOf(seed, 'observe');
  const { 'firn.verify': _, ...properties } = script.properties;
  return {
    ...script,
    properties: chance.is(0.2) ? { ...properties, 'firn.enabled': 'false' } : properties,
    fileCount: FILES_MIN + chance.below(FILES_MORE_MAX),
    fileAgeMs: AGE_MS,
  };
}

/** Without faults, and when everything that others wrote is old. */
async function observeOnceMore({ world, checker, firn }: Stage): Promise<void> {
  if (world.pointer.metadataLocation === undefined) return;
  world.scheduler.spawn(LAST_RUN, async (actor) => {
    const { ports } = actorContext(LAST_SCRIPT, actor, world);
    await ports.clock.sleepMs(AGE_MS);
    const said = await firn(ports, {});
    claim(said.ended === 'well', 'a run without faults ends well', () => JSON.stringify(said));
    await checker.heard(LAST_RUN, said);
  });
  await world.scheduler.run();
}
