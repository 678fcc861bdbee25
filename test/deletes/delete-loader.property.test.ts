import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Row } from '../../local/table-writer/index.ts';
import type { FileOfSpec, NestedField, SingleValue } from '../../shared/iceberg/index.ts';
import {
  type ExampleTable,
  equalityDeleteFile,
  exampleTable,
  optionalField,
  positionDeleteFile,
} from './delete-files-fixture.ts';
import { deletedRows, deletedRowsSlowly } from './deleted-rows.ts';

const P = optionalField(1, 'p', 'int');
const LONG = optionalField(2, 'a', 'long');
const TEXT = optionalField(3, 'b', 'string');
const INT = optionalField(4, 'c', 'int');
const FLAG = optionalField(5, 'd', 'boolean');
const BYTES = optionalField(6, 'e', { kind: 'binary' });
/** Added by some scripts: rows of older files hold its default. */
const LATE = optionalField(7, 'late', 'int', { initialDefault: 7 });
const FIELDS = [P, LONG, TEXT, INT, FLAG, BYTES];
const UNPARTITIONED_SPEC_ID = 1;

/** Few values of each column, so that keys meet. */
const VALUES: Readonly<Record<number, readonly (SingleValue | null)[]>> = {
  2: [null, 0n, 1n, -1n, 2n ** 40n, 2n ** 40n + 1n, -(2n ** 63n)],
  3: [null, '', 'a', 'ab', 'é', 'a longer text of 29 characters'],
  4: [null, 0, 1, -1, 2 ** 31 - 1],
  5: [null, true, false],
  7: [null, 7, 8],
  6: [null, new Uint8Array(0), Uint8Array.of(0), Uint8Array.of(0, 0), Uint8Array.of(255)],
};

const row = fc.record(
  Object.fromEntries(
    Object.entries(VALUES).map(([fieldId, values]) => [fieldId, fc.constantFrom(...values)]),
  ),
) as fc.Arbitrary<Row>;

const partition = fc.constantFrom(1 as const, 2 as const, 'none' as const);

const action = fc.oneof(
  fc.record({
    kind: fc.constant('append' as const),
    partition,
    rows: fc.array(row, { minLength: 1, maxLength: 30 }),
  }),
  fc.record({
    kind: fc.constant('equality' as const),
    partition,
    fieldIds: fc.subarray([2, 3, 4, 5, 6, 7], { minLength: 1, maxLength: 2 }),
    rows: fc.array(row, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('positions' as const),
    partition,
    isFileScoped: fc.boolean(),
    picks: fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 8 }),
  }),
  fc.record({ kind: fc.constantFrom('promote', 'rename', 'drop', 'add') }),
);

type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

describe('createDeleteLoader', () => {
  test('finds the rows that another reader finds, in whatever order writers came', async () => {
    let deletedCount = 0;
    const actions = fc.array(action, { minLength: 6, maxLength: 16 });
    await fc.assert(
      fc.asyncProperty(actions, async (script) => {
        const run = await ScriptRun.start();
        await run.append(1, [{ 2: 1n, 3: 'a', 4: 1, 5: true, 6: null }]);
        for (const step of script) await run.take(step);

        const table = await run.table.load();
        const deleted = await deletedRows(table);
        assert.deepEqual(deleted, await deletedRowsSlowly(table));
        deletedCount += Object.values(deleted).flat().length;
      }),
      { numRuns: 60, seed: 20_261_130 },
    );
    assert.ok(deletedCount > 200, `${deletedCount} rows were deleted`);
  });
});

class ScriptRun {
  readonly table: ExampleTable;
  readonly #files: FileOfSpec[] = [];
  #fields: readonly NestedField[] = FIELDS;

  private constructor(table: ExampleTable) {
    this.table = table;
  }

  /** Spec 0 is by `p`; deletes of spec 1, which has no fields, are global. */
  static async start(): Promise<ScriptRun> {
    const identity = { kind: 'identity' } as const;
    const table = await exampleTable({
      fields: FIELDS,
      formatVersion: 3,
      partitionFields: [{ sourceIds: [1], fieldId: 1000, name: 'p', transform: identity }],
    });
    await table.writer.evolveSpec([]);
    return new ScriptRun(table);
  }

