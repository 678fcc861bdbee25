import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isUnpartitioned } from '../../shared/iceberg/index.ts';
import { commitRewriteDeletes, type ScannedDataFile } from '../../shared/table/index.ts';
import {
  createTenRowFiles,
  deleteByEquality,
  deleteByPosition,
  deleteByVector,
  readHead,
  readInputDeletes,
  scanFiles,
  stageFolds,
  stageRewrites,
  tenRows,
} from './deletes-fixture.ts';
import { asRun, commit, ports, type Warehouse } from './replace-fixture.ts';

/** What another writer does; numbers choose among what there is. */
type Step =
  | { readonly kind: 'position'; readonly file: number; readonly rows: readonly number[] }
  | { readonly kind: 'wide'; readonly rows: readonly number[] }
  | { readonly kind: 'equality'; readonly isGlobal: boolean; readonly ids: readonly number[] }
  | { readonly kind: 'append' }
  | { readonly kind: 'spec' };

/** What happens before files are read, and between that and the commit. */
interface Round {
  readonly before: readonly Step[];
  readonly operation: 'purge' | 'carry' | 'fold' | 'convert';
  readonly isPartial: boolean;
  readonly between: readonly Step[];
}

const smallNumbers = fc.array(fc.nat(40), { minLength: 1, maxLength: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('position'), file: fc.nat(9), rows: smallNumbers }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wide'), rows: smallNumbers }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('equality'),
      isGlobal: fc.boolean(),
      ids: smallNumbers,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('append') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('spec') }) },
);
const steps = fc.array(step, { maxLength: 4 });
const round: fc.Arbitrary<Round> = fc.record({
  before: steps,
  operation: fc.constantFrom('purge', 'carry', 'fold', 'convert'),
  isPartial: fc.boolean(),
  between: steps,
});

async function takeStep(warehouse: Warehouse, one: Step): Promise<void> {
  const table = await warehouse.builder.load();
  const { files } = await scanFiles(warehouse, table);
  switch (one.kind) {
    case 'append':
      await warehouse.builder.append([{ rows: tenRows(30, 'eu'), partition: ['eu'], specId: 0 }]);
      return;
    case 'spec':
      await warehouse.builder.evolveSpec([]);
      return;
    case 'position':
      await deleteMore(warehouse, files[one.file % files.length], one.rows);
      return;
    case 'wide':
      if (table.metadata.formatVersion === 2) await deleteWidely(warehouse, files, one.rows);
      return;
    case 'equality': {
      const globalSpec = table.metadata.partitionSpecs.find(isUnpartitioned);
      if (files[0] === undefined) return;
      const { specId, dataFile } = files[0].entry;
      const place =
        one.isGlobal && globalSpec !== undefined
          ? { specId: globalSpec.specId, dataFile: { ...dataFile, partition: [] } }
          : { specId, dataFile };
      await deleteByEquality(warehouse, place, one.ids);
    }
  }
}

/** Vectors must hold what was deleted by position before. */
async function deleteMore(
  warehouse: Warehouse,
  file: ScannedDataFile | undefined,
  rows: readonly number[],
): Promise<void> {
  if (file === undefined) return;
  const table = await warehouse.builder.load();
  const { dataFile } = file.entry;
  const chosen = rows.map((each) => each % dataFile.recordCount);
  if (table.metadata.formatVersion === 2) {
    await deleteByPosition(
      warehouse,
      chosen.map((position) => [file.entry, position]),
    );
    return;
  }
  const read = await readInputDeletes(warehouse, table, [file]);
  const before = read.get(dataFile.filePath)?.byPosition.positions() ?? [];
  await deleteByVector(warehouse, file.entry, [...new Set([...before, ...chosen])]);
}

async function deleteWidely(
  warehouse: Warehouse,
  files: readonly ScannedDataFile[],
  rows: readonly number[],
): Promise<void> {
  const ofEu = files.filter(({ entry }) => entry.dataFile.partition[0] === 'eu');
  if (ofEu.length < 2) return;
  await deleteByPosition(
    warehouse,
    rows.map((each, index) => {
      const { entry } = ofEu[index % ofEu.length]!;
      return [entry, each % entry.dataFile.recordCount];
    }),
  );
}

/** @returns why groups were dropped */
async function takeRound(
  warehouse: Warehouse,
  { before, operation, isPartial, between }: Round,
  runId: string,
): Promise<readonly string[]> {
  for (const one of before) await takeStep(warehouse, one);
  const commitStaged = await stage(warehouse, operation, isPartial);
  for (const one of between) await takeStep(warehouse, one);
  const rowsBefore = await readHead(warehouse);

  const outcome = await commitStaged(runId);

  assert.deepEqual(await readHead(warehouse), rowsBefore);
  return outcome.droppedGroups.map(({ reason }) => reason);
}

async function stage(
  warehouse: Warehouse,
  operation: Round['operation'],
  isPartial: boolean,
): Promise<(runId: string) => ReturnType<typeof commit>> {
  if (operation === 'purge' || operation === 'carry') {
    const { files } = await scanFiles(warehouse, await warehouse.builder.load());
    const some = files.filter((_, index) => !isPartial || index % 2 === 0);
    const paths = some.map(({ entry }) => entry.dataFile.filePath);
    const staged = await stageRewrites(warehouse, { treatment: operation, paths });
    return (runId) => commit(staged, ports(warehouse), 'main', runId);
  }
  const convertsEquality = operation === 'convert';
  const staged = await stageFolds(warehouse, { convertsEquality, isSplit: isPartial });
  return (runId) =>
    asRun(
      ports(warehouse),
      (commitPorts) => commitRewriteDeletes({ ...staged, branch: 'main' }, commitPorts),
      runId,
    );
}

describe('commits beside writers that delete', () => {
  for (const formatVersion of [2, 3] as const) {
    it(`never change the rows, and compactions land whatever is deleted more, in v${formatVersion}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 3 }), async (rounds) => {
          const warehouse = await createTenRowFiles({ formatVersion });
          for (const [index, one] of rounds.entries()) {
            const reasons = await takeRound(warehouse, one, `run-${index}`);
            const isCompaction = one.operation === 'purge' || one.operation === 'carry';
            if (isCompaction) assert.deepEqual(reasons, []);
          }
        }),
        { seed: 20261130, numRuns: 25 },
      );
    });
  }
});
