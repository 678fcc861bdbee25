import { actorContext } from '../actors/actor-context.ts';
import { FIRN_OPTIONS, runFirn } from '../actors/firn.ts';
import { checkTombstones } from '../check-tombstones.ts';
import { FAULT_NAMES } from '../faults.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { claim } from '../violation.ts';
import { LAST_RUN, LAST_SCRIPT } from '../world.ts';
import { commitsScript } from './commits-script.ts';

/** Firn compacts and commits while others do all that writers do. */
export const COMMITS: Scenario = {
  scriptOf: commitsScript,
  firn: runFirn,
  end: async (stage) => {
    await converge(stage);
    await stage.checker.checkAll();
    // Those in its place keep no ledger.
    if (stage.firn === runFirn) await checkTombstones(stage);
  },
  expected: ['commits by firn', ...FAULT_NAMES.map((name) => `fault ${name}`)],
};

/** Longer than a lease, by clocks that differ. */
const LEASES_OVER_MS = 10 * 60_000;

/** Runs in a row in which groups can grow together. */
const LAST_RUNS_MAX = 6;

const NOTHING_DUE: readonly string[] = ['nothing-planned', 'no-snapshot'];

/** Without faults and without others, Firn comes to an end: nothing is due any more. */
async function converge({ world, checker, firn }: Stage): Promise<void> {
  if (world.pointer.metadataLocation === undefined) return;
  const said: string[] = [];
  world.scheduler.spawn(LAST_RUN, async (actor) => {
    const { ports } = actorContext(LAST_SCRIPT, actor, world);
    // Whoever crashed has the lease until it expires.
    await ports.clock.sleepMs(LEASES_OVER_MS);
    while (said.length < LAST_RUNS_MAX && !NOTHING_DUE.includes(said.at(-1) ?? '')) {
      const last = await firn(ports, FIRN_OPTIONS);
      said.push(last.ended === 'well' ? last.outcome : last.kind);
    }
  });
  await world.scheduler.run();
  await checker.check();
  claim(NOTHING_DUE.includes(said.at(-1) ?? ''), 'Firn comes to an end', () => said.join(', '));
}
