import type { FormatVersion } from '../../shared/iceberg/index.ts';
import { commitsScript } from './scenarios/commits-script.ts';
import type { ActorScript, Script } from './script.ts';
import type { SimulationOutcome } from './simulate.ts';

/** One compaction to which one thing happens, and the run after it. */
export interface Case {
  readonly label: string;
  readonly outcome: SimulationOutcome;
}

export const FIRST_RUN: ActorScript = {
  name: 'firn-1',
  kind: 'firn',
  taskCount: 1,
  delayMs: 0,
  skewMs: 0,
};

export const SECOND_RUN: ActorScript = { ...FIRST_RUN, name: 'firn-2' };

/** A table with small files and nobody at it but one run of Firn. */
export function quietScript(seed: number, formatVersion: FormatVersion): Script {
  return {
    ...commitsScript(seed),
    formatVersion,
    isPartitioned: false,
    properties: { 'firn.verify': 'rows' },
    actors: [FIRST_RUN],
    faults: [],
    crashes: [],
    stickiness: 0,
  };
}
