// What happens to a table when several programs change it at once: told step by step, not spread over a matrix.

import { publishAfterFirn } from './audit-and-publish.ts';
import { writeBesideFirn } from './concurrent-writers.ts';
import { deleteBeforeAndAfterUpgrade, deleteInV2, deleteInV3 } from './deletes.ts';
import { deleteInSpark } from './deletes-by-spark.ts';
import { carryOverInV2, carryOverInV3, overwriteBesideFirn } from './deletes-carry-over.ts';
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
  /** It is about what files hold, so a run on both endpoints does not repeat it on moto. */
  isOfFormats?: true;
  run: (tools: Tools, warehouse: Warehouse, options: ScenarioOptions) => Promise<string[]>;
}>;

const READERS_OF_V2 =
  'read by java, pyiceberg, duckdb; no pyiceberg while there are equality deletes: PyIceberg 0.12.0 refuses them; ' +
  'no duckdb while there are: DuckDB 1.5.5 fails at partitions of null then';
const READERS_OF_V3 =
  'read by java, pyiceberg, duckdb; no pyiceberg while there are equality deletes: PyIceberg 0.12.0 refuses them';

/** All of them, in the order in which they start. */
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
  {
    name: 'deletes_v2',
    what: `position deletes by file and by partition, equality deletes in partitions and global, by Java; ${READERS_OF_V2}`,
    isOfFormats: true,
    run: deleteInV2,
  },
  {
    name: 'deletes_v3',
    what: `vectors, and equality deletes in partitions and global, by Java; ${READERS_OF_V3}`,
    isOfFormats: true,
    run: deleteInV3,
  },
  {
    name: 'deletes_upgraded',
    what: `position and equality deletes of v2, vectors after the upgrade, by Java; ${READERS_OF_V2}`,
    isOfFormats: true,
    run: deleteBeforeAndAfterUpgrade,
  },
  {
    name: 'deletes_spark',
    what: 'Spark deletes, updates and merges on read, by partition, by file, and after the upgrade by vectors; read by java, spark4, pyiceberg, duckdb',
    isOfFormats: true,
    run: deleteInSpark,
  },
  {
    name: 'deletes_carried_v2',
    what: `Java deletes within commits of Firn; on top Java upserts, compacts, expires, and Firn goes on; ${READERS_OF_V2}`,
    isOfFormats: true,
    run: carryOverInV2,
  },
  {
    name: 'deletes_carried_v3',
    what: `the same with vectors; ${READERS_OF_V3}`,
    run: carryOverInV3,
  },
  {
    name: 'deletes_copied',
    what: 'Java overwrites a file within a commit of Firn; readers of changes, Java and Spark, see nothing of it',
    isOfFormats: true,
    run: overwriteBesideFirn,
  },
];
