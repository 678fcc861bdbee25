// A table whose rows Iceberg Java deletes in every way, and what must hold after each commit of Firn.

import assert from 'node:assert/strict';
import { type Columns, schemaJson } from './columns.ts';
import { FIRN_DONE, LOWERED_GUARDS, runFirn } from './firn.ts';
import { assertSameRows, describeTable, readRows } from './read-table.ts';
import type { Tools, Warehouse } from './tools.ts';

/** Fields 1 to 4 are the keys that `TableRows.java` makes; `day` is an equality key with nulls. */
const COLUMNS: Columns = {
  ...{ id: 'int', category: 'string', name: 'string', ts: 'timestamptz' },
  ...{ day: 'date', amount: 'decimal(9, 2)', ratio: 'double', note: 'string' },
  tags: { list: 'int' },
};

/** Partition fields: one gives a partition of null, with which DuckDB 1.5.5 reads no equality deletes; the other does not. */
export const NULL_PARTITIONS = 'category';
export const NAME_PARTITIONS = 'truncate[3](name)';

const ROWS_PER_COMMIT = 60;

/** Rows to delete: those whose `id` leaves a remainder; `rows` from `firstId` on are added by the same commit. */
export type DeletedRows = Readonly<{
  modulus: number;
  remainder: number;
  rows?: number;
  firstId?: number;
}> &
  (
    | Readonly<{ by: 'file' | 'partition' | 'vector' }>
    | Readonly<{ by: 'equality'; columns: readonly string[]; specId: number }>
  );

/** Live delete files by kind, and the rows that they say they delete. */
export type DeleteCounts = Readonly<
  Record<
    'vectors' | 'fileScoped' | 'partitionScoped' | 'equality' | 'positionRows' | 'equalityRows',
    number
  >
>;

/** What `--json` says of a run that committed, as far as it is looked at. */
export type RunJson = Readonly<{
  outcome: string;
  groups?: readonly Readonly<{ state: string; reason?: string }>[];
  commits?: readonly Readonly<{ attemptCount: number }>[];
  deletes?: Readonly<{
    purgedRowCount: number;
    carriedRowCount: number;
    carriedOverRowCount: number;
  }>;
  plan?: Readonly<{
    skippedFiles?: Readonly<Record<string, unknown>>;
    skipped?: Readonly<Record<string, unknown>>;
  }>;
}>;

export class DeletesTable {
  readonly tools: Tools;
  readonly warehouse: Warehouse;
  readonly identifier: string;
  formatVersion: number;
  /** Rows of each head that was read, by snapshot: time travel has to give them again. */
  readonly #rowsAt = new Map<string, Readonly<{ rows: readonly string[]; lineage: boolean }>>();
  readonly #partitionField: string;
  #nextId = 0;
  firnCommits = 0;
  /** Reads by others than Java that were compared. */
  otherReads = 0;

  constructor(
    { tools, warehouse }: Readonly<{ tools: Tools; warehouse: Warehouse }>,
    name: string,
    { formatVersion, partitionField }: Readonly<{ formatVersion: number; partitionField: string }>,
  ) {
    this.#partitionField = partitionField;
    this.tools = tools;
    this.warehouse = warehouse;
    this.identifier = `${warehouse.namespace}.${name}`;
    this.formatVersion = formatVersion;
  }

  java<Answer>(command: string, request: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.tools.call('iceberg', command, { ...request, table: this.identifier });
  }