  async take(step: Action): Promise<void> {
    switch (step.kind) {
      case 'append':
        await this.append(step.partition, step.rows);
        break;
      case 'equality':
        await this.#deleteByValue(step);
        break;
      case 'positions':
        await this.#deleteByPosition(step);
        break;
      default:
        await this.#evolve(step.kind);
    }
  }

  async append(partition: 1 | 2 | 'none', rows: readonly Row[]): Promise<void> {
    const p = partition === 'none' ? 3 : partition;
    const place = placeOf(partition);
    const file = { ...place.dataFile, specId: place.specId };
    const full = rows.map((each) => this.#typed({ ...each, 1: p }, this.#fields));
    const layout = { rowsPerRowGroup: 7 };
    this.#files.push(...(await this.table.writer.append([{ ...file, rows: full, layout }])));
  }

  async #deleteByValue({
    partition,
    fieldIds,
    rows,
  }: Extract<Action, { kind: 'equality' }>): Promise<void> {
    // A column beyond those it deletes by must not matter, nor their order.
    const known = [...FIELDS, ...this.#fields];
    const fields = [1, ...fieldIds].flatMap(
      (fieldId) => known.findLast((field) => field.fieldId === fieldId) ?? [],
    );
    if (fields.length === 1) return;
    const typed = rows.map((each) => this.#typed({ ...each, 1: 9 }, fields));
    const equalityIds = fields
      .slice(1)
      .map(({ fieldId }) => fieldId)
      .toReversed();
    const file = { fields, rows: typed, equalityIds };
    await this.table.addDeleteFile(await equalityDeleteFile(this.table, placeOf(partition), file));
  }

  async #deleteByPosition({
    partition,
    isFileScoped,
    picks,
  }: Extract<Action, { kind: 'positions' }>): Promise<void> {
    const place = placeOf(partition);
    const files = this.#files.filter(
      ({ specId, dataFile }) =>
        specId === place.specId && dataFile.partition[0] === place.dataFile.partition[0],
    );
    if (files.length === 0) return;
    const rows = picks.map(([pick, nth]) => {
      const { dataFile } = files[isFileScoped ? 0 : pick % files.length]!;
      return { path: dataFile.filePath, position: nth % dataFile.recordCount };
    });
    await this.table.addDeleteFile(await positionDeleteFile(this.table, place, rows));
  }

  async #evolve(kind: string): Promise<void> {
    if (kind === 'promote') {
      this.#fields = this.#fields.map((field) =>
        field.fieldId === INT.fieldId ? { ...field, type: { kind: 'long' } } : field,
      );
    } else if (kind === 'rename') {
      this.#fields = this.#fields.map((field) =>
        field.fieldId === LONG.fieldId ? { ...field, name: `${field.name}_` } : field,
      );
    } else if (kind === 'drop') {
      this.#fields = this.#fields.filter(({ fieldId }) => fieldId !== TEXT.fieldId);
    } else if (!this.#fields.includes(LATE)) this.#fields = [...this.#fields, LATE];
    await this.table.writer.evolveSchema(this.#fields);
  }

  /** Values as the fields have them now: a whole number is a bigint once its column is long. */
  #typed(values: Row, fields: readonly NestedField[]): Row {
    const isLong = (fieldId: string) =>
      fields.some((field) => field.fieldId === Number(fieldId) && field.type.kind === 'long');
    return Object.fromEntries(
      Object.entries(values).map(([fieldId, value]) => [
        fieldId,
        typeof value === 'number' && isLong(fieldId) ? BigInt(value) : value,
      ]),
    );
  }
}

function placeOf(partition: 1 | 2 | 'none') {
  const isNone = partition === 'none';
  const tuple = isNone ? [] : [partition];
  return { specId: isNone ? UNPARTITIONED_SPEC_ID : 0, dataFile: { partition: tuple } };
}
