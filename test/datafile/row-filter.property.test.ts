import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RowFilter } from '../../shared/datafile/row-filter.ts';
import { buildSchemaTree, type LeafValues } from '../../shared/parquet/index.ts';
import { bitmapOf } from './rewrite-fixture.ts';

const PROPERTY = { seed: 20261130, numRuns: 500 };

/** An optional list of optional values: entries below level 3 have none. */
const LEAF = buildSchemaTree(
  [
    { name: 'root', numChildren: 1 },
    { name: 'l', repetitionType: 'OPTIONAL', numChildren: 1 },
    { name: 'list', repetitionType: 'REPEATED', numChildren: 1 },
    { name: 'element', repetitionType: 'OPTIONAL', type: 'INT32' },
  ],
  'test',
).leaves[0]!;

interface Entry {
  readonly repetition: number;
  readonly definition: number;
  readonly value: number;
}

/** Rows of entries; no more than one where there is no list, or an empty one. */
const row = fc
  .array(fc.record({ definition: fc.integer({ min: 2, max: 3 }), value: fc.nat(255) }), {
    minLength: 1,
    maxLength: 6,
  })
  .chain((entries) =>
    fc.constantFrom(entries, [{ definition: 0, value: 0 }], [{ definition: 1, value: 0 }]),
  )
  .map((entries) =>
    entries.map((entry, index): Entry => ({ ...entry, repetition: index === 0 ? 0 : 1 })),
  );

function batchOf(entries: readonly Entry[], isByteArray: boolean): LeafValues {
  const own = entries.filter(({ definition }) => definition === 3).map(({ value }) => value);
  const bytes = Uint8Array.from(own);
  return {
    valueCount: entries.length,
    repetitionLevels: Uint8Array.from(entries, ({ repetition }) => repetition),
    definitionLevels: Uint8Array.from(entries, ({ definition }) => definition),
    values: isByteArray
      ? {
          kind: 'byte-array',
          count: own.length,
          heap: bytes,
          starts: Uint32Array.from(own.keys()),
          lengths: new Uint32Array(own.length).fill(1),
        }
      : { kind: 'fixed-width', widthBytes: 1, count: own.length, bytes },
  };
}

function entriesOf({
  repetitionLevels,
  definitionLevels,
  values,
  valueCount,
}: LeafValues): Entry[] {
  let index = 0;
  return Array.from({ length: valueCount }, (_, entry) => {
    const definition = definitionLevels![entry]!;
    const at = definition < 3 ? -1 : index++;
    const bytes = values.kind === 'byte-array' ? values.heap : values.bytes;
    const offset = values.kind === 'byte-array' ? values.starts[at] : at;
    const value = at < 0 ? 0 : bytes[offset!]!;
    return { repetition: repetitionLevels![entry]!, definition, value };
  });
}

describe('RowFilter', () => {
  test('takes out whole rows, wherever batches end', () => {
    const example = fc.record({
      rows: fc.array(row, { maxLength: 30 }),
      dropped: fc.uniqueArray(fc.nat(40)),
      batchSizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 }),
      firstPosition: fc.nat(5),
      isByteArray: fc.boolean(),
    });
    fc.assert(
      fc.property(example, ({ rows, dropped, batchSizes, firstPosition, isByteArray }) => {
        const isDropped = (index: number) => dropped.includes(firstPosition + index);
        const entries = rows.flat();
        const filter = new RowFilter(LEAF, bitmapOf(dropped), firstPosition);

        const kept: Entry[] = [];
        for (let start = 0, round = 0; start < entries.length; round++) {
          const end = start + batchSizes[round % batchSizes.length]!;
          kept.push(...entriesOf(filter.keep(batchOf(entries.slice(start, end), isByteArray))));
          start = end;
        }

        const withValues = (each: readonly Entry[]) =>
          each.map((entry) => (entry.definition < 3 ? { ...entry, value: 0 } : entry));
        assert.deepEqual(kept, withValues(rows.filter((_, index) => !isDropped(index)).flat()));
        const gone = rows.filter((_, index) => isDropped(index)).flat();
        assert.equal(filter.droppedValueCount, gone.length);
        assert.equal(
          filter.droppedNullCount,
          gone.filter(({ definition }) => definition < 3).length,
        );
      }),
      PROPERTY,
    );
  });
});
