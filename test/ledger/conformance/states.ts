import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DueTable, OperationState, TableState } from '../../../shared/ledger/index.ts';
import type { LedgerUnderTest } from './subject.ts';

const NEW: OperationState = { roundCount: 0, failureCount: 0 };

export function testStates(subject: LedgerUnderTest): void {
  describe('states', () => {
    const mark = (table: string, dueAtMs: number | undefined) =>
      subject.harness.ledger.states.change(table, (state) => ({
        ...state,
        operations: { op: dueAtMs === undefined ? NEW : { ...NEW, dueAtMs } },
      }));

    test('a table that nobody has looked at has none', async () => {
      assert.equal(await subject.harness.ledger.states.read('state.none'), undefined);
    });

    test('come back as they were written, with and without all that may be absent', async () => {
      const full: TableState = {
        table: 'state.full',
        tableUuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1',
        seen: {
          metadataLocation: 's3://w/metadata/1.metadata.json',
          readAtMs: 5,
          nextReadAtMs: 7,
          isEnabled: false,
        },
        look: { atMs: 900, reason: 'invalid-data', failureCount: 3 },
        operations: {
          'rewrite-data-files': {
            plan: {
              snapshotId: 9_007_199_254_740_993n,
              atMs: 4,
              untilMs: 3,
              mode: 'observe',
              fullAtMs: 2,
              stateLocation: 's3://state/plan.json',
            },
            owed: { reason: 'continuation', atMs: 8, sinceMs: 7 },
            firstDueAtMs: 1,
            dueAtMs: 1000,
            dueReason: 'continuation',
            queuedAtMs: 6,
            roundCount: 1,
            failureCount: 2,
          },
          another: { plan: { atMs: 0, untilMs: 0, mode: 'commit' }, ...NEW },
        },
      };
      const { ledger, other } = subject.harness;

      assert.deepEqual(await ledger.states.change('state.full', () => full), full);
      assert.deepEqual(await other.states.read('state.full'), full);

      const empty = { table: 'state.full', operations: {} };
      await other.states.change('state.full', () => empty);
      assert.deepEqual(await ledger.states.read('state.full'), empty);
    });

    test('a change begins with an empty one, and one that changes nothing writes nothing', async () => {
      const { ledger, items } = subject.harness;
      const before = await ledger.states.change('state.same', (state) => state);

      assert.deepEqual(before, { table: 'state.same', operations: {} });
      assert.equal(await items.read({ partition: 'state.same', sort: 'state' }), undefined);
    });

    test('a change that somebody was faster than is made again, on theirs', async () => {
      const table = 'state.race';
      const { ledger, other } = subject.harness;
      const round = (state: TableState): TableState => {
        const { op = NEW } = state.operations;
        return { ...state, operations: { op: { ...op, roundCount: op.roundCount + 1 } } };
      };

      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 ? ledger : other).states.change(table, round),
        ),
      );

      assert.equal((await ledger.states.read(table))?.operations['op']?.roundCount, 8);
    });

    test('those that are due are listed page by page, the longest due first', async () => {
      const times = { 'due.t1': 30, 'due.t2': 10, 'due.t3': 20, 'due.t4': undefined, 'due.t5': 41 };
      for (const [table, dueAtMs] of Object.entries(times)) await mark(table, dueAtMs);
      await subject.harness.ledger.states.change('due.t4', (state) => ({
        ...state,
        look: { atMs: 40, reason: 'rate-limited', failureCount: 0 },
      }));

      const pages: DueTable[][] = [];
      let cursor: DueTable | undefined;
      do {
        const page = await subject.harness.other.states.listDue({
          dueAtMsMax: 40,
          tableCountMax: 2,
          ...(cursor === undefined ? {} : { cursor }),
        });
        pages.push([...page.tables]);
        cursor = page.cursor;
      } while (cursor !== undefined);

      assert.deepEqual(
        pages.map((page) => page.map(({ table, dueAtMs }) => `${table} ${dueAtMs}`)),
        [['due.t2 10', 'due.t3 20'], ['due.t1 30', 'due.t4 40'], []],
      );
    });

    test('the earliest of its times counts, and one that is not due any more is not listed', async () => {
      const { ledger } = subject.harness;
      const listed = async (): Promise<readonly DueTable[]> => {
        const page = await ledger.states.listDue({ dueAtMsMax: 3, tableCountMax: 9 });
        return page.tables;
      };
      await ledger.states.change('due.earliest', (state) => ({
        ...state,
        look: { atMs: 3, reason: 'rate-limited', failureCount: 0 },
        operations: { one: { ...NEW, dueAtMs: 2 }, two: { ...NEW, dueAtMs: 4 } },
      }));
      assert.deepEqual(await listed(), [{ table: 'due.earliest', dueAtMs: 2 }]);

      await ledger.states.change('due.earliest', ({ table }) => ({ table, operations: {} }));
      assert.deepEqual(await listed(), []);
    });
  });
}
