import { TableWriter } from '../../local/table-writer/index.ts';
import { randomUuid } from '../../shared/base/index.ts';
import { actorContext } from './actors/actor-context.ts';
import { chooseOptions, type FirnRun } from './actors/firn.ts';
import { runWriter } from './actors/writers.ts';
import { chanceOf, randomOf } from './chance.ts';
import { Checker } from './checker.ts';
import { chanceChooser, type Turns } from './choosers.ts';
import type { Scenario, Stage } from './scenario.ts';
import { COMMITS } from './scenarios/commits.ts';
import type { TurnChooser } from './scheduler.ts';
import { type ActorScript, type Script, tablesOf } from './script.ts';
import { BY_REGION, FIELDS, writeRows } from './table-rows.ts';
import { Violation } from './violation.ts';
import { identifierOf, World } from './world.ts';

/** How one simulation went. */
export interface SimulationOutcome {
  readonly failure: SimulationFailure | undefined;
  readonly log: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  /** Empty where the schedule was given. */
  readonly turns: Turns;
  readonly turnCountByActor: ReadonlyMap<string, number>;
  /** Calls that may meet a fault, by actor and port. */
  readonly callCounts: ReadonlyMap<string, number>;
}

export interface SimulationFailure {
  /** The claim that does not hold, or what went wrong otherwise. */
  readonly claim: string;
  readonly message: string;
}

export interface SimulateOptions {
  /** `COMMITS` where there is none. */
  readonly scenario?: Scenario;
  /** In place of the one that the script's seed gives. */
  readonly chooser?: TurnChooser;
  /** In place of the scenario's, to see that a wrong one is caught. */
  readonly firn?: FirnRun;
}

/** Runs a script to its end, or until a claim does not hold. */
export async function simulate(
  script: Script,
  { chooser, scenario = COMMITS, firn = scenario.firn }: SimulateOptions = {},
): Promise<SimulationOutcome> {
  const recording = chanceChooser(script.seed, script.stickiness);
  const world = new World(script, chooser ?? recording, async () => {
    for (const checker of checkers) await checker.check();
    await world.onTurn?.();
  });
  const { checkCommit } = scenario;
  const checkers = tablesOf(script).map((_, table) => new Checker(world, { table, checkCommit }));
  let failure: SimulationFailure | undefined;
  try {
    await createTables(world);
    const stage: Stage = { world, checker: checkers[0]!, checkers, firn };
    for (const actorScript of script.actors) spawn(actorScript, stage);
    if ('play' in scenario) await scenario.play(stage);
    else {
      await world.scheduler.run();
      await scenario.end(stage);
    }
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
    callCounts: world.callCounts,
  };
}

async function createTables(world: World): Promise<void> {
  const { clock, script } = world;
  for (const table of tablesOf(script).keys()) await createTable(world, table);
  clock.advanceMs(script.fileAgeMs);
}

async function createTable(world: World, number: number): Promise<void> {
  const { store, catalog, clock, script } = world;
  const { formatVersion, isPartitioned, properties, fileCount, rowsPerFileMax } =
    tablesOf(script)[number]!;
  const name = number === 0 ? 'table' : `table ${number}`;
  const ports = { store, catalog, clock, random: randomOf(script.seed, name) };
  const identifier = identifierOf(number);
  const table = {
    identifier,
    location: `s3://bucket/db/${identifier.name}`,
    formatVersion,
    fields: FIELDS,
    partitionFields: isPartitioned ? BY_REGION : [],
    properties,
  };
  const writer = await TableWriter.create(table, ports);
  const chance = chanceOf(script.seed, name);
  const { metadata } = await writer.load();
  for (let count = 0; count < fileCount; count++) {
    const fileName = randomUuid(ports.random);
    const file = await writeRows(metadata, chance, { store, fileName, rowsMax: rowsPerFileMax });
    await writer.commit({ operation: 'append', addedManifests: [[file]] });
  }
  world.pointerOf(identifier).byActor('setup', () => {});
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

function toFailure(error: unknown): SimulationFailure {
  if (error instanceof Violation) return error;
  if (!(error instanceof Error)) return { claim: 'only errors are thrown', message: String(error) };
  const kind = 'kind' in error ? ` ${error.kind}` : '';
  return { claim: `${error.name}${kind}`, message: error.stack ?? error.message };
}
