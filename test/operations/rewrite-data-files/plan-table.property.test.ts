import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PlannedGroup } from '../../../shared/operations/rewrite-data-files/index.ts';
import { MIN_FILE_AGE_MS, PlannedHistory } from './incremental-fixture.ts';

const SEED = 20261130;

/** What happens to a table; `choice` picks files and partitions. */
type Step =
  | { readonly step: 'append'; readonly choice: number; readonly sizes: readonly number[] }
  | { readonly step: 'delete' | 'overwrite'; readonly choice: number }
  | {
      readonly step: 'add-deletes';
      readonly choice: number;
      readonly scope: 'file' | 'partition' | 'equality' | 'global';
    }
  | { readonly step: 'remove-deletes'; readonly choice: number }
  | { readonly step: 'rollback' | 'evolve-spec' | 'wait' }
  | { readonly step: 'expire'; readonly keptCount: number }
  | { readonly step: 'plan'; readonly committed: number };

const choice = fc.nat(1_000);
const size = fc.oneof(fc.integer({ min: 50, max: 400 }), fc.integer({ min: 1, max: 2_500 }));

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      step: fc.constant('append' as const),
      choice,
      sizes: fc.array(size, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constantFrom('delete' as const, 'overwrite' as const),
      choice,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('add-deletes' as const),
      choice,
      scope: fc.constantFrom(
        'file' as const,
        'file' as const,
        'partition' as const,
        'equality' as const,
        'global' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('remove-deletes' as const), choice }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constantFrom('rollback' as const, 'evolve-spec' as const, 'wait' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('expire' as const),
      keptCount: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 8, arbitrary: fc.record({ step: fc.constant('plan' as const), committed: fc.nat(7) }) },
);

/** Partitions that lost files since the last plan: whether that is seen depends on what was committed later. */
class Shrunk {
  readonly partitions = new Set<string>();

  add(
    files: readonly {
      readonly specId: number;
      readonly dataFile: { readonly partition: readonly unknown[] };
    }[],
  ): void {
    for (const { specId, dataFile } of files)
      this.partitions.add(`${specId} ${String(dataFile.partition)}`);
  }
}

async function apply(
  step: Exclude<Step, { step: 'plan' }>,
  history: PlannedHistory,
  shrunk: Shrunk,
  specCount: { value: number },
): Promise<void> {
  const data = history.liveFiles('data');
  const pick = (index: number) => data[index % data.length]!;
  switch (step.step) {
    case 'append': {
      const specId = step.choice % specCount.value;
      const files = step.sizes.map((bytes, index) =>
        history.newFile(specId, step.choice + (index >> 1), bytes),
      );
      await history.commit('append', { addedManifests: [files] });
      return;
    }
    case 'delete':
    case 'overwrite': {
      const removed = pick(step.choice);
      const added = history.newFile(removed.specId, step.choice, 200);
      shrunk.add([removed]);
      await history.commit(step.step, {
        removedPaths: [removed.dataFile.filePath],
        addedManifests: step.step === 'overwrite' ? [[added]] : [],
      });
      return;
    }
    case 'add-deletes': {
      if (step.scope === 'global' && specCount.value < 3) return;
      await history.commit('overwrite', {
        addedManifests: [[history.newDelete(pick(step.choice), step.scope)]],
      });
      return;
    }
    case 'remove-deletes': {
      const deletes = history.liveFiles('deletes');
      const removed = deletes[step.choice % Math.max(1, deletes.length)];
      if (removed === undefined) return;
      shrunk.add([removed]);
      await history.commit('overwrite', { removedPaths: [removed.dataFile.filePath] });
      return;
    }
    case 'rollback':
      await history.rollback();
      return;
    case 'expire':
      await history.expire(step.keptCount);
      return;
    case 'evolve-spec':
      specCount.value = await history.evolveSpec();
      return;
    case 'wait':
      history.clock.advanceMs(MIN_FILE_AGE_MS);
      return;
  }
}

function withoutIndex({ groupIndex: _, ...group }: PlannedGroup): Omit<PlannedGroup, 'groupIndex'> {
  return group;
}

describe('a plan that goes on from the one before', () => {
  const scopes = { full: 0, incremental: 0 };
  let groupCount = 0;

  for (const [name, options] of [
    ['default options', { 'min-input-files': '3' }],
    ['few delete files wanted', { 'min-input-files': '3', 'delete-file-threshold': '2' }],
    ['all files asked for', { 'rewrite-all': 'true', 'max-file-group-input-files': '3' }],
  ] as const) {
    it(`has the groups of a plan of the whole table, with ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 6, maxLength: 24 }), async (sequence) => {
          const history = await PlannedHistory.create();
          const specCount = { value: 1 };
          let shrunk = new Shrunk();
          for (const step of [...sequence, { step: 'plan', committed: 7 } as const]) {
            history.clock.advanceMs(1_000);
            if (step.step !== 'plan') {
              await apply(step, history, shrunk, specCount);
              continue;
            }
            const { incremental, full } = await history.plan(options);
            const partitions = new Set(incremental.plan.groups.map((group) => group.partitionKey));
            const seen = full.plan.groups.filter((group) => partitions.has(group.partitionKey));
            assert.deepEqual(incremental.plan.groups.map(withoutIndex), seen.map(withoutIndex));
            assert.deepEqual(incremental.before, full.before);
            if (shrunk.partitions.size === 0) {
              assert.deepEqual(incremental.plan.groups, full.plan.groups);
              assert.equal(incremental.plan.dueAtMs, full.plan.dueAtMs);
            }
            scopes[incremental.plan.scope.kind]++;
            if (incremental.plan.scope.kind === 'incremental')
              groupCount += incremental.plan.groups.length;
            await history.compact(
              incremental,
              (index) => ((step.committed >> (index % 3)) & 1) === 1,
            );
            shrunk = new Shrunk();
          }
        }),
        { seed: SEED, numRuns: 40 },
      );
    });
  }

  it('was often made in these histories', () => {
    assert.ok(scopes.incremental > scopes.full, JSON.stringify(scopes));
    assert.ok(groupCount > 50, `${groupCount} groups`);
  });
});
