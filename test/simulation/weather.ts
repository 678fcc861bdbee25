import { type Chance, chanceOf } from './chance.ts';
import type { Crash, Fault, FaultKind } from './faults.ts';
import type { ActorKind, ActorScript, Cue, Script } from './script.ts';

/** Who comes along with a weather, and when. */
export interface Guest {
  readonly kind: ActorKind;
  readonly cue: Cue;
  readonly taskCount: number;
  readonly delayMs: number;
}

/** Requests that a run makes of the ledger, about, and those of them that write its record. */
const LEDGER_CALLS = 24;
const RUN_RECORD_CALLS = 6;
const LEDGER_FAULTS = 6;
const LEDGER_ANSWERS = ['conflict', 'throttled', 'lost-before', 'lost-after', 'late'] as const;

/** Something that is hard on Firn in one respect: actors that come along, and what else it changes. */
export interface Weather {
  readonly guests: readonly Guest[];
  readonly change: (script: Script, chance: Chance) => Script;
}

/** Whoever is not needed for it keeps Firn from getting that far; some remain. */
const REMAINING = 0.25;

/** Others commit as soon as Firn has sent a pointer write, and push its base out of the log while it waits. */
const BURST: readonly Guest[] = [
  { kind: 'burster', cue: 'pointer-sent', taskCount: 2, delayMs: 0 },
];

/**
 * It is hardest to tell whether a write was applied: answers of first writes are lost, the metadata log is short, a
 * burst of commits passes while Firn waits, and retries end soon.
 */
const STORM: Weather = {
  guests: BURST,
  change: (script, chance) =>
    lostAnswers(['lost-before', 'lost-after', 'lost-after', 'late'], {
      script: withShortLog(withFewOthers(script, chance), chance),
      chance,
    }),
};

/** Nobody moves the pointer while a write is under way, so that it lands whenever it likes. */
const FOG: Weather = {
  guests: [],
  change: (script, chance) =>
    lostAnswers(['late'], { script: withFewOthers(script, chance), chance }),
};

function lostAnswers(
  kinds: readonly FaultKind<'pointer'>[],
  { script, chance }: { readonly script: Script; readonly chance: Chance },
): Script {
  const lost = firnsOf(script).map(
    ({ name: actor }): Fault => ({ actor, port: 'pointer', kind: chance.pick(kinds), nth: 0 }),
  );
  const numRetries = chance.pick(['0', '0', '1', '2']);
  // Those of the store end most runs before they get there.
  const others = script.faults.filter(({ port }) => port !== 'store');
  return withProperties(
    { ...script, faults: [...lost, ...others] },
    { 'commit.retry.num-retries': numRetries },
  );
}

/** When the lease of a run that began at once has expired, whatever clocks say, and its stall is not over. */
const TAKEN_OVER_MS_MIN = 190_000;
const TAKEN_OVER_MS_MAX = 255_000;

/** Turns of a run of Firn on a small table from its first output to its end. */
const CRASH_TURN_MIN = 60;
const CRASH_TURN_COUNT = 160;

/**
 * One run crashes or freezes when it is well under way, and the next one finds its lease expired, settles its run and
 * goes on; half of the time behind a burst of others that has pushed the base out of the log.
 */
const TAKEOVER: Weather = {
  guests: [],
  change: (script, chance) => {
    const few = withFewOthers(script, chance);
    const [first = newFirn('firn-1'), second = newFirn('firn-2')] = firnsOf(few);
    const delayMs = TAKEN_OVER_MS_MIN + chance.below(TAKEN_OVER_MS_MAX - TAKEN_OVER_MS_MIN);
    const others = few.actors.filter((actor) => actor !== first && actor !== second);
    const taken = withEnd(first.name, {
      ...few,
      actors: [{ ...first, delayMs: 0 }, { ...second, delayMs }, ...others],
      crashes: few.crashes.filter(({ actor }) => actor !== first.name),
      chance,
    });
    return chance.is(0.5) ? withGuests(withShortLog(taken, chance), BURST) : taken;
  },
};

