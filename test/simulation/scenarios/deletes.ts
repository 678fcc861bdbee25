import { actorContext } from '../actors/actor-context.ts';
import { checkTombstones } from '../check-tombstones.ts';
import { FAULT_NAMES } from '../faults.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { claim } from '../violation.ts';
import { LAST_RUN, LAST_SCRIPT } from '../world.ts';
import { checkDeletes, checkNothingLeft } from './deletes-checks.ts';
import { LAST_RUNS, runCompactionOrDeletes } from './deletes-firn.ts';
import { deletesScript } from './deletes-script.ts';

const REMOVED = [
  'vectors',
  'position deletes of one file',
  'position deletes of several files',
  'equality deletes of a partition',
  'global equality deletes',
] as const;

/**
 * Firn compacts and rewrites deletes while others delete in all ways that there are: by vector, position and key, as
 * part of updates, and backwards; on tables that change their spec or version meanwhile.
 */
export const DELETES: Scenario = {
  scriptOf: deletesScript,
  firn: runCompactionOrDeletes,
  checkCommit: checkDeletes,
  end: async (stage) => {
    await converge(stage);
    await stage.checker.checkAll();
    // Those in its place keep no ledger.
    if (stage.firn === runCompactionOrDeletes) await checkTombstones(stage);
  },
  expected: [
    'commits by firn',
    ...FAULT_NAMES.map((name) => `fault ${name}`),
    'upgrades to v3 in the middle',
    'vectors replaced by larger ones',
    'compactions that purged rows',
    ...['v2', 'v3'].flatMap((version) => [
      `compactions that carried rows along, ${version}`,
      `compactions that carried new deletes over, ${version}`,
      `rewrite-deletes added deletes, ${version}`,
    ]),
    'compaction with several attempts',
    'rewrite-deletes with several attempts',
    ...['fewer-deletes', 'input-changed', 'input-gone', 'rolled-back'].map(
      (reason) => `groups of compaction dropped: ${reason}`,
    ),
    ...['input-gone', 'new-deletes', 'rolled-back'].map(
      (reason) => `groups of rewrite-deletes dropped: ${reason}`,
    ),
    ...REMOVED.map((kind) => `needed ${kind} removed by rewrite-deletes`),
    'dangling vectors removed by rewrite-deletes',
    'vectors copied out of sparse Puffin files',
  ],
};

/** Longer than a lease, by clocks that differ. */
const LEASES_OVER_MS = 10 * 60_000;

/** One operation may give the other one something to do. */
const LAST_RUNS_MAX = 16;

const NOTHING_DUE: readonly string[] = ['nothing-planned', 'no-snapshot'];

/** Without faults and without others, both operations come to an end, and leave no delete that nothing needs. */
async function converge({ world, checker }: Stage): Promise<void> {
  if (world.pointer.metadataLocation === undefined) return;
  const said: string[] = [];
  const isQuiet = (): boolean =>
    said.length >= LAST_RUNS.length &&
    said.slice(-LAST_RUNS.length).every((outcome) => NOTHING_DUE.includes(outcome));
  world.scheduler.spawn(LAST_RUN, async (actor) => {
    const { ports } = actorContext(LAST_SCRIPT, actor, world);
    // Whoever crashed has the lease until it expires.
    await ports.clock.sleepMs(LEASES_OVER_MS);
    while (said.length < LAST_RUNS_MAX && !isQuiet()) {
      // Either may be the first.
      const last = await LAST_RUNS[(world.script.seed + said.length) % LAST_RUNS.length]!(ports);
      said.push(last.ended === 'well' ? last.outcome : last.kind);
    }
  });
  await world.scheduler.run();
  await checker.check();
  claim(isQuiet(), 'Firn comes to an end', () => said.join(', '));
  const { oracle } = checker;
  await checkNothingLeft(await oracle.document(world.pointer.metadataLocation), oracle);
}
