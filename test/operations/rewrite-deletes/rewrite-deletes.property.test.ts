import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FileOfSpec, FormatVersion } from '../../../shared/iceberg/index.ts';
import { deletedRowsSlowly, tableAt } from '../../deletes/deleted-rows.ts';
import {
  commitDeletes,
  createWarehouse,
  currentRows,
  equalityDelete,
  FIELDS,
  fileScopedDelete,
  liveDeletes,
  partitionScopedDelete,
  rows,
  rowsBySnapshot,
  run,
  vectors,
  type Warehouse,
} from './deletes-fixture.ts';

const REGIONS = ['eu', 'us'] as const;
const ROWS_PER_FILE = 10;
const UNPARTITIONED_SPEC_ID = 1;

const position = fc.integer({ min: 0, max: ROWS_PER_FILE - 1 });
const region = fc.constantFrom(...REGIONS);

const step = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), region }),
  fc.record({ kind: fc.constant('append-unpartitioned' as const) }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('positions' as const),
      isFileScoped: fc.boolean(),
      picks: fc.array(fc.tuple(fc.nat(), position), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('equality' as const),
      region,
      isGlobal: fc.boolean(),
      isByRegion: fc.boolean(),
      ids: fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  fc.record({ kind: fc.constant('drop-data-file' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('upgrade' as const) }),
  fc.record({ kind: fc.constant('split' as const) }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('run' as const), isAll: fc.boolean() }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** What came of all runs: a test that did nothing proves nothing. */
const done = { runs: 0, removed: 0, added: 0 };

describe('rewriteDeletes', () => {
  test('leaves every retained snapshot as it was, and fewer delete files, whatever writers did', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<FormatVersion>(2, 2, 3),
        fc.array(step, { minLength: 6, maxLength: 14 }),
        async (formatVersion, steps) => {
          const history = await History.start(formatVersion);
          for (const each of steps) await history.take(each);
          await history.rewrite(true);
          await history.requireFixedPoint();
        },
      ),
      { numRuns: 40, seed: 5 },
    );
    assert.ok(done.runs > 40 && done.removed > 60 && done.added > 20, JSON.stringify(done));
  });
});

class History {
  readonly #warehouse: Warehouse;
  readonly #files: FileOfSpec[] = [];
  #formatVersion: FormatVersion;
  #nextId = 0;

  constructor(warehouse: Warehouse, formatVersion: FormatVersion) {
    this.#warehouse = warehouse;
    this.#formatVersion = formatVersion;
  }

  static async start(formatVersion: FormatVersion): Promise<History> {
    const warehouse = await createWarehouse({ formatVersion });
    // The table has an unpartitioned spec, too, for deletes of all partitions.
    await warehouse.writer.evolveSpec([]);
    const history = new History(warehouse, formatVersion);
    await history.take({ kind: 'append', region: 'eu' });
    return history;
  }