  /** Creates it in spec 0, which has no fields, and goes on in spec 1, which has one; both have files. */
  async create(): Promise<void> {
    await this.java('create', {
      schema: schemaJson(COLUMNS),
      spec: [],
      properties: { 'format-version': String(this.formatVersion), 'firn.verify': 'rows' },
    });
    await this.append();
    await this.java('updateSpec', { remove: [], add: [this.#partitionField] });
    await this.append();
    await this.append();
  }

  /** Appends new rows, or those of an earlier commit again. */
  async append(firstId?: number): Promise<void> {
    const first = firstId ?? this.#nextId;
    this.#nextId = Math.max(this.#nextId, first + ROWS_PER_COMMIT);
    await this.java('append', { rows: ROWS_PER_COMMIT, files: 3, firstId: first });
  }

  /** Replaces one data file by new ones. */
  async overwrite(): Promise<void> {
    await this.java('overwrite', { rows: ROWS_PER_COMMIT, files: 1, firstId: this.#nextId });
    this.#nextId += ROWS_PER_COMMIT;
  }

  async deleteRows(...all: readonly DeletedRows[]): Promise<void> {
    for (const rows of all) await this.java('deleteRows', rows);
  }

  /** Deletes rows and adds new ones in one commit. */
  async upsert(rows: DeletedRows): Promise<void> {
    const firstId = this.#nextId;
    this.#nextId += ROWS_PER_COMMIT;
    await this.deleteRows({ ...rows, rows: ROWS_PER_COMMIT, firstId });
  }

  setProperties(properties: Readonly<Record<string, string>>): Promise<void> {
    return this.java('setProperties', { properties });
  }

  async upgrade(): Promise<void> {
    await this.setProperties({ 'format-version': '3' });
    this.formatVersion = 3;
  }

  deleteCounts(): Promise<DeleteCounts> {
    return this.java('deleteCounts');
  }

  /** Java's rows of the head, with lineage in v3; remembered for time travel. */
  async rows(): Promise<readonly string[]> {
    const { snapshotId } = await describeTable(this.tools, this.identifier);
    const rows = await readRows(this.tools, this, 'java');
    this.#rowsAt.set(snapshotId, { rows, lineage: this.formatVersion >= 3 });
    return rows;
  }

  /** Demands that every reader that can sees the rows. */
  async assertRows(expected: readonly string[], when: string): Promise<void> {
    assertSameRows(await this.rows(), expected, `${this.identifier} ${when}: java`);
    const plain = this.formatVersion < 3 ? expected : withoutLineage(expected);
    const { equality } = await this.deleteCounts();
    for (const reader of ['pyiceberg', 'duckdb'] as const) {
      if (equality > 0 && (reader === 'pyiceberg' || this.#partitionField === NULL_PARTITIONS))
        continue;
      const rows = await readRows(this.tools, this, reader);
      assertSameRows(rows, plain, `${this.identifier} ${when}: ${reader}`);
      this.otherReads += 1;
    }
  }

  /** Demands of all snapshots read before that are retained that Java reads the same rows again. */
  async assertTimeTravel(): Promise<void> {
    for (const snapshotId of await this.java<readonly string[]>('snapshots')) {
      const expected = this.#rowsAt.get(snapshotId);
      if (expected === undefined) continue;
      const { lineage } = expected;
      const rows = await this.java<string[]>('read', { snapshotId, lineage });
      assertSameRows(rows, expected.rows, `${this.identifier} as of ${snapshotId}`);
    }
  }

  /**
   * Runs `firn compact` or `firn deletes` by the command line, and demands that all that was planned is committed,
   * that rows are the same for all readers, and that the summary counts what the manifests hold.
   */
  async firn(
    command: 'compact' | 'deletes',
    {
      options = [],
      skips = [],
    }: Readonly<{ options?: readonly string[]; skips?: readonly string[] }>,
  ): Promise<RunJson> {
    const before = await this.rows();
    const args = [command, this.identifier, '--json', ...LOWERED_GUARDS];
    const given = options.flatMap((option) => ['--option', option]);
    const { code, stdout, stderr } = await runFirn([...args, ...given], this.warehouse);
    assert.equal(code, FIRN_DONE, `firn ${command} ended with ${code}\n${stdout}${stderr}`);
    const run = JSON.parse(stdout) as RunJson;
    assert.equal(run.outcome, 'committed', stdout);
    this.assertSkips(run, skips);
    await this.assertCommitted(before, `after firn ${command} ${options.join(' ')}`);
    return run;
  }

  assertSkips({ plan }: RunJson, expected: readonly string[]): void {
    const skipped = Object.keys(plan?.skippedFiles ?? plan?.skipped ?? {});
    assert.deepEqual(
      skipped.filter((reason) => !expected.includes(reason)),
      [],
      `${this.identifier}: left alone for other reasons than ${expected}`,
    );
  }

  /** Demands that the head is a commit of Firn that changed no row. */
  async assertCommitted(before: readonly string[], when: string): Promise<void> {
    const { operation, summary, files } = await describeTable(this.tools, this.identifier);
    assert.equal(operation, 'replace', when);
    assert.ok(summary['firn.run-id'] !== undefined, `${when}: the head is not Firn's`);
    const counts = await this.deleteCounts();
    const { vectors, fileScoped, partitionScoped, equality } = counts;
    const totals = {
      'total-data-files': files.length,
      'total-delete-files': vectors + fileScoped + partitionScoped + equality,
      'total-position-deletes': counts.positionRows,
      'total-equality-deletes': counts.equalityRows,
    };
    for (const [name, count] of Object.entries(totals)) {
      assert.equal(summary[name], String(count), `${this.identifier} ${when}: ${name}`);
    }
    await this.assertRows(before, when);
    this.firnCommits += 1;
  }
}

/** Java's rows without the two lineage columns that follow the table's own. */
function withoutLineage(rows: readonly string[]): readonly string[] {
  return rows.map((row) => row.replace(/,(null|\d+),(null|\d+)\)$/, ')')).sort();
}
