import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type KeptRange, type MapParts, PositionMap } from '../../shared/datafile/index.ts';
import { bitmapOf } from './rewrite-fixture.ts';

const PROPERTY = { seed: 20261130, numRuns: 400 };

/** A map as a plain array: for each row of each input its output and position there, or undefined. */
type Model = readonly (readonly (readonly [outputIndex: number, position: number] | undefined)[])[];

interface Example {
  readonly parts: MapParts;
  readonly model: Model;
}

const inputRows = fc.array(fc.array(fc.boolean(), { maxLength: 40 }), {
  minLength: 1,
  maxLength: 5,
});

/** Kept rows of the inputs in the order of the outputs, cut into outputs. */
function exampleOf(
  isKept: readonly (readonly boolean[])[],
  order: readonly (readonly [inputIndex: number, row: number])[],
  outputEnds: readonly number[],
  rows: (places: readonly (readonly number[])[]) => MapParts['rows'],
): Example {
  const ends = [...new Set(outputEnds.map((end) => end % (order.length + 1)))].sort(
    (one, other) => one - other,
  );
  const bounds = [0, ...ends.filter((end) => end > 0 && end < order.length), order.length];
  const outputRowCounts = bounds.slice(1).map((end, index) => end - bounds[index]!);
  const model = isKept.map((flags) =>
    flags.map((): readonly [number, number] | undefined => undefined),
  );
  const places: number[][] = isKept.map(() => []);
  for (const [place, [inputIndex, row]] of order.entries()) {
    const outputIndex = bounds.findLastIndex((start) => start <= place);
    model[inputIndex]![row] = [outputIndex, place - bounds[outputIndex]!];
    places[inputIndex]![row] = place;
  }
  const inputs = isKept.map((flags) => ({
    rowCount: flags.length,
    gone: bitmapOf(flags.flatMap((isHere, row) => (isHere ? [] : [row]))),
  }));
  const inKeptOrder = places.map((own) => own.filter((place) => place !== undefined));
  return { model, parts: { inputs, outputRowCounts, rows: rows(inKeptOrder) } };
}

function keptRows(isKept: readonly (readonly boolean[])[]): [number, number][] {
  return isKept.flatMap((flags, inputIndex) =>
    flags.flatMap((isHere, row): [number, number][] => (isHere ? [[inputIndex, row]] : [])),
  );
}

const outputEnds = fc.array(fc.nat({ max: 200 }), { maxLength: 4 });

/** Rows in stretches, which may come in any order. */
const rangesExample = fc
  .tuple(inputRows, outputEnds, fc.array(fc.nat(), { minLength: 200, maxLength: 200 }))
  .map(([isKept, ends, keys]) => {
    const stretches: { range: KeptRange; rows: [number, number][]; key: number }[] = [];
    for (const [inputIndex, flags] of isKept.entries()) {
      const rows = keptRows(isKept).filter(([index]) => index === inputIndex);
      for (let first = 0; first < rows.length; ) {
        const key = keys[inputIndex * 40 + first]!;
        const own = rows.slice(first, first + 1 + (key % flags.length));
        stretches.push({
          range: { inputIndex, firstKept: first, rowCount: own.length },
          rows: own,
          key,
        });
        first += own.length;
      }
    }
    stretches.sort((one, other) => one.key - other.key);
    const order = stretches.flatMap(({ rows }) => rows);
    const ranges = stretches.map(({ range }) => range);
    return exampleOf(isKept, order, ends, () => ({ kind: 'ranges', ranges }));
  });

/** Rows in any order, as if they were sorted. */
const permutationExample = fc
  .tuple(inputRows, outputEnds, fc.array(fc.nat(), { minLength: 200, maxLength: 200 }))
  .map(([isKept, ends, keys]) => {
    const key = ([inputIndex, row]: readonly [number, number]) => keys[inputIndex * 40 + row]!;
    const order = keptRows(isKept).sort((one, other) => key(one) - key(other));
    return exampleOf(isKept, order, ends, (places) => ({
      kind: 'permutation',
      places: places.map((own) => Uint32Array.from(own)),
    }));
  });

const example = fc.oneof(rangesExample, permutationExample);

function translateSlowly(model: Model, inputIndex: number, rows: readonly number[]) {
  const gone = rows.filter((row) => model[inputIndex]![row] === undefined);
  const places = rows.flatMap((row) => {
    const place = model[inputIndex]![row];
    return place === undefined ? [] : [place];
  });
  return { gone, places };
}

function sorted(positions: readonly number[]): number[] {
  return positions.toSorted((one, other) => one - other);
}

function requireModel({ model }: Example, map: PositionMap, picks: readonly number[]): void {
  for (const [inputIndex, rows] of model.entries()) {
    const picked = rows.flatMap((_, row) => (picks.includes(row) ? [row] : []));
    const expected = translateSlowly(model, inputIndex, picked);

    const { outputs, gone } = map.translate(inputIndex, bitmapOf(picked));

    assert.deepEqual([...gone.positions()], expected.gone);
    for (const [outputIndex, output] of outputs.entries()) {
      const here = expected.places.filter(([index]) => index === outputIndex);
      assert.deepEqual([...output.positions()], sorted(here.map(([, position]) => position)));
    }
  }
}

describe('PositionMap', () => {
  const picks = fc.uniqueArray(fc.nat({ max: 39 }), { maxLength: 40 });

  test('finds every row where a plain array has it', () => {
    fc.assert(
      fc.property(example, picks, (each, rows) => {
        const map = PositionMap.of(each.parts);

        requireModel(each, map, rows);
        const goneCount = each.model.flat().filter((place) => place === undefined).length;
        assert.equal(map.goneCount, goneCount);
      }),
      PROPERTY,
    );
  });

  test('is the same map when it was written and read', () => {
    fc.assert(
      fc.property(example, picks, (each, rows) => {
        const bytes = PositionMap.of(each.parts).serialize();

        const map = PositionMap.parse(bytes, 'map');

        requireModel(each, map, rows);
        assert.deepEqual(map.serialize(), bytes);
      }),
      PROPERTY,
    );
  });

  test('places no two rows together, and leaves no place empty', () => {
    fc.assert(
      fc.property(example, (each) => {
        const map = PositionMap.of(each.parts);

        const placed = map.outputRowCounts.map((): number[] => []);
        for (const [inputIndex, rows] of each.model.entries()) {
          const all = bitmapOf([...rows.keys()]);
          for (const [index, output] of map.translate(inputIndex, all).outputs.entries()) {
            placed[index]!.push(...output.positions());
          }
        }

        for (const [index, rowCount] of map.outputRowCounts.entries()) {
          assert.deepEqual(sorted(placed[index]!), [...Array(rowCount).keys()]);
        }
      }),
      PROPERTY,
    );
  });
});
