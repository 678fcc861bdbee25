import { type Chance, chanceOf } from '../chance.ts';
import { FAULT_KINDS, type Fault, type FaultPort } from '../faults.ts';
import type { ActorKind, ActorScript, Script } from '../script.ts';
import { CALM, type Guest, HARD_WEATHERS, type Weather, withWeather } from '../weather.ts';
import { plainScript } from './commits-script.ts';

/** Most of them delete, in the one way or the other. */
const WRITER_KINDS: readonly ActorKind[] = [
  ...(['row-deleter', 'row-deleter', 'row-deleter', 'row-deleter', 'row-deleter'] as const),
  ...(['key-deleter', 'key-deleter', 'key-deleter', 'undeleter'] as const),
  ...(['appender', 'overwriter', 'deleter', 'rollback', 'spec-changer', 'schema-evolver'] as const),
  ...(['expirer', 'ref-writer', 'publisher', 'burster', 'property-setter', 'upgrader'] as const),
  ...(['dropper', 'reregisterer'] as const),
];

/** Rows are deleted back to back, from the first output of Firn on: between plan and commit, and between attempts. */
const BACK_TO_BACK: Weather = {
  guests: [
    { kind: 'row-deleter', cue: 'output-written', taskCount: 6, delayMs: 0 },
    { kind: 'row-deleter', cue: 'pointer-sent', taskCount: 3, delayMs: 0 },
  ],
  change: (script) => script,
};

/** Deletes of all kinds come, and some go. */
const MIXED: Weather = {
  guests: [
    { kind: 'row-deleter', cue: 'output-written', taskCount: 2, delayMs: 0 },
    { kind: 'key-deleter', cue: 'output-written', taskCount: 3, delayMs: 0 },
    { kind: 'undeleter', cue: 'output-written', taskCount: 1, delayMs: 50 },
  ],
  change: (script) => script,
};

/** The table is another one when Firn commits: upgraded, set back, partitioned otherwise. */
const TURNING: Weather = {
  guests: [
    { kind: 'upgrader', cue: 'output-written', taskCount: 1, delayMs: 0 },
    { kind: 'spec-changer', cue: 'output-written', taskCount: 1, delayMs: 50 },
    { kind: 'row-deleter', cue: 'output-written', taskCount: 4, delayMs: 0 },
  ],
  change: (script, chance) => (chance.is(0.3) ? withGuest(script, ROLLBACK) : script),
};

const ROLLBACK: Guest = { kind: 'rollback', cue: 'output-written', taskCount: 1, delayMs: 0 };

const WEATHERS: readonly Weather[] = [
  ...[CALM, CALM, BACK_TO_BACK, BACK_TO_BACK, BACK_TO_BACK, BACK_TO_BACK],
  ...[MIXED, MIXED, MIXED, TURNING, TURNING, TURNING],
  ...HARD_WEATHERS,
];

/** Files of several row groups, so that there is something to purge and something to keep. */
const ROWS_PER_FILE_MAX = 24;

/** So many deletes at once, before Firn's first run: what there is to apply and to rewrite. */
const EARLY_TASKS_MAX = 4;
const EARLY: readonly ActorKind[] = ['row-deleter', 'row-deleter', 'key-deleter'];

/** Times in which those that begin early are done with it, and the run before most often too. */
const FIRN_DELAYS_MS: readonly number[] = [500, 1500, 4000, 8000, 16_000];

/** Others are for what goes wrong among writers alone. */
const WITH_FAULTS = 0.8;

/** How often there is one more fault, of all kinds alike: some are rare by the ports that they happen to. */
const WITH_ODD_FAULT = 0.5;

/** Calls of a run at a port that may meet it. */
const ODD_NTH_MAX = 6;

/** Tables with deletes, writers that delete, and the two operations of Firn. */
export function deletesScript(seed: number): Script {
  const chance = chanceOf(seed, 'deletes');
  const script = plainScript(seed, { formatVersions: [2, 3], writerKinds: WRITER_KINDS });
  const faults = chance.is(WITH_ODD_FAULT)
    ? [oddFault(script, chance), ...script.faults]
    : script.faults;
  const calm = chance.is(WITH_FAULTS) ? { faults } : { faults: [], crashes: [] };
  return withWeather(
    {
      ...script,
      ...calm,
      rowsPerFileMax: ROWS_PER_FILE_MAX,
      properties: { ...script.properties, ...deleteProperties(chance) },
      actors: [...script.actors.map((actor) => withLaterRuns(actor, chance)), ...early(chance)],
    },
    WEATHERS,
  );
}

function oddFault({ actors }: Script, chance: Chance): Fault {
  const ports = Object.keys(FAULT_KINDS) as readonly FaultPort[];
  const all = ports.flatMap((port) => FAULT_KINDS[port].map((kind) => ({ port, kind })));
  const { name: actor } = chance.pick(actors.filter(({ kind }) => kind === 'firn'));
  const { port, kind } = chance.pick(all);
  return { actor, port, kind, nth: port === 'pointer' ? 0 : chance.below(ODD_NTH_MAX) };
}

function deleteProperties(chance: Chance): Readonly<Record<string, string>> {
  return {
    'firn.rewrite-data-files.deletes': chance.pick(['auto', 'carry', 'carry', 'purge']),
    ...(chance.is(0.4) ? { 'write.delete.granularity': 'file' } : {}),
  };
}

function withLaterRuns(actor: ActorScript, chance: Chance): ActorScript {
  return actor.kind === 'firn' ? { ...actor, delayMs: chance.pick(FIRN_DELAYS_MS) } : actor;
}

function early(chance: Chance): readonly ActorScript[] {
  return EARLY.map((kind, index) => ({
    name: `${kind}-e${index}`,
    kind,
    taskCount: 1 + chance.below(EARLY_TASKS_MAX),
    delayMs: 0,
    skewMs: 0,
  }));
}

function withGuest(script: Script, guest: Guest): Script {
  const actor = { ...guest, name: `${guest.kind}-guest`, skewMs: 0 };
  return { ...script, actors: [...script.actors, actor] };
}
