import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { ByteWriter, concatBytes, crc32 } from '../../shared/bytes/index.ts';
import { type MapParts, PositionMap } from '../../shared/datafile/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { mutationsOf } from '../support/mutations.ts';
import { bitmapOf } from './rewrite-fixture.ts';

const SEED = 20261130;

/** Rows 0, 2 and 4 of an input of five, and two of another, in outputs of two and three rows. */
const PARTS: MapParts = {
  inputs: [
    { rowCount: 5, gone: bitmapOf([1, 3]) },
    { rowCount: 2, gone: RoaringBitmap.EMPTY },
  ],
  outputRowCounts: [2, 3],
  rows: {
    kind: 'ranges',
    ranges: [
      { inputIndex: 0, firstKept: 0, rowCount: 3 },
      { inputIndex: 1, firstKept: 0, rowCount: 2 },
    ],
  },
};

const PERMUTED: MapParts = {
  ...PARTS,
  rows: { kind: 'permutation', places: [Uint32Array.of(4, 0, 2), Uint32Array.of(3, 1)] },
};

function translated(map: PositionMap, inputIndex: number, positions: readonly number[]) {
  const { outputs, gone } = map.translate(inputIndex, bitmapOf(positions));
  return [...outputs, gone].map((bitmap) => [...bitmap.positions()]);
}

describe('PositionMap', () => {
  test('moves positions up by the rows that are gone before them', () => {
    const map = PositionMap.of(PARTS);

    assert.deepEqual(translated(map, 0, [0, 1, 2, 4]), [[0, 1], [0], [1]]);
    assert.deepEqual(translated(map, 1, [0, 1]), [[], [1, 2], []]);
    assert.equal(map.goneCount, 2);
  });

  test('follows a permutation across inputs and outputs', () => {
    const map = PositionMap.of(PERMUTED);

    assert.deepEqual(translated(map, 0, [0, 1, 2, 3]), [[0], [2], [1, 3]]);
    assert.deepEqual(translated(map, 1, [0, 1]), [[1], [1], []]);
  });

  test('takes little for many rows in order', () => {
    const rowCount = 2 ** 40;
    const map = PositionMap.of({
      inputs: [{ rowCount, gone: bitmapOf([7]) }],
      outputRowCounts: [rowCount - 1],
      rows: {
        kind: 'ranges',
        ranges: [{ inputIndex: 0, firstKept: 0, rowCount: rowCount - 1 }],
      },
    });

    assert.deepEqual(translated(map, 0, [6, 7, rowCount - 1]), [[6, rowCount - 2], [7]]);
    assert.ok(map.serialize().length < 120);
  });

  test('may have no outputs, where all rows are gone', () => {
    const gone = bitmapOf([0, 1]);
    const map = PositionMap.of({
      inputs: [{ rowCount: 2, gone }],
      outputRowCounts: [],
      rows: { kind: 'ranges', ranges: [] },
    });

    assert.deepEqual(translated(map, 0, [1]), [[1]]);
    assert.deepEqual(translated(PositionMap.parse(map.serialize(), 'map'), 0, [0]), [[0]]);
  });

  test('refuses positions that an input does not have', () => {
    assert.throws(
      () => PositionMap.of(PARTS).translate(0, bitmapOf([2, 5])),
      errorOfKind('invalid-data', /input 0: position 5 is deleted, the file has 5 rows/),
    );
  });

  const range = (inputIndex: number, firstKept: number, rowCount: number) => ({
    inputIndex,
    firstKept,
    rowCount,
  });
  const places = (...each: number[][]): MapParts['rows'] => ({
    kind: 'permutation',
    places: each.map((own) => Uint32Array.from(own)),
  });
  const flawed: readonly [string, Partial<MapParts>, RegExp][] = [
    [
      'rows that are gone beyond the last',
      { inputs: [{ rowCount: 5, gone: bitmapOf([1, 5]) }, PARTS.inputs[1]!] },
      /rows beyond the 5 of input 0/,
    ],
    ['outputs of another size', { outputRowCounts: [2, 4] }, /5 rows are kept, the outputs have 6/],
    [
      'a gap in an input',
      { rows: { kind: 'ranges', ranges: [range(0, 1, 3), range(1, 0, 2)] } },
      /3 rows at row 1 of input 0, expected at 0/,
    ],
    [
      'a row twice',
      { rows: { kind: 'ranges', ranges: [range(0, 0, 3), range(0, 2, 1), range(1, 0, 1)] } },
      /1 rows at row 2 of input 0, expected at 3/,
    ],
    [
      'an input that is none',
      { rows: { kind: 'ranges', ranges: [range(0, 0, 3), range(2, 0, 2)] } },
      /2 rows at row 0 of input 2/,
    ],
    [
      'a range of no rows',
      { rows: { kind: 'ranges', ranges: [range(0, 0, 0), range(0, 0, 3), range(1, 0, 2)] } },
      /0 rows at row 0 of input 0/,
    ],
    [
      'rows that have no range',
      { rows: { kind: 'ranges', ranges: [range(0, 0, 3), range(1, 0, 1)] } },
      /ranges hold 1 rows of input 1, it keeps 2/,
    ],
    ['a place twice', { rows: places([4, 0, 2], [3, 4]) }, /place 4 of 5 is taken twice/],
    ['a place that is none', { rows: places([4, 0, 2], [3, 5]) }, /place 5 of 5/],
  ];
  for (const [what, more, message] of flawed) {
    test(`cannot be made or read with ${what}`, () => {
      const parts = { ...PARTS, ...more };

      assert.throws(() => PositionMap.of(parts), { name: 'AssertionFailed', message });
      assert.throws(
        () => PositionMap.parse(sidecarOf(parts), 'map'),
        errorOfKind('invalid-data', message),
      );
    });
  }

  test('cannot be made with places missing', () => {
    assert.throws(() => PositionMap.of({ ...PARTS, rows: places([4, 0], [3, 1, 2]) }), {
      name: 'AssertionFailed',
      message: /input 0 has 2 places/,
    });
  });
});

