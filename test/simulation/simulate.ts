import { TableWriter } from '../../local/table-writer/index.ts';
import { randomUuid } from '../../shared/base/index.ts';
import { actorContext } from './actors/actor-context.ts';
import { chooseOptions, FIRN_OPTIONS, type FirnRun, runFirn } from './actors/firn.ts';
import { runWriter } from './actors/writers.ts';
import { chanceOf, randomOf } from './chance.ts';
import { checkTombstones } from './check-tombstones.ts';
import { Checker, LAST_RUN } from './checker.ts';
import { chanceChooser, type Turns } from './choosers.ts';
import type { TurnChooser } from './scheduler.ts';
import type { ActorScript, Script } from './script.ts';
import { BY_REGION, FIELDS, writeRows } from './table-rows.ts';
import { claim, Violation } from './violation.ts';
import { IDENTIFIER, World } from './world.ts';

/** How one simulation went. */
export interface SimulationOutcome {
  readonly failure: SimulationFailure | undefined;
  readonly log: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  /** Empty where the schedule was given. */
  readonly turns: Turns;
  readonly turnCountByActor: ReadonlyMap<string, number>;
}

export interface SimulationFailure {
  /** The claim that does not hold, or what went wrong otherwise. */
  readonly claim: string;
  readonly message: string;
}

export interface SimulateOptions {
  /** In place of the one that the script's seed gives. */
  readonly chooser?: TurnChooser;
  /** In place of the real one, to see that a wrong one is caught. */
  readonly firn?: FirnRun;
}

/** Runs a script to its end, or until a claim does not hold. */
export async function simulate(
  script: Script,
  { chooser, firn = runFirn }: SimulateOptions = {},
): Promise<SimulationOutcome> {
  const recording = chanceChooser(script.seed, script.stickiness);
  const world = new World(script, chooser ?? recording, () => checker.check());
  const checker = new Checker(world);
  let failure: SimulationFailure | undefined;
  try {
    await createTable(world);
    for (const actorScript of script.actors) spawn(actorScript, { world, checker, firn });
    await world.scheduler.run();
    await converge({ world, checker, firn });
    await checker.checkAll();
    // Those in its place keep no ledger.
    if (firn === runFirn) await checkTombstones(world);
  } catch (error) {
    failure = toFailure(error);
    world.note(`FAILED ${failure.message}`);
  }
  return {
    failure,
    log: world.log,
    counts: world.counts,
    turns: recording.turns,
    turnCountByActor: world.scheduler.turnCounts(),
  };
}

interface Stage {
  readonly world: World;
  readonly checker: Checker;
  readonly firn: FirnRun;
}

async function createTable(world: World): Promise<void> {
  const { store, catalog, clock, script } = world;
  const { formatVersion, isPartitioned, properties, fileCount, seed } = script;
  const ports = { store, catalog, clock, random: randomOf(seed, 'table') };
  const table = {
    identifier: IDENTIFIER,
    location: 's3://bucket/db/orders',
    formatVersion,
    fields: FIELDS,
    partitionFields: isPartitioned ? BY_REGION : [],
    properties,
  };
  const writer = await TableWriter.create(table, ports);
  const chance = chanceOf(seed, 'table');
  const { metadata } = await writer.load();
  for (let count = 0; count < fileCount; count++) {
    const fileName = randomUuid(ports.random);
    const file = await writeRows(metadata, chance, { store, fileName });
    await writer.commit({ operation: 'append', addedManifests: [[file]] });
  }
  world.pointer.byActor('setup', () => {});
}

function spawn(actorScript: ActorScript, stage: Stage): void {
  const { kind, name } = actorScript;
  stage.world.scheduler.spawn(name, async (actor) => {
    const context = actorContext(actorScript, actor, stage.world);
    if (kind !== 'firn') return runWriter(kind, context);
    await context.ports.clock.sleepMs(actorScript.delayMs);
    const said = await stage.firn(context.ports, chooseOptions(context.chance));
    await stage.checker.heard(name, said);
  });
}

/** Longer than a lease, by clocks that differ. */
const LEASES_OVER_MS = 10 * 60_000;

/** Runs in a row in which groups can grow together. */
const LAST_RUNS_MAX = 6;

/** Without faults and without others, Firn comes to an end: nothing is due any more. */
async function converge({ world, checker, firn }: Stage): Promise<void> {
  if (world.pointer.metadataLocation === undefined) return;
  const said: string[] = [];
  world.scheduler.spawn(LAST_RUN, async (actor) => {
    const script = { name: actor.name, kind: 'firn', taskCount: 1, delayMs: 0, skewMs: 0 } as const;
    const { ports } = actorContext(script, actor, world);
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

const NOTHING_DUE: readonly string[] = ['nothing-planned', 'no-snapshot'];

function toFailure(error: unknown): SimulationFailure {
  if (error instanceof Violation) return error;
  if (!(error instanceof Error)) return { claim: 'only errors are thrown', message: String(error) };
  const kind = 'kind' in error ? ` ${error.kind}` : '';
  return { claim: `${error.name}${kind}`, message: error.stack ?? error.message };
}
