// What happens to a table when several programs change it at once: told step by step, not spread over a matrix.

import { publishAfterFirn } from './audit-and-publish.ts';
import { writeBesideFirn } from './concurrent-writers.ts';
import { fencePausedWriter } from './fenced-writer.ts';
import { writeUnasked } from './spark-unasked.ts';
import type { Tools, Warehouse } from './tools.ts';

export type ScenarioOptions = Readonly<{
  /** How long a MERGE takes from its read to its commit, in milliseconds. */
  mergeMs: number;
}>;

/** Figures of a scenario that went well, for people. @throws AssertionError — on the first thing that is wrong */
export type Scenario = Readonly<{
  name: string;
  what: string;
  run: (tools: Tools, warehouse: Warehouse, options: ScenarioOptions) => Promise<string[]>;
}>;

/** All of them; each runs against every endpoint. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'concurrent_writers',
    what: 'Java appends and MERGEs on the last hour in loops while Firn compacts colder hours',
    run: writeBesideFirn,
  },
  {
    name: 'concurrent_fence',
    what: 'Java stands between its read and its conditional write while Firn settles a lost one by fencing',
    run: fencePausedWriter,
  },
  {
    name: 'concurrent_publish',
    what: 'Spark publishes audited branches and staged snapshots before, between and after commits of Firn',
    run: publishAfterFirn,
  },
  {
    name: 'spark_unasked',
    what: 'Spark writes a table, and Firn as deployed compacts it by the events that come of that',
    run: writeUnasked,
  },
];
