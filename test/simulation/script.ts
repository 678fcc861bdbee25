import type { FormatVersion } from '../../shared/iceberg/index.ts';
import { type Chance, chanceOf } from './chance.ts';
import { type Crash, FAULT_KINDS, type Fault, type FaultPort } from './faults.ts';

export const ACTOR_KINDS = [
  'firn',
  'appender',
  'overwriter',
  'deleter',
  'equality-deleter',
  'position-deleter',
  'ref-writer',
  'rollback',
  'property-setter',
  'schema-evolver',
  'expirer',
  'dropper',
  'renamer',
] as const;

export type ActorKind = (typeof ACTOR_KINDS)[number];

export interface ActorScript {
  /** Kind and number: `appender-2`. */
  readonly name: string;
  readonly kind: ActorKind;
  /** Commits it tries to make, or for `firn` 1: a run. */
  readonly taskCount: number;
  /** Before each of its tasks. */
  readonly delayMs: number;
  /** How far its clock is ahead. */
  readonly skewMs: number;
}

/** Everything that a seed decides but the order of turns: removing parts of it leaves the rest as it is. */
export interface Script {
  readonly seed: number;
  readonly formatVersion: FormatVersion;
  readonly isPartitioned: boolean;
  readonly properties: Readonly<Record<string, string>>;
  /** Small files that the table has at the start. */
  readonly fileCount: number;
  readonly actors: readonly ActorScript[];
  readonly faults: readonly Fault[];
  readonly crashes: readonly Crash[];
  /** See `chanceChooser`. */
  readonly stickiness: number;
}

const FIRN_RUNS_MAX = 4;
const WRITERS_MAX = 5;
const FAULTS_MAX = 6;

/** One run, or one table that goes, is enough for each of these. */
const ONCE: readonly ActorKind[] = ['firn', 'dropper', 'renamer'];

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
  'store',
];

/** Calls of an actor at a port that may meet a fault: what a run or a writer makes of them at least. */
const NTH_MAX: Readonly<Record<FaultPort, number>> = {
  pointer: 3,
  catalog: 4,
  ledger: 20,
  store: 40,
};

/** Turns of one run of Firn on a small table; a crash beyond its end does not happen. */
const CRASH_TURN_MAX = 200;

/** The scenario `commits` for a seed: all kinds of things, or for every fourth seed a storm. */
export function commitsScript(seed: number): Script {
  const chance = chanceOf(seed, 'script');
  const formatVersion = chance.pick([1, 2, 2, 2, 3, 3] as const);
  const isStorm = chance.is(STORM_PROBABILITY);
  const actors = nameActors(
    [
      ...Array.from({ length: 1 + chance.below(FIRN_RUNS_MAX) }, () => 'firn' as const),
      ...Array.from({ length: 1 + chance.below(WRITERS_MAX) }, () => chance.pick(WRITER_KINDS)),
      ...(isStorm ? STORM_KINDS : []),
    ].filter((kind) => isPossible(kind, formatVersion)),
    chance,
  );
  const faults = Array.from({ length: chance.below(FAULTS_MAX + 1) }, () =>
    newFault(actors, chance),
  );
  return {
    seed,
    formatVersion,
    isPartitioned: chance.is(0.5),
    properties: {
      'firn.verify': 'rows',
      ...(isStorm || chance.is(0.5)
        ? { 'write.metadata.previous-versions-max': String(1 + chance.below(3)) }
        : {}),
      ...(isStorm ? { 'commit.retry.num-retries': String(chance.below(3)) } : {}),
    },
    fileCount: 3 + chance.below(4),
    actors,
    faults: isStorm ? [...lostAnswers(actors, chance), ...faults] : faults,
    crashes: actors.flatMap((actor) => newCrash(actor, chance)),
    stickiness: chance.pick([0, 0.6, 0.9]),
  };
}

/**
 * The weather in which it is hardest to tell whether a write was applied: answers of Firn's first writes are lost,
 * the metadata log is short, others commit and expire all the time, and retries end soon.
 */
const STORM_PROBABILITY = 0.25;
const STORM_KINDS: readonly ActorKind[] = ['appender', 'expirer', 'expirer'];

function lostAnswers(actors: readonly ActorScript[], chance: Chance): readonly Fault[] {
  return actors
    .filter(({ kind }) => kind === 'firn')
    .map(({ name: actor }) => {
      const kind = chance.pick(['lost-before', 'lost-after', 'late'] as const);
      return { actor, port: 'pointer', kind, nth: 0 };
    });
}

function newCrash({ name, kind }: ActorScript, chance: Chance): readonly Crash[] {
  if (kind !== 'firn' || !chance.is(0.2)) return [];
  const underWay = chance.pick(['lost', 'late'] as const);
  return [{ actor: name, turn: chance.below(CRASH_TURN_MAX), underWay }];
}

/** Delete files came with v2; in v3 position deletes are vectors, which nobody here can write yet. */
function isPossible(kind: ActorKind, formatVersion: FormatVersion): boolean {
  if (kind === 'equality-deleter') return formatVersion > 1;
  return kind !== 'position-deleter' || formatVersion === 2;
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
  return { actor, port, kind: chance.pick(FAULT_KINDS[port]), nth: chance.below(NTH_MAX[port]) };
}
