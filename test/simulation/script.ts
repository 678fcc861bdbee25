import type { FormatVersion } from '../../shared/iceberg/index.ts';
import type { EventsScript } from './events/events-script.ts';
import type { Crash, Fault } from './faults.ts';

export const ACTOR_KINDS = [
  'firn',
  'appender',
  'overwriter',
  'deleter',
  'equality-deleter',
  'position-deleter',
  'ref-writer',
  'rollback',
  'publisher',
  'property-setter',
  'schema-evolver',
  'expirer',
  'burster',
  'dropper',
  'reregisterer',
  'renamer',
] as const;

/** Further ones, that only scenarios with the functions at work have. */
const EVENT_ACTOR_KINDS = ['switcher'] as const;

/** Further ones, that only the scenario `deletes` has: see `delete-writers.ts`. */
export const DELETE_ACTOR_KINDS = [
  'row-deleter',
  'key-deleter',
  'undeleter',
  'spec-changer',
  'upgrader',
] as const;

export type ActorKind =
  | (typeof ACTOR_KINDS)[number]
  | (typeof EVENT_ACTOR_KINDS)[number]
  | (typeof DELETE_ACTOR_KINDS)[number];

/**
 * What of Firn's work others wait for:
 * - `output-written`: a file is written, so that there is a plan and not yet a commit;
 * - `pointer-sent`: a conditional write of the pointer is sent, whatever becomes of it;
 * - `run-settled`: a run is closed by another one.
 */
export type Cue = 'output-written' | 'pointer-sent' | 'run-settled';

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
  /** Before each of its tasks, once more; given up after a while. */
  readonly cue?: Cue;
  /** The number of the table that it works on; the first one, 0, where it is not given. */
  readonly table?: number;
}

/** A table as it is when the actors begin. */
export interface TableScript {
  readonly formatVersion: FormatVersion;
  readonly isPartitioned: boolean;
  readonly properties: Readonly<Record<string, string>>;
  /** Small files that it has. */
  readonly fileCount: number;
  /** Of any file, those of writers too; few where it is not given. */
  readonly rowsPerFileMax?: number;
}

/** Everything that a seed decides but the order of turns: removing parts of it leaves the rest as it is. */
export interface Script extends TableScript {
  readonly seed: number;
  /** Tables beside the first one. */
  readonly otherTables?: readonly TableScript[];
  /** How old all files are when the actors begin. */
  readonly fileAgeMs: number;
  readonly actors: readonly ActorScript[];
  /** For scenarios with the functions at work. */
  readonly events?: EventsScript;
  readonly faults: readonly Fault[];
  readonly crashes: readonly Crash[];
  /** See `chanceChooser`. */
  readonly stickiness: number;
}

/** All tables, by their number. */
export function tablesOf(script: Script): readonly TableScript[] {
  return [script, ...(script.otherTables ?? [])];
}
