import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError } from '../../../shared/base/index.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import type { LedgerUnderTest } from './subject.ts';

export function testItems(subject: LedgerUnderTest): void {
  describe('items', () => {
    const item = (sort: string, revision: string) =>
      ({ partition: 'items', sort, revision, body: { n: 1 } }) as const;

    test('are written and removed on condition of their revision', async () => {
      const { items } = subject.harness;
      const conflict = errorOfKind('commit-conflict');
      await assert.rejects(items.write(item('a', '2'), '1'), conflict);
      await assert.rejects(items.remove(item('a', '1'), '1'), conflict);
      await items.write(item('a', '1'), undefined);
      await assert.rejects(items.write(item('a', '2'), undefined), conflict);
      await assert.rejects(items.write(item('a', '2'), '0'), conflict);
      await items.write(item('a', '2'), '1');
      await assert.rejects(items.remove(item('a', '1'), '1'), conflict);

      assert.deepEqual(await items.read(item('a', '')), item('a', '2'));
      await items.remove(item('a', '2'), '2');
      assert.equal(await items.read(item('a', '')), undefined);
      await items.write(item('a', '3'), undefined);
      assert.deepEqual(await items.read(item('a', '')), item('a', '3'));
      await items.remove(item('a', '3'), '3');
    });

    test('are queried by prefix in either order, from behind a key, gone or not', async () => {
      const { items } = subject.harness;
      for (const sort of ['q#1', 'q#2', 'q#3', 'q#4', 'p#1', 'r#1']) {
        await items.write(item(sort, 'v'), undefined);
      }
      await items.remove(item('q#2', 'v'), 'v');
      const sorts = async (more: object) => {
        const query = { partition: 'items', sortPrefix: 'q#', order: 'ascending' } as const;
        const found = await items.query({ ...query, itemCountMax: 9, ...more });
        return found.map(({ sort }) => sort);
      };

      assert.deepEqual(await sorts({}), ['q#1', 'q#3', 'q#4']);
      assert.deepEqual(await sorts({ itemCountMax: 2 }), ['q#1', 'q#3']);
      assert.deepEqual(await sorts({ afterSort: 'q#2' }), ['q#3', 'q#4']);
      assert.deepEqual(await sorts({ order: 'descending' }), ['q#4', 'q#3', 'q#1']);
      assert.deepEqual(await sorts({ order: 'descending', afterSort: 'q#2' }), ['q#1']);
      assert.deepEqual(await sorts({ partition: 'elsewhere' }), []);
    });

    test('that are due are found across partitions, and say so no longer than they are', async () => {
      const { items } = subject.harness;
      const due = (partition: string, dueAtMs: number, revision = 'v') =>
        ({ partition, sort: 'due-x', revision, body: {}, dueAtMs }) as const;
      await items.write(due('due.b', 20), undefined);
      await items.write(due('due.a', 20), undefined);
      await items.write(due('due.c', 10), undefined);
      await items.write(due('due.d', 30), undefined);
      await items.write({ ...due('due.e', 5), sort: 'due-y' }, undefined);
      const found = async (dueAtMsMax: number, itemCountMax = 9) => {
        const page = await items.queryDue({ sort: 'due-x', dueAtMsMax, itemCountMax });
        return page.map(({ partition, dueAtMs }) => `${partition} ${dueAtMs}`).sort();
      };

      assert.deepEqual(await items.read(due('due.c', 0)), due('due.c', 10));
      assert.deepEqual(await found(9), []);
      assert.deepEqual(await found(10), ['due.c 10']);
      assert.deepEqual(await found(29), ['due.a 20', 'due.b 20', 'due.c 10']);
      assert.deepEqual(await found(99, 1), ['due.c 10']);

      await items.write(due('due.c', 40, 'v2'), 'v');
      const { dueAtMs: _, ...idle } = due('due.b', 0, 'v2');
      await items.write(idle, 'v');
      await items.remove(due('due.d', 0), 'v');

      assert.deepEqual(await found(99), ['due.a 20', 'due.c 40']);
    });

    test('of 10 writers on one base, one wins', async () => {
      const { items } = subject.harness;
      await items.write(item('race', 'base'), undefined);

      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) => items.write(item('race', `v${index}`), 'base')),
      );

      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') continue;
        assert.ok(isIcebergError(outcome.reason, 'commit-conflict'));
      }
    });
  });
}
