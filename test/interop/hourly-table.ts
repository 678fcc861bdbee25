// The table that Iceberg Java's jobs of `HourlyWriter.java` write, and what they tell of themselves.

import { setTimeout as delay } from 'node:timers/promises';
import { type Columns, schemaJson } from './columns.ts';
import { assertSameRows, readRows } from './read-table.ts';
import type { Tools } from './tools.ts';

const COLUMNS: Columns = { id: 'long', ts: 'timestamptz', version: 'int', note: 'string' };
const FORMAT_VERSION = 2;

const PROPERTIES = {
  'format-version': String(FORMAT_VERSION),
  'firn.verify': 'rows',
  // Two jobs that commit to one table all the time lose to each other more often than the default of 4 allows for.
  'commit.retry.num-retries': '10',
};

/** How often a job under way is looked after, in milliseconds, so that other cells can use the tool. */
const POLL_MS = 200;

/** One job: `retries` has an entry for each attempt after the first, with what had come in between. */
export type Job = Readonly<{
  kind: 'append' | 'merge';
  attempts: number;
  retries: readonly ('firn' | 'other' | 'nothing')[];
  /** Commits of Firn between its load of the table and its own commit. */
  firnCommits: number;
  failure: string | null;
}>;

/** Makes the table: `coldHours` old partitions and the last hour, five small files in each. */
export async function createHourlyTable(
  tools: Tools,
  identifier: string,
  coldHours: number,
): Promise<void> {
  await tools.call('iceberg', 'create', {
    table: identifier,
    schema: schemaJson(COLUMNS),
    spec: ['hour(ts)'],
    properties: PROPERTIES,
  });
  await tools.call('iceberg', 'seedHours', { table: identifier, coldHours });
}

/** Ends the loops of a table, each after the job that it is at, and tells all jobs. */
export async function stopJobs(tools: Tools, table: string): Promise<readonly Job[]> {
  await tools.call('iceberg', 'stopJobs', { table });
  for (;;) {
    const { running, jobs } = await tools.call<{ running: boolean; jobs: readonly Job[] }>(
      'iceberg',
      'jobs',
      { table },
    );
    if (!running) return jobs;
    await delay(POLL_MS);
  }
}

/** Holds the rows that each reader sees against the writers' own ledger; returns their number. */
export async function assertRowsAsWritten(tools: Tools, identifier: string): Promise<number> {
  const written = await tools.call<string[]>('iceberg', 'writtenRows', { table: identifier });
  for (const reader of ['java', 'pyiceberg', 'duckdb'] as const) {
    const rows = await readRows(tools, { identifier, formatVersion: FORMAT_VERSION }, reader);
    assertSameRows(rows, written, reader);
  }
  return written.length;
}
