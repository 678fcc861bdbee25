// What each reader sees of a table, as canonical rows, and whether two of them see the same.

import assert from 'node:assert/strict';
import type { Reader } from './cells.ts';
import type { Tools } from './tools.ts';

/** A table as Iceberg Java describes it. */
export type Description = Readonly<{
  metadataLocation: string;
  columns: readonly string[];
  snapshotId: string;
  operation: string;
  summary: Readonly<Record<string, string>>;
  files: readonly Readonly<{ location: string; specId: number; partition: string }>[];
}>;

/** Differing rows shown in a failure. */
const DIFFERENCES_SHOWN = 3;

export function describeTable(tools: Tools, identifier: string): Promise<Description> {
  return tools.call('iceberg', 'describe', { table: identifier });
}

/** Canonical rows, sorted; Java's carry the lineage columns of a v3 table. */
export async function readRows(
  tools: Tools,
  { identifier, formatVersion }: Readonly<{ identifier: string; formatVersion: number }>,
  reader: Reader,
): Promise<readonly string[]> {
  const request = { table: identifier };
  switch (reader) {
    case 'java':
      return tools.call('iceberg', 'read', { ...request, lineage: formatVersion >= 3 });
    case 'pyiceberg':
      return tools.call('python', 'pyiceberg', request);
    case 'duckdb': {
      const { metadataLocation, columns } = await describeTable(tools, identifier);
      return tools.call('python', 'duckdb', { metadataLocation, columns });
    }
    case 'spark35':
      return tools.call('spark35', 'read', request);
  }
}

/** Compares canonical rows. @throws AssertionError — naming the first that differ */
export function assertSameRows(
  actual: readonly string[],
  expected: readonly string[],
  who: string,
): void {
  const [had, has] = [new Set(expected), new Set(actual)];
  const lost = expected.filter((row) => !has.has(row)).slice(0, DIFFERENCES_SHOWN);
  const gained = actual.filter((row) => !had.has(row)).slice(0, DIFFERENCES_SHOWN);
  const counts = `${actual.length} rows, expected ${expected.length}`;
  const shown = [
    ...lost.map((row) => `  lost   ${row}`),
    ...gained.map((row) => `  gained ${row}`),
  ];
  const same = actual.length === expected.length && actual.every((row, i) => row === expected[i]);
  assert.ok(same, [`${who}: ${counts}`, ...shown].join('\n'));
}
