// Java deletes between Firn's plan and its commit; Firn carries that over; then Java and Firn go on from there.

import assert from 'node:assert/strict';
import {
  NO_DEADLINE,
  randomUuid,
  silentLogger,
  systemClock,
  systemRandom,
} from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import {
  outcomeToJson,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import {
  type DeletedRows,
  DeletesTable,
  NAME_PARTITIONS,
  NULL_PARTITIONS,
  type RunJson,
} from './deletes-table.ts';
import { catalogWithRivals, openPorts } from './firn-ports.ts';
import { assertSameRows } from './read-table.ts';
import type { Tools, Warehouse } from './tools.ts';

/** Equality deletes in the partitions of spec 1, and global ones. */
const IN_PARTITIONS = { by: 'equality', specId: 1 } as const;
const EVERYWHERE = { by: 'equality', specId: 0 } as const;

/** What others commit before Firn's first pointer write, its second, ... */
type Rivals = readonly (() => Promise<void>)[];

/** Compacts in this process while others commit. */
async function compactBeside(table: DeletesTable, rivals: Rivals): Promise<RunJson> {
  const [clock, random] = [systemClock, systemRandom];
  const ports = openPorts(table.warehouse);
  const outcome = await rewriteDataFiles(
    {
      table: await loadTable(parseTableIdentifier(table.identifier), { ...ports, clock }),
      options: { 'rewrite-all': 'true' },
      mode: 'commit',
      runId: randomUuid(random),
      guards: LOWERED_GUARD_SETTINGS,
    },
    {
      ...{ catalog: catalogWithRivals(ports.catalog, rivals), store: ports.store },
      ...{ ledger: ports.openLedger(), clock, random, deadline: NO_DEADLINE, logger: silentLogger },
    },
  );
  return outcomeToJson(outcome) as unknown as RunJson;
}

/** A round: how Firn treats the deletes that it finds, and what Java deletes meanwhile. */
type Round = Readonly<{
  treatment: 'carry' | 'purge';
  /** Commits before each attempt of Firn's, one list for each. */
  meanwhile: readonly (readonly DeletedRows[])[];
  /** What Java deletes on top of Firn's commit, with new rows. */
  onTop: DeletedRows;
}>;

/** Firn commits over what Java deleted meanwhile; Java writes, compacts and expires on top. Returns rows carried over. */
async function carryOver(
  table: DeletesTable,
  { treatment, meanwhile, onTop }: Round,
): Promise<number> {
  const when = (what: string) =>
    `${what}, ${treatment} with ${meanwhile.flat().length} commits within`;
  await table.setProperties({ 'firn.rewrite-data-files.deletes': treatment });
  await table.rows();
  let expected: readonly string[] = [];
  const rivals = meanwhile.map((writes) => async () => {
    await table.deleteRows(...writes);
    expected = await table.rows();
  });
  const run = await compactBeside(table, rivals);
  assert.equal(run.outcome, 'committed', JSON.stringify(run.groups));
  table.assertSkips(run, []);
  // Those that sent nothing count as well: an attempt ends early where a newer manifest has to be read first.
  assert.ok((run.commits?.[0]?.attemptCount ?? 0) > meanwhile.length, when('attempts'));
  assert.ok((run.deletes?.carriedOverRowCount ?? 0) > 0, 'nothing was carried over');
  await table.assertCommitted(expected, when('after the commit'));
  await table.assertTimeTravel();
  await table.upsert(onTop);
  const upserted = await table.rows();
  assert.notDeepEqual(upserted, expected);
  await table.java('compact');
  assertSameRows(await table.rows(), upserted, when('after compaction by Java on top'));
  await table.java('expire');
  await table.assertRows(upserted, when('after expiry by Java on top'));
  await table.append();
  return run.deletes?.carriedOverRowCount ?? 0;
}

/** Expiry of Java's right on a carry-over commit, and Firn again. */
async function expireOnCommit(table: DeletesTable, writes: readonly DeletedRows[]): Promise<void> {
  await table.append();
  let expected: readonly string[] = [];
  const run = await compactBeside(table, [
    async () => {
      await table.deleteRows(...writes);
      expected = await table.rows();
    },
  ]);
  assert.equal(run.outcome, 'committed', JSON.stringify(run.groups));
  await table.java('expire');
  await table.assertCommitted(expected, 'after a carry-over and expiry by Java');
  await table.deleteRows({ ...EVERYWHERE, columns: ['name'], modulus: 31, remainder: 9 });
  await table.firn('deletes', { options: ['rewrite-all=true'] });
  assert.equal((await table.deleteCounts()).equality, 0);
  await table.append();
  await table.firn('compact', { options: ['rewrite-all=true'] });
}

async function carryAll(
  table: DeletesTable,
  rounds: readonly Round[],
  last: readonly DeletedRows[],
): Promise<string[]> {
  await table.create();
  const carried: number[] = [];
  for (const round of rounds) carried.push(await carryOver(table, round));
  await expireOnCommit(table, last);
  return [
    `${carried.join(' and ')} deleted rows carried over in v${table.formatVersion}; ${table.firnCommits} commits of Firn, ` +
      `${table.otherReads} reads by PyIceberg and DuckDB`,
  ];
}

export async function carryOverInV2(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const table = new DeletesTable({ tools, warehouse }, 'deletes_carried_v2', {
    formatVersion: 2,
    partitionField: NULL_PARTITIONS,
  });
  const carry: Round = {
    treatment: 'carry',
    meanwhile: [
      [
        { by: 'file', modulus: 11, remainder: 1 },
        { by: 'file', modulus: 11, remainder: 2 },
      ],
      [{ ...IN_PARTITIONS, columns: ['id'], modulus: 13, remainder: 3 }],
    ],
    onTop: { by: 'file', modulus: 13, remainder: 4 },
  };
  const purge: Round = {
    treatment: 'purge',
    meanwhile: [
      [
        { by: 'partition', modulus: 17, remainder: 5 },
        { ...EVERYWHERE, columns: ['day'], modulus: 29, remainder: 6 },
      ],
    ],
    onTop: { ...EVERYWHERE, columns: ['name'], modulus: 19, remainder: 7 },
  };
  return carryAll(table, [carry, purge], [{ by: 'partition', modulus: 23, remainder: 8 }]);
}

export async function carryOverInV3(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const table = new DeletesTable({ tools, warehouse }, 'deletes_carried_v3', {
    formatVersion: 3,
    partitionField: NAME_PARTITIONS,
  });
  const carry: Round = {
    treatment: 'carry',
    meanwhile: [
      [
        { by: 'vector', modulus: 11, remainder: 1 },
        { by: 'vector', modulus: 11, remainder: 2 },
      ],
      [{ ...EVERYWHERE, columns: ['day'], modulus: 29, remainder: 3 }],
    ],
    onTop: { by: 'vector', modulus: 13, remainder: 4 },
  };
  const purge: Round = {
    treatment: 'purge',
    meanwhile: [
      [
        { by: 'vector', modulus: 17, remainder: 5 },
        { ...IN_PARTITIONS, columns: ['category', 'name'], modulus: 19, remainder: 6 },
      ],
    ],
    onTop: { by: 'vector', modulus: 19, remainder: 7 },
  };
  return carryAll(table, [carry, purge], [{ by: 'vector', modulus: 23, remainder: 8 }]);
}

/** A table that is never deleted from but by overwriting files: a reader of its changes sees none of Firn's commits. */
export async function overwriteBesideFirn(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const table = new DeletesTable({ tools, warehouse }, 'deletes_copied', {
    formatVersion: 2,
    partitionField: NULL_PARTITIONS,
  });
  await table.create();
  const [first] = await table.java<readonly string[]>('snapshots');
  assert.ok(first !== undefined);
  const changes = () => table.java<string[]>('changelog', { fromSnapshotId: first });
  const viewOf = changelogView(table, first);
  let [expected, before, viewBefore]: (readonly string[])[] = [[], [], []];
  const run = await compactBeside(table, [
    async () => {
      await table.overwrite();
      expected = await table.rows();
      before = await changes();
      viewBefore = await viewOf();
    },
  ]);
  const dropped = run.groups?.filter(({ state }) => state === 'dropped') ?? [];
  assert.deepEqual(
    dropped.map(({ reason }) => reason),
    ['input-gone'],
  );
  assert.ok(run.groups?.some(({ state }) => state === 'committed'));
  await table.assertCommitted(expected ?? [], 'after an overwrite within');
  assert.deepEqual(await changes(), before);
  assert.deepEqual(await viewOf(), viewBefore);
  return [
    `${before?.length} files of changes, ${viewBefore?.length} rows of Spark's changelog view, before and after`,
  ];
}

/** Returns what gives the rows of Spark's view of all changes since a snapshot. */
function changelogView(
  { tools, identifier }: DeletesTable,
  since: string,
): () => Promise<readonly string[]> {
  const sql = (text: string) => tools.call<readonly string[]>('spark4', 'sql', { sql: text });
  return async () => {
    await sql(
      `CALL interop.system.create_changelog_view(table => 'interop.${identifier}', changelog_view => 'deletes_changes', ` +
        `options => map('start-snapshot-id', '${since}'))`,
    );
    return (
      await sql(
        'SELECT id, note, _change_type, _change_ordinal, _commit_snapshot_id FROM deletes_changes',
      )
    ).toSorted();
  };
}
