import { isDeepStrictEqual } from 'node:util';
import { parseMaintenanceRequest } from '../../../events/index.ts';
import { NO_DEADLINE, randomUuid, serializeJson } from '../../../shared/base/index.ts';
import { formatTableIdentifier } from '../../../shared/catalog/index.ts';
import { permissionFor } from '../../../shared/guards/index.ts';
import { rewriteDataFiles } from '../../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../../shared/table/index.ts';
import { checkTombstones } from '../check-tombstones.ts';
import { actorPorts } from '../ports.ts';
import type { Stage } from '../scenario.ts';
import { tablesOf } from '../script.ts';
import { claim } from '../violation.ts';
import { identifierOf, isFirn, type World } from '../world.ts';
import type { EventCloud } from './event-cloud.ts';

const HOUR_MS = 60 * 60_000;

/** Each is longer than an hour, so that there is a sweep of the catalog in it. Nothing that a seed has waits longer than all of them. */
const STEP_MS = 70 * 60_000;
const STEPS_MAX = 20;
const QUIET_MS = 48 * HOUR_MS;

/**
 * Without faults and without others every table comes to rest: nothing is due, nothing is on its way. @throws Violation
 */
export async function comeToRest(cloud: EventCloud, { world }: Stage): Promise<void> {
  let due = 'nothing was looked at';
  for (let step = 1; step <= STEPS_MAX; step++) {
    await cloud.runForMs(STEP_MS);
    due = dueText(world);
    if (due !== '' || !cloud.isStill) continue;
    world.count(`at rest ${step === 1 ? 'after an hour' : 'later'}`);
    return;
  }
  claim(false, 'every table comes to rest', () => due);
}

/** It stays so: nobody runs, writes or even reads an object for days. @throws Violation */
export async function stayAtRest(cloud: EventCloud, { world }: Stage): Promise<void> {
  const before = footprint(world);
  const sent = world.counts.get('messages sent') ?? 0;
  cloud.sweepSeldom();
  await cloud.runForMs(QUIET_MS);
  claim(
    (world.counts.get('messages sent') ?? 0) === sent,
    'nothing is sent for a table at rest',
    () => dueText(world),
  );
  const after = footprint(world);
  claim(
    isDeepStrictEqual(after, before),
    'a table at rest is left alone',
    () => `${after.filter((fact) => !before.includes(fact)).join(', ')} ${dueText(world)}`,
  );
}

/** All that Firn did, but for reads of pointers and of the ledger; a line for each thing. */
function footprint(world: World): readonly string[] {
  const storeCallCount = [...world.callCounts]
    .filter(([call]) => isFirn(call) && call.endsWith(' store'))
    .reduce((sum, [, count]) => sum + count, 0);
  return [
    `${storeCallCount} requests of the store`,
    ...tableNumbers(world).flatMap((table) => [
      `pointer at ${world.pointerOf(identifierOf(table)).metadataLocation}`,
      ...world.items
        .snapshot(formatTableIdentifier(identifierOf(table)))
        .map(({ sort, revision }) => `${sort} at ${revision}`),
    ]),
  ];
}

/** What is due by the ledger, for people; empty when nothing is. */
function dueText(world: World): string {
  return tableNumbers(world)
    .flatMap((table) => world.items.snapshot(formatTableIdentifier(identifierOf(table))))
    .filter(({ dueAtMs }) => dueAtMs !== undefined)
    .map(({ partition, body }) => `${partition}: ${serializeJson(body)}`)
    .join('; ');
}

/**
 * A plan of the whole table, made anew, finds nothing to do where the table is allowed; where it never was, Firn changed
 * nothing. @throws Violation
 */
export async function checkHealth(cloud: EventCloud, stage: Stage): Promise<void> {
  const { world, checkers } = stage;
  for (const table of tableNumbers(world)) await checkTableHealth(table, cloud, stage);
  for (const checker of checkers) await checker.checkAll();
  if (world.counts.has('tables not allowed in the end')) return;
  await checkTombstones(stage);
}

async function checkTableHealth(table: number, cloud: EventCloud, stage: Stage): Promise<void> {
  const { world, checkers } = stage;
  const identifier = identifierOf(table);
  if (world.pointerOf(identifier).metadataLocation === undefined) return;
  const name = `firn-last-${table}`;
  world.scheduler.spawn(name, async (actor) => {
    const ports = { ...actorPorts(actor, world, 0), deadline: NO_DEADLINE };
    const loaded = await loadTable(identifier, ports);
    const fullName = formatTableIdentifier(identifier);
    const { mode } = permissionFor(fullName, loaded.metadata.properties, cloud.settings);
    if (mode === 'observe') return world.count('tables not allowed in the end');
    const { guards } = cloud.settings;
    const options = { 'partial-progress.enabled': 'true' };
    const runId = randomUuid(ports.random);
    const request = { table: loaded, options, mode, runId, guards };
    const { outcome } = await rewriteDataFiles(request, ports);
    world.count(`tables in the end: ${outcome}`);
    claim(
      outcome === 'nothing-planned' || outcome === 'no-snapshot',
      'a table at rest needs nothing',
      () => `${fullName}: ${outcome}`,
    );
  });
  await world.scheduler.run();
  await checkers[table]!.check();
}

/** What nobody understands becomes a letter, and what a person must mend; nothing else. @throws Violation */
export function checkLetters({ queues, eventLetters }: EventCloud, { world }: Stage): void {
  for (const { body, reason } of Object.values(queues).flatMap((queue) => queue.deadLetters())) {
    const isMalformed = !parseMaintenanceRequest(body).isValid;
    world.count(isMalformed ? 'letters, malformed' : 'letters, for a person');
    claim(isMalformed || PERSONAL.test(reason), 'letters are for people', () => reason);
  }
  for (const { body, reason } of eventLetters.deadLetters()) {
    world.count('letters, malformed');
    claim(body.includes('world'), 'letters are for people', () => `${reason}: ${body}`);
  }
}

const PERSONAL = /cannot be told/;

function tableNumbers({ script }: World): readonly number[] {
  return [...tablesOf(script).keys()];
}
