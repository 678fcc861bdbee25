import type { FormatVersion } from '../../shared/iceberg/index.ts';
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

export type ActorKind = (typeof ACTOR_KINDS)[number];

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
}

/** Everything that a seed decides but the order of turns: removing parts of it leaves the rest as it is. */
export interface Script {
  readonly seed: number;
  readonly formatVersion: FormatVersion;
  readonly isPartitioned: boolean;
  readonly properties: Readonly<Record<string, string>>;
  /** Small files that the table has at the start. */
  readonly fileCount: number;
  /** How old they are when the actors begin. */
  readonly fileAgeMs: number;
  readonly actors: readonly ActorScript[];
  readonly faults: readonly Fault[];
  readonly crashes: readonly Crash[];
  /** See `chanceChooser`. */
  readonly stickiness: number;
}
