import type { FormatVersion } from '../../../shared/iceberg/index.ts';
import { type Chance, chanceOf } from '../chance.ts';
import { type Crash, FAULT_KINDS, type Fault, type FaultPort } from '../faults.ts';
import { ACTOR_KINDS, type ActorKind, type ActorScript, type Script } from '../script.ts';
import { isPossible, withWeather } from '../weather.ts';

const FIRN_RUNS_MAX = 4;
const WRITERS_MAX = 5;
const FAULTS_MAX = 6;

/** One run, or one table that goes, is enough for each of these. */
const ONCE: readonly ActorKind[] = ['firn', 'dropper', 'reregisterer', 'renamer'];

/** Half of all writers append or change rows, since that is what compaction meets most. */
const WRITER_KINDS: readonly ActorKind[] = [
  ...ACTOR_KINDS.filter((kind) => kind !== 'firn'),
  'appender',
  'appender',
  'appender',
  'overwriter',
  'overwriter',
  'deleter',
  'equality-deleter',
  'expirer',
];

/** Pointer writes decide, and there are few of them; faults of the store end most runs. */
const FAULT_PORTS: readonly FaultPort[] = [
  'pointer',
  'pointer',
  'pointer',
  'catalog',
  'ledger',
  'ledger',
  'run-record',
  'store',
  'store',
];

/** Calls of an actor at a port that may meet a fault: what a run or a writer makes of them at least. */
const NTH_MAX: Readonly<Record<FaultPort, number>> = {
  pointer: 3,
  catalog: 4,
  ledger: 20,
  'run-record': 6,
  store: 30,
};

/** Turns of one run of Firn on a small table; a crash beyond its end does not happen. */
const CRASH_TURN_MAX = 200;

/** Who is there, and what the table is like. */
export interface ScriptOptions {
  readonly formatVersions: readonly FormatVersion[];
  readonly writerKinds: readonly ActorKind[];
}

/** All kinds of things, and the weather of the seed. */
export function commitsScript(seed: number): Script {
  const options = { formatVersions: [1, 2, 2, 2, 3, 3], writerKinds: WRITER_KINDS } as const;
  return withWeather(plainScript(seed, options));
}

/** All kinds of things, in no weather yet. */
export function plainScript(seed: number, { formatVersions, writerKinds }: ScriptOptions): Script {
  const chance = chanceOf(seed, 'script');
  const formatVersion = chance.pick(formatVersions);
  const actors = nameActors(
    [
      ...Array.from({ length: 1 + chance.below(FIRN_RUNS_MAX) }, () => 'firn' as const),
      ...Array.from({ length: 1 + chance.below(WRITERS_MAX) }, () => chance.pick(writerKinds)),
    ].filter((kind) => isPossible(kind, { formatVersion })),
    chance,
  );
  return {
    seed,
    formatVersion,
    isPartitioned: chance.is(0.5),
    properties: {
      'firn.verify': 'rows',
      ...(chance.is(0.5)
        ? { 'write.metadata.previous-versions-max': String(1 + chance.below(3)) }
        : {}),
    },
    fileCount: 3 + chance.below(4),
    fileAgeMs: 0,
    actors,
    faults: Array.from({ length: chance.below(FAULTS_MAX + 1) }, () => newFault(actors, chance)),
    crashes: actors.flatMap((actor) => newCrash(actor, chance)),
    stickiness: chance.pick([0, 0.6, 0.9]),
  };
}

function newCrash({ name, kind }: ActorScript, chance: Chance): readonly Crash[] {
  if (kind !== 'firn' || !chance.is(0.2)) return [];
  const underWay = chance.pick(['lost', 'late'] as const);
  return [{ actor: name, turn: chance.below(CRASH_TURN_MAX), underWay }];
}

function nameActors(kinds: readonly ActorKind[], chance: Chance): readonly ActorScript[] {
  return kinds.map((kind, index) => ({
    name: `${kind}-${kinds.slice(0, index).filter((other) => other === kind).length + 1}`,
    kind,
    taskCount: ONCE.includes(kind) ? 1 : 1 + chance.below(4),
    delayMs: chance.pick([0, 50, 2000]),
    skewMs: chance.pick([0, 0, -20_000, 20_000]),
  }));
}

function newFault(actors: readonly ActorScript[], chance: Chance): Fault {
  const port = chance.pick(FAULT_PORTS);
  // Firn is who has to survive them.
  const firns = actors.filter(({ kind }) => kind === 'firn');
  const { name: actor } = chance.pick(chance.is(0.7) ? firns : actors);
  // The first calls of each kind are made in any case.
  const nth = Math.min(chance.below(NTH_MAX[port]), chance.below(NTH_MAX[port]));
  return { actor, port, kind: chance.pick(FAULT_KINDS[port]), nth };
}
