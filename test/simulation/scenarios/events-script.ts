import { type Chance, chanceOf } from '../chance.ts';
import type { EventsScript } from '../events/events-script.ts';
import { type Crash, FAULT_KINDS, type Fault, type FaultPort } from '../faults.ts';
import type { ActorKind, ActorScript, Script, TableScript } from '../script.ts';
import { isPossible } from '../weather.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const TABLES_MAX = 3;
const FAULTS_MAX = 12;
const CRASHES_MAX = 3;

/** Who commits to a table: most of them append, since that is what makes compaction due. */
const WRITER_KINDS: readonly Exclude<ActorKind, 'firn'>[] = [
  ...Array.from({ length: 10 }, () => 'appender' as const),
  'overwriter',
  'overwriter',
  'deleter',
  'equality-deleter',
  'position-deleter',
  'row-deleter',
  'row-deleter',
  'key-deleter',
  'rollback',
  'publisher',
  'ref-writer',
  'property-setter',
  'switcher',
  'switcher',
  'schema-evolver',
  'expirer',
  'burster',
  'dropper',
  'reregisterer',
];

const ONCE: readonly ActorKind[] = ['dropper', 'reregisterer'];

/** What gets in the way of a run. */
const INTRUDER_KINDS = ['overwriter', 'deleter', 'appender', 'burster'] as const;

/** Invocations that may meet a fault or crash: their kinds, and how many there are at least in most seeds. */
const INVOCATIONS: readonly (readonly [string, number])[] = [
  ['rewrite-data-files', 4],
  ['rewrite-data-files', 4],
  ['rewrite-data-files', 8],
  ['rewrite-deletes', 3],
  ['route', 8],
  ['due', 20],
  ['catalog', 3],
];

const FAULT_PORTS: readonly FaultPort[] = [
  'pointer',
  'pointer',
  'catalog',
  'ledger',
  'ledger',
  'ledger',
  'run-record',
  'store',
];

const NTH_MAX: Readonly<Record<FaultPort, number>> = {
  pointer: 2,
  catalog: 4,
  ledger: 24,
  'run-record': 6,
  store: 30,
};

/** Turns of one invocation on a small table; a crash beyond its end does not happen. */
const CRASH_TURN_MAX = { rewrite: 220, other: 24 } as const;

/** Several tables and writers, and the functions with all that goes wrong with what rings them. */
export function eventsScript(seed: number): Script {
  const chance = chanceOf(seed, 'events script');
  const faultsMs = (2 + chance.below(3)) * HOUR_MS;
  const tables = Array.from({ length: 1 + chance.below(TABLES_MAX) }, () => newTable(chance));
  const [first, ...otherTables] = tables;
  const actors = tables.flatMap((table, number) => newWriters(table, number, chance));
  return {
    seed,
    ...first!,
    otherTables,
    fileAgeMs: chance.pick([0, 2 * HOUR_MS]),
    actors,
    events: newEvents(tables.length, faultsMs, chance),
    faults: Array.from({ length: chance.below(FAULTS_MAX + 1) }, () => newFault(actors, chance)),
    crashes: newCrashes(chance),
    stickiness: chance.pick([0, 0.6, 0.9]),
  };
}

function newTable(chance: Chance): TableScript {
  return {
    formatVersion: chance.pick([1, 2, 2, 2, 3, 3] as const),
    isPartitioned: chance.is(0.3),
    properties: {
      'firn.verify': 'rows',
      ...(chance.is(0.3) ? { 'firn.enabled': 'true' } : {}),
      ...(chance.is(0.7)
        ? { 'firn.rewrite-data-files.trigger.commit-count': chance.pick(['2', '3']) }
        : {}),
      ...(chance.is(0.8)
        ? { 'firn.rewrite-data-files.trigger.interval-ms': chance.pick(['600000', '3600000']) }
        : {}),
      ...(chance.is(0.7)
        ? {
            'firn.rewrite-deletes.trigger.delete-file-count': '2',
            'firn.rewrite-deletes.trigger.equality-delete-file-count': '1',
          }
        : {}),
      ...(chance.is(0.2) ? { 'write.metadata.previous-versions-max': '2' } : {}),
    },
    // Many manifests are planned from where the last plan ended.
    fileCount: chance.is(0.15) ? 14 + chance.below(5) : 2 + chance.below(6),
  };
}

