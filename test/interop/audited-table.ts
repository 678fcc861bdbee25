// A table of Spark's that is written, audited and published beside Firn, and what its main should hold after each step.

import assert from 'node:assert/strict';
import { compactInto, type Outcome } from './firn.ts';
import { assertSameRows, readRows } from './read-table.ts';
import type { Tools, Warehouse } from './tools.ts';

/** Files of one INSERT: enough for Firn to have something to do after each. */
const FILES = 5;
const ROWS = 50;

/** Firn's rules are as shipped but for two: the files are seconds old, and so are its own commits. */
export const DEPLOYMENT = ['--min-file-age-ms', '0', '--commit-interval-ms', '0'];

/** What Firn is expected to say: it commits, or is held back by whom this matches. */
type Expected = 'committed' | RegExp;

/** A table in Spark, with the rows that main should have. */
export class AuditedTable {
  readonly #tools: Tools;
  readonly #warehouse: Warehouse;
  readonly #identifier: string;
  #main: readonly string[] = [];
  #nextId = 0;
  /** Runs of Firn that committed, and that were held back. */
  firnCommits = 0;
  firnWaits = 0;

  constructor(tools: Tools, warehouse: Warehouse, name: string) {
    this.#tools = tools;
    this.#warehouse = warehouse;
    this.#identifier = `${warehouse.namespace}.${name}`;
  }

  async create(): Promise<void> {
    await this.#sql(
      `CREATE TABLE ${this.#sqlName} (id BIGINT, note STRING) USING iceberg TBLPROPERTIES (
        'format-version' = '2', 'write.wap.enabled' = 'true', 'firn.verify' = 'rows')`,
    );
  }

  /** Calls a procedure of Iceberg's; arguments as SQL. */
  procedure(name: string, ...args: readonly string[]): Promise<readonly string[]> {
    const all = [`'${this.#sqlName}'`, ...args].join(', ');
    return this.#sql(`CALL interop.system.${name}(${all})`);
  }

  /** Inserts new rows wherever the session writes to; returns them as canonical text. */
  async insert(): Promise<readonly string[]> {
    const first = this.#nextId;
    this.#nextId += ROWS;
    await this.#sql(
      `INSERT INTO ${this.#sqlName} SELECT /*+ REPARTITION(${FILES}) */ id, concat('row ', id) FROM range(${first}, ${this.#nextId})`,
    );
    return Array.from({ length: ROWS }, (_, i) => `(${first + i},"row ${first + i}")`);
  }

  /** Deletes rows, by their ids. */
  async delete(rows: readonly string[]): Promise<void> {
    const ids = rows.map((row) => row.slice(1, row.indexOf(',')));
    await this.#sql(`DELETE FROM ${this.#sqlName} WHERE id IN (${ids.join(', ')})`);
  }

  /**
   * Writes while a setting of the session, `spark.wap.branch` or `spark.wap.id`, says where to. Other cells share the
   * session, but their tables have no `write.wap.enabled`.
   */
  async withSetting<Result>(
    [setting, value]: readonly [string, string],
    write: () => Promise<Result>,
  ): Promise<Result> {
    await this.#sql(`SET ${setting} = ${value}`);
    try {
      return await write();
    } finally {
      await this.#sql(`RESET ${setting}`);
    }
  }

  /** Inserts into main. */
  async insertIntoMain(): Promise<readonly string[]> {
    const rows = await this.insert();
    await this.assertPublished(rows);
    return rows;
  }

  /** Main has these rows more from now on; Spark and Java must see it so. */
  async assertPublished(rows: readonly string[]): Promise<void> {
    this.#main = [...this.#main, ...rows].sort();
    await this.#assertMain();
  }

  /** Main is without these rows from now on. */
  async assertDeleted(rows: readonly string[]): Promise<void> {
    this.#main = this.#main.filter((row) => !rows.includes(row));
    await this.#assertMain();
  }

  /** Compacts main with Firn; rows must be as before, whatever it did. */
  async firn(expected: Expected): Promise<void> {
    const wanted = expected === 'committed' ? expected : 'held-back';
    const outcome = await compactInto([wanted], this.#identifier, this.#warehouse, DEPLOYMENT);
    if (expected === 'committed') {
      this.firnCommits += 1;
    } else {
      this.firnWaits += 1;
      assertHeldBack(outcome, expected);
    }
    await this.#assertMain();
  }

  /** The staged snapshot of a `spark.wap.id`. */
  async stagedSnapshot(wapId: string): Promise<string> {
    const [row] = await this.#sql(
      `SELECT snapshot_id FROM ${this.#sqlName}.snapshots WHERE summary['wap.id'] = '${wapId}'`,
    );
    assert.match(row ?? '', /^\[\d+\]$/, `no snapshot is staged as ${wapId}`);
    return row?.slice(1, -1) ?? '';
  }

  async #assertMain(): Promise<void> {
    const table = this.#identifier;
    const bySpark = await this.#tools.call<string[]>('spark4', 'read', { table });
    assertSameRows(bySpark, this.#main, 'spark4');
    const byJava = await readRows(
      this.#tools,
      { identifier: this.#identifier, formatVersion: 2 },
      'java',
    );
    assertSameRows(byJava, this.#main, 'java');
  }

  /** Rows of a branch are main's and these, by Spark. */
  async assertBranch(branch: string, rows: readonly string[]): Promise<void> {
    const found = await this.#sql(`SELECT * FROM ${this.#sqlName} VERSION AS OF '${branch}'`);
    const canonical = found.map((row) => row.replace(/^\[(\d+),(.*)\]$/, '($1,"$2")'));
    assertSameRows(canonical.toSorted(), [...this.#main, ...rows].sort(), `branch ${branch}`);
  }

  get #sqlName(): string {
    return `interop.${this.#identifier}`;
  }

  #sql(sql: string): Promise<readonly string[]> {
    return this.#tools.call('spark4', 'sql', { sql });
  }
}

function assertHeldBack({ verdicts = [] }: Outcome, by: RegExp): void {
  assert.deepEqual(
    verdicts.map(({ guard, state }) => `${guard}: ${state}`),
    ['write-audit-publish: held-back'],
  );
  assert.match(verdicts[0]?.detail ?? '', by);
}