/** How a run ends that is taken over: it crashes, or freezes before its pointer write or a request of the ledger. */
function withEnd(
  actor: string,
  { chance, ...script }: Script & { readonly chance: Chance },
): Script {
  if (chance.is(0.4)) {
    const turn = CRASH_TURN_MIN + chance.below(CRASH_TURN_COUNT);
    const crash: Crash = { actor, turn, underWay: chance.pick(['lost', 'late']) };
    return { ...script, crashes: [crash, ...script.crashes] };
  }
  const [port, nthMax] = chance.pick([
    ['pointer', 1],
    ['run-record', RUN_RECORD_CALLS],
    ['ledger', LEDGER_CALLS],
  ] as const);
  const kind = chance.pick(['stall', 'freeze'] as const);
  const hold: Fault = { actor, port, kind, nth: chance.below(nthMax) };
  return { ...script, faults: [hold, ...script.faults] };
}

/** Rows are deleted of files that Firn has planned and not yet replaced, and some of them come again. */
const DELETES: Weather = {
  guests: [
    { kind: 'equality-deleter', cue: 'output-written', taskCount: 2, delayMs: 0 },
    { kind: 'position-deleter', cue: 'output-written', taskCount: 1, delayMs: 50 },
  ],
  change: (script) => script,
};

/** The ledger answers badly, again and again. */
const BAD_LEDGER: Weather = {
  guests: [],
  change: (script, chance) => {
    const faults = Array.from({ length: LEDGER_FAULTS }, (): Fault => {
      const { name: actor } = chance.pick(firnsOf(script));
      const kind = chance.pick(LEDGER_ANSWERS);
      return chance.is(0.5)
        ? { actor, port: 'ledger', kind, nth: chance.below(LEDGER_CALLS) }
        : { actor, port: 'run-record', kind, nth: chance.below(RUN_RECORD_CALLS) };
    });
    return { ...script, faults: [...faults, ...script.faults] };
  },
};

export const CALM: Weather = { guests: [], change: (script) => script };

/** Those that are hard on any commit. */
export const HARD_WEATHERS: readonly Weather[] = [
  STORM,
  STORM,
  FOG,
  TAKEOVER,
  TAKEOVER,
  BAD_LEDGER,
];

const WEATHERS: readonly Weather[] = [
  ...[CALM, CALM, CALM, CALM],
  ...[STORM, STORM, FOG, TAKEOVER, TAKEOVER, DELETES, BAD_LEDGER],
];

/** Lets the weather that a seed has come over its script. */
export function withWeather(script: Script, weathers = WEATHERS): Script {
  const chance = chanceOf(script.seed, 'weather');
  const { guests, change } = chance.pick(weathers);
  return withGuests(change(script, chance), guests);
}

function withGuests(script: Script, guests: readonly Guest[]): Script {
  const invited = guests
    .filter(({ kind }) => isPossible(kind, script))
    .map((guest, index): ActorScript => ({ ...guest, name: `${guest.kind}-g${index}`, skewMs: 0 }));
  return { ...script, actors: [...script.actors, ...invited] };
}

/** Delete files came with v2; in v3 position deletes are vectors, which only `row-deleter` writes. */
export function isPossible(
  kind: ActorKind,
  { formatVersion }: Pick<Script, 'formatVersion'>,
): boolean {
  if (kind === 'equality-deleter') return formatVersion > 1;
  return kind !== 'position-deleter' || formatVersion === 2;
}

function withFewOthers(script: Script, chance: Chance): Script {
  const actors = script.actors.filter(({ kind }) => kind === 'firn' || chance.is(REMAINING));
  return { ...script, actors };
}

/** Two or three commits push a base out of it. */
function withShortLog(script: Script, chance: Chance): Script {
  const kept = String(1 + chance.below(2));
  return withProperties(script, { 'write.metadata.previous-versions-max': kept });
}

function withProperties(script: Script, properties: Script['properties']): Script {
  return { ...script, properties: { ...script.properties, ...properties } };
}

function firnsOf({ actors }: Script): readonly ActorScript[] {
  return actors.filter(({ kind }) => kind === 'firn');
}

function newFirn(name: string): ActorScript {
  return { name, kind: 'firn', taskCount: 1, delayMs: 0, skewMs: 0 };
}