  async take(each: Step): Promise<void> {
    switch (each.kind) {
      case 'append':
        return this.#append(each.region, 0);
      case 'append-unpartitioned':
        return this.#append('eu', UNPARTITIONED_SPEC_ID);
      case 'positions':
        return each.isFileScoped || this.#formatVersion >= 3
          ? this.#deleteFromOne(each.picks)
          : this.#deleteFromPartition(each.picks);
      case 'equality':
        return this.#deleteEqual(each);
      case 'drop-data-file':
        return this.#dropDataFile(each.pick);
      case 'upgrade':
        if (this.#formatVersion < 3) await this.#warehouse.writer.upgrade(3);
        this.#formatVersion = 3;
        return;
      case 'split':
        return this.#warehouse.writer.setProperties({ 'write.delete.granularity': 'file' });
      case 'run':
        return this.rewrite(each.isAll);
    }
  }

  /** The operation itself, through the real commit. */
  async rewrite(isAll: boolean): Promise<void> {
    const before = await rowsBySnapshot(this.#warehouse);
    const rowsBefore = await currentRows(this.#warehouse);
    const deletesBefore = await liveDeletes(this.#warehouse);

    const outcome = await run(
      this.#warehouse,
      isAll ? { 'rewrite-all': 'true' } : { 'delete-file-threshold': '2' },
    );

    const after = await rowsBySnapshot(this.#warehouse);
    for (const [id, texts] of Object.entries(before)) assert.deepEqual(after[id], texts);
    assert.deepEqual(await currentRows(this.#warehouse), rowsBefore);
    assert.notEqual(outcome.outcome, 'partial', JSON.stringify(outcome, bigintText));
    const deletes = await liveDeletes(this.#warehouse);
    const paths = deletes.flatMap(({ kind, referencedDataFile }) =>
      kind === 'vector' ? [referencedDataFile] : [],
    );
    assert.equal(new Set(paths).size, paths.length, 'one vector a data file');
    done.runs++;
    if (outcome.outcome !== 'committed') return;
    assert.ok(outcome.groups.length > 0);
    for (const group of outcome.groups) {
      if (group.state !== 'committed') continue;
      done.removed += group.removedFileCount;
      done.added += group.addedFileCount;
    }
    if (this.#formatVersion >= 3 && isAll) {
      assert.deepEqual(
        deletes.map(({ kind }) => kind).filter((kind) => kind !== 'vector'),
        [],
      );
    }
    const countOf = (kind: string, from: typeof deletes) =>
      from.filter((one) => one.kind === kind).length;
    assert.ok(countOf('equality', deletes) <= countOf('equality', deletesBefore));
  }

  async requireFixedPoint(): Promise<void> {
    const again = await run(this.#warehouse, { 'rewrite-all': 'true' });
    const isDone = again.outcome === 'nothing-planned' || again.outcome === 'no-snapshot';
    assert.ok(isDone, JSON.stringify(again, bigintText));
  }

  async #append(inRegion: string, specId: number): Promise<void> {
    const firstId = this.#nextId;
    this.#nextId += ROWS_PER_FILE / 2;
    const [file] = await this.#warehouse.writer.append([
      {
        rows: rows(firstId, ROWS_PER_FILE, inRegion),
        partition: specId === 0 ? [inRegion] : [],
        specId,
      },
    ]);
    this.#files.push(file!);
  }

  #picked(pick: number): FileOfSpec | undefined {
    return this.#files[pick % this.#files.length];
  }

  async #deleteFromOne(picks: readonly (readonly [number, number])[]): Promise<void> {
    const file = this.#picked(picks[0]![0]);
    if (file === undefined) return;
    const positions = picks.map(([, each]) => each);
    if (this.#formatVersion < 3) {
      await commitDeletes(this.#warehouse, [
        await fileScopedDelete(this.#warehouse, file, positions),
      ]);
      return;
    }
    // A vector holds all that was deleted by position; the vectors around the old one move with it.
    const live = await liveDeletes(this.#warehouse);
    const old = live.find(
      ({ kind, referencedDataFile }) =>
        kind === 'vector' && referencedDataFile === file.dataFile.filePath,
    );
    const moved = live.filter(({ filePath }) => filePath === old?.filePath);
    const around = this.#files.filter(
      ({ dataFile }) =>
        dataFile.filePath === file.dataFile.filePath ||
        moved.some(({ referencedDataFile }) => referencedDataFile === dataFile.filePath),
    );
    const deleted = await this.#deletedRows();
    const written: FileOfSpec[] = [];
    for (const each of around) {
      const { filePath } = each.dataFile;
      const added = each === file ? positions : [];
      const all = [...(deleted[filePath] ?? []), ...added];
      written.push(...(await vectors(this.#warehouse, [{ file: each, positions: all }])));
    }
    await commitDeletes(this.#warehouse, written, old === undefined ? [] : [old.filePath]);
  }

  async #deletedRows() {
    const { metadataLocation } = await this.#warehouse.writer.load();
    return deletedRowsSlowly(await tableAt(this.#warehouse.store, metadataLocation));
  }

  async #deleteFromPartition(picks: readonly (readonly [number, number])[]): Promise<void> {
    const first = this.#picked(picks[0]![0]);
    if (first === undefined) return;
    const partition = this.#files.filter(
      ({ specId, dataFile }) =>
        specId === first.specId &&
        JSON.stringify(dataFile.partition) === JSON.stringify(first.dataFile.partition),
    );
    const deletes = picks.map(([pick, each]) => ({
      file: partition[pick % partition.length]!,
      positions: [each],
    }));
    await commitDeletes(this.#warehouse, [await partitionScopedDelete(this.#warehouse, deletes)]);
  }

  async #deleteEqual(each: Extract<Step, { kind: 'equality' }>): Promise<void> {
    const place = each.isGlobal
      ? { specId: UNPARTITIONED_SPEC_ID, dataFile: { partition: [] } }
      : { specId: 0, dataFile: { partition: [each.region] } };
    const fields = each.isByRegion ? FIELDS.slice(0, 2) : FIELDS.slice(0, 1);
    const deleted = each.ids.map((id) => ({ 1: BigInt(id), 2: each.region }));
    await commitDeletes(this.#warehouse, [
      await equalityDelete(this.#warehouse, place, deleted, fields),
    ]);
  }

  async #dropDataFile(pick: number): Promise<void> {
    const file = this.#picked(pick);
    if (file === undefined || this.#files.length < 2) return;
    this.#files.splice(this.#files.indexOf(file), 1);
    await this.#warehouse.writer.commit({
      operation: 'delete',
      removedPaths: [file.dataFile.filePath],
    });
  }
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