/** They have all ended before nothing goes wrong any more. */
function newWriters(table: TableScript, number: number, chance: Chance): readonly ActorScript[] {
  const kinds = Array.from({ length: 1 + chance.below(3) }, () => chance.pick(WRITER_KINDS));
  return kinds
    .filter((kind) => isPossible(kind, table) && !(isDeleter(kind) && table.formatVersion === 1))
    .map((kind, index) => {
      const taskCount = ONCE.includes(kind) ? 1 : 1 + chance.below(6);
      return {
        name: `${kind}-${number}${index}`,
        kind,
        taskCount,
        delayMs: chance.pick([1000, MINUTE_MS, 5 * MINUTE_MS, 18 * MINUTE_MS]),
        skewMs: chance.pick([0, 0, -20_000, 20_000]),
        table: number,
      };
    });
}

function isDeleter(kind: ActorKind): boolean {
  return kind === 'row-deleter' || kind === 'key-deleter';
}

function newEvents(tableCount: number, faultsMs: number, chance: Chance): EventsScript {
  const some = <Item>(countMax: number, make: () => Item): readonly Item[] =>
    Array.from({ length: chance.below(countMax + 1) }, make);
  const table = (): number => chance.below(tableCount);
  const afterMs = (): number => chance.below(faultsMs);
  const isRough = chance.is(0.7);
  const fraction = (most: number): number => (isRough ? chance.pick([0, most / 3, most]) : 0);
  return {
    faultsMs,
    allowed: [...Array(tableCount).keys()]
      .filter(() => chance.is(0.7))
      .map((each) => ({ table: each, afterMs: chance.is(0.7) ? 0 : afterMs() })),
    settings: {
      guards: {
        minFileAgeMsFloor: chance.pick([0, MINUTE_MS, 15 * MINUTE_MS]),
        minFileAgeMsDerivedMax: chance.pick([0, 20 * MINUTE_MS, 2 * HOUR_MS]),
        commitIntervalMsFloor: chance.pick([0, 5 * MINUTE_MS]),
        wapWaitMsFloor: chance.pick([0, HOUR_MS]),
      },
      routingIntervalMsFloor: chance.pick([10_000, MINUTE_MS, 10 * MINUTE_MS]),
    },
    timeoutMs: chance.pick([15, 15, 4]) * MINUTE_MS,
    concurrencyMax: 1 + chance.below(4),
    stream: {
      shardCount: 1 + chance.below(2),
      lossFraction: fraction(0.6),
      duplicateFraction: fraction(0.5),
      delayFraction: fraction(0.5),
      delayMsMax: chance.pick([10_000, 20 * MINUTE_MS]),
    },
    queue: {
      lossFraction: fraction(0.3),
      duplicateFraction: fraction(0.5),
      delayFraction: fraction(0.3),
      delayMsMax: chance.pick([10_000, 40 * MINUTE_MS]),
      failureFraction: fraction(0.2),
    },
    lostSweepFraction: fraction(0.5),
    requests: chance.is(0.3) ? some(3, () => ({ table: table(), afterMs: afterMs() })) : [],
    malformed: chance.is(0.1)
      ? some(2, () => ({
          what: chance.pick(['record', 'message', 'event', 'sweep'] as const),
          afterMs: afterMs(),
        }))
      : [],
    intruders: some(3, () => ({
      run: 1 + chance.below(5),
      kind: chance.pick(INTRUDER_KINDS),
      delayMs: chance.pick([0, 0, 200, 500]),
    })),
  };
}

function newInvocation(chance: Chance): string {
  const [kind, countMax] = chance.pick(INVOCATIONS);
  return `firn-${kind}-${1 + chance.below(countMax)}`;
}

function newFault(actors: readonly ActorScript[], chance: Chance): Fault {
  const port = chance.pick(FAULT_PORTS);
  const actor =
    actors.length > 0 && chance.is(0.1) ? chance.pick(actors).name : newInvocation(chance);
  // The first calls of each kind are made in any case.
  const nth = Math.min(chance.below(NTH_MAX[port]), chance.below(NTH_MAX[port]));
  return { actor, port, kind: chance.pick(FAULT_KINDS[port]), nth };
}

function newCrashes(chance: Chance): readonly Crash[] {
  const crashes = Array.from({ length: chance.below(CRASHES_MAX + 1) }, (): Crash => {
    const actor = newInvocation(chance);
    const turnMax = actor.includes('rewrite') ? CRASH_TURN_MAX.rewrite : CRASH_TURN_MAX.other;
    return { actor, turn: chance.below(turnMax), underWay: chance.pick(['lost', 'late'] as const) };
  });
  return [...new Map(crashes.map((crash) => [crash.actor, crash])).values()];
}