/** A sidecar written by hand, right or wrong, as the layout says. */
function sidecarOf({ inputs, outputRowCounts, rows }: MapParts): Uint8Array {
  return sealed((writer) => {
    writer.utf8('FNPM');
    writer.u32le(1);
    writer.u32le(rows.kind === 'ranges' ? 0 : 1);
    writer.u32le(inputs.length);
    writer.u32le(outputRowCounts.length);
    for (const rowCount of outputRowCounts) writer.u64le(BigInt(rowCount));
    for (const { rowCount, gone } of inputs) {
      const bytes = gone.isEmpty ? new Uint8Array(0) : gone.serialize();
      writer.u64le(BigInt(rowCount));
      writer.u32le(bytes.length);
      writer.bytes(bytes);
    }
    if (rows.kind === 'permutation') {
      for (const place of rows.places.flatMap((own) => [...own])) writer.u32le(place);
      return;
    }
    writer.u32le(rows.ranges.length);
    for (const { inputIndex, firstKept, rowCount } of rows.ranges) {
      writer.u32le(inputIndex);
      writer.u64le(BigInt(firstKept));
      writer.u64le(BigInt(rowCount));
    }
  });
}

/** Bytes with their checksum. */
function sealed(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter();
  write(writer);
  return withChecksum(writer.finish());
}

function withChecksum(body: Uint8Array): Uint8Array {
  const checksum = new ByteWriter();
  checksum.u32le(crc32(body));
  return concatBytes([body, checksum.finish()]);
}

describe('the sidecar of a position map', () => {
  test('has the layout that its comment draws', () => {
    assert.deepEqual(PositionMap.of(PARTS).serialize(), sidecarOf(PARTS));
    assert.deepEqual(PositionMap.of(PERMUTED).serialize(), sidecarOf(PERMUTED));
  });

  const header = (values: readonly number[]) =>
    sealed((writer) => {
      for (const value of values) writer.u32le(value);
    });
  const MAGIC = 0x4d50_4e46;
  const refused: readonly [string, Uint8Array, 'invalid-data' | 'unsupported', RegExp][] = [
    ['too few bytes', new Uint8Array(23), 'invalid-data', /23 bytes/],
    ['another magic', header([1, 1, 0, 0, 0, 0]), 'invalid-data', /not a position map/],
    ['a later version', header([MAGIC, 2, 0, 0, 0, 0]), 'unsupported', /format version 2/],
    ['another kind of rows', header([MAGIC, 1, 2, 0, 0, 0]), 'invalid-data', /kind of rows 2/],
    ['more outputs than bytes', header([MAGIC, 1, 0, 0, 2 ** 31]), 'invalid-data', /items/],
    ['more inputs than bytes', header([MAGIC, 1, 0, 2 ** 31, 0]), 'invalid-data', /items/],
    ['more ranges than bytes', header([MAGIC, 1, 0, 0, 0, 2 ** 31]), 'invalid-data', /items/],
    [
      'more places than bytes',
      header([MAGIC, 1, 1, 1, 0, 0, 2 ** 20, 0]),
      'invalid-data',
      /4503599627370496 items/,
    ],
    [
      'rows beyond what can be counted',
      header([MAGIC, 1, 0, 0, 1, 0, 2 ** 31, 0]),
      'unsupported',
      /rows of an output/,
    ],
    ['bytes left over', header([MAGIC, 1, 0, 0, 0, 0, 7]), 'invalid-data', /4 bytes are left/],
  ];
  for (const [what, bytes, kind, message] of refused) {
    test(`is refused with ${what}`, () => {
      assert.throws(() => PositionMap.parse(bytes, 'map'), errorOfKind(kind, message));
    });
  }

  test('is refused when a bit has changed', () => {
    const bytes = PositionMap.of(PARTS).serialize();

    for (let index = 0; index < bytes.length; index++) {
      const flipped = bytes.slice();
      flipped[index]! ^= 1 << (index % 8);
      assert.throws(() => PositionMap.parse(flipped, 'map'), errorOfKind('invalid-data', /CRC-32/));
    }
  });

  test('gives a whole map or a named error, whatever its bytes are', () => {
    const outcomes = { parsed: 0, refused: 0 };
    for (const parts of [PARTS, PERMUTED]) {
      const body = PositionMap.of(parts).serialize().slice(0, -4);
      for (const { mutated, what } of mutationsOf(body, SEED)) {
        try {
          const map = PositionMap.parse(withChecksum(mutated), 'map');
          assert.deepEqual(map.serialize(), withChecksum(mutated), what);
          outcomes.parsed++;
        } catch (error) {
          const isNamed =
            isIcebergError(error, 'invalid-data') || isIcebergError(error, 'unsupported');
          assert.ok(isNamed, `${what}: ${String(error)}`);
          outcomes.refused++;
        }
      }
    }

    assert.ok(outcomes.parsed > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
  });
});
