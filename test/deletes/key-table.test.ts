import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { KeyBatch } from '../../shared/deletes/key-batch.ts';
import { KeyTable } from '../../shared/deletes/key-table.ts';
import { MemoryBudget } from '../../shared/deletes/memory-budget.ts';
import { buildSchemaTree, type LeafValues, type SchemaLeaf } from '../../shared/parquet/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

const { leaves: LEAVES } = buildSchemaTree(
  [
    { name: 'root', numChildren: 2 },
    { name: 'n', repetitionType: 'OPTIONAL', type: 'INT64', fieldId: 1 },
    { name: 't', repetitionType: 'OPTIONAL', type: 'BYTE_ARRAY', fieldId: 2 },
  ],
  'test',
);

type Key = readonly [n: bigint | null, t: string | null];

function longs(values: readonly (bigint | null)[]): LeafValues {
  const present = values.filter((value) => value !== null);
  return {
    valueCount: values.length,
    definitionLevels: Uint8Array.from(values, (value) => (value === null ? 0 : 1)),
    values: {
      kind: 'fixed-width',
      widthBytes: 8,
      count: present.length,
      bytes: new Uint8Array(BigInt64Array.from(present).buffer),
    },
  };
}

function texts(values: readonly (string | null)[]): LeafValues {
  const present = values.filter((value) => value !== null).map((value) => Buffer.from(value));
  const lengths = Uint32Array.from(present, ({ length }) => length);
  let end = 0;
  return {
    valueCount: values.length,
    definitionLevels: Uint8Array.from(values, (value) => (value === null ? 0 : 1)),
    values: {
      kind: 'byte-array',
      count: present.length,
      heap: new Uint8Array(Buffer.concat(present)),
      starts: lengths.map((length) => {
        end += length;
        return end - length;
      }),
      lengths,
    },
  };
}

function batchOf(keys: readonly Key[], leaves: readonly SchemaLeaf[] = LEAVES): KeyBatch {
  const columns = [longs(keys.map(([n]) => n)), texts(keys.map(([, t]) => t))];
  return new KeyBatch({ rowCount: keys.length, columns }, leaves);
}

function tableOf(bytesMax = 2 ** 30): KeyTable {
  return new KeyTable('test', new MemoryBudget('test', bytesMax));
}

function matches(table: KeyTable, keys: readonly Key[], sequenceNumber: bigint): number[] {
  const rows: number[] = [];
  table.forEachMatch(batchOf(keys), sequenceNumber, (row) => rows.push(row));
  return rows;
}

const key = fc.tuple(
  fc.option(fc.bigInt({ min: -3n, max: 3n })),
  fc.option(fc.constantFrom('', 'a', 'b', 'ab', 'abcd', 'abcde', 'abcdefgh')),
);

describe('KeyTable', () => {
  test('finds what a plain map finds', () => {
    const additions = fc.array(fc.tuple(fc.bigInt({ min: 1n, max: 9n }), fc.array(key)));
    fc.assert(
      fc.property(additions, fc.array(key), fc.bigInt({ min: 0n, max: 9n }), (adds, keys, at) => {
        const table = tableOf();
        const map = new Map<string, bigint>();
        for (const [sequenceNumber, added] of adds) {
          table.add(batchOf(added), sequenceNumber);
          for (const each of added) {
            const before = map.get(textOf(each)) ?? 0n;
            if (before < sequenceNumber) map.set(textOf(each), sequenceNumber);
          }
        }

        const expected = keys.flatMap((each, row) =>
          (map.get(textOf(each)) ?? 0n) > at ? [row] : [],
        );
        assert.deepEqual(matches(table, keys, at), expected);
        assert.equal(table.entryCount, map.size);
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  test('grows', () => {
    const table = tableOf();
    const keys = Array.from({ length: 50_000 }, (_, index): Key => [BigInt(index), `t${index}`]);
    for (let start = 0; start < keys.length; start += 7_000) {
      table.add(batchOf(keys.slice(start, start + 7_000)), 2n);
    }

    assert.equal(table.entryCount, 50_000);
    assert.equal(matches(table, keys, 1n).length, 50_000);
    const others = keys.map(([n, t]): Key => [n! + 1n, t]);
    assert.deepEqual(matches(table, others, 1n), []);
  });

  test('stays within the memory it was given', () => {
    const table = tableOf(500_000);
    const keys = Array.from({ length: 20_000 }, (_, index): Key => [BigInt(index), null]);

    const message = /^test: its deletes need \d+ bytes of memory, the limit is 500000$/;
    assert.throws(() => table.add(batchOf(keys), 2n), errorOfKind('unsupported', message));
  });

  test('refuses keys that were chosen to collide rather than take quadratic time', () => {
    const table = tableOf();
    const keys = Array.from({ length: 600 }, (_, index): Key => [BigInt(index), null]);
    const batch = batchOf(keys);
    batch.hashes.fill(12_345);

    const message = /more than 512 of the keys to delete by have hashes alike/;
    assert.throws(() => table.add(batch, 2n), errorOfKind('unsupported', message));
  });
});

describe('KeyBatch', () => {
  test('spreads hashes of keys that are alike in their low bits', () => {
    const keys = Array.from({ length: 100_000 }, (_, index): Key => [BigInt(index) << 8n, null]);

    const { hashes } = batchOf(keys, LEAVES.slice(0, 1));

    const slots = new Uint8Array(2 ** 17);
    for (const hash of hashes) slots[hash & (2 ** 17 - 1)]! |= 1;
    const usedCount = slots.reduce((sum, used) => sum + used, 0);
    // By chance: 2^17 * (1 - e^(-100000 / 2^17)) = 69,954.
    assert.ok(Math.abs(usedCount - 69_954) < 700, `${usedCount} slots are used`);
  });
});

function textOf([n, t]: Key): string {
  return `${n}|${t === null ? 'null' : `"${t}"`}`;
}
