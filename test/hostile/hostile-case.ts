import type { CaseExpectation, Corruption } from './run-case.ts';

/** One corruption of one table. */
export interface HostileCase extends CaseExpectation {
  /** Object, offset and what was done to it. */
  readonly label: string;
  readonly corruption: Corruption;
}

export function expectation(mustBeRefused: boolean): CaseExpectation['expects'] {
  return mustBeRefused ? 'refusal' : 'anything';
}

/** A case that changes one object. */
export function objectCase(
  location: string,
  bytes: Uint8Array,
  what: string,
  mustBeRefused = false,
): HostileCase {
  const name = location.slice(location.lastIndexOf('/') + 1);
  return {
    label: `${name}: ${what}`,
    corruption: new Map([[location, bytes]]),
    expects: expectation(mustBeRefused),
  };
}
