import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeUtf8, fromHex } from '../../shared/bytes/index.ts';
import type {
  ColumnIndex,
  ColumnOrder,
  SchemaElement,
  Statistics,
} from '../../shared/parquet/metadata-types.ts';
import { buildSchemaTree } from '../../shared/parquet/schema-tree.ts';
import {
  hasUntrustedBounds,
  haveSameValueOrder,
  type StatisticsSource,
  trustedColumnIndex,
  trustedStatistics,
} from '../../shared/parquet/trusted-statistics.ts';

type Element = Omit<SchemaElement, 'name' | 'repetitionType'>;

const INT32: Element = { type: 'INT32' };
const UINT32: Element = { type: 'INT32', convertedType: 'UINT_32' };
const DOUBLE: Element = { type: 'DOUBLE' };
const FLOAT: Element = { type: 'FLOAT' };
const STRING: Element = { type: 'BYTE_ARRAY', logicalType: { type: 'STRING' } };
const FIXED: Element = { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 3 };
const DECIMAL: Element = {
  type: 'FIXED_LEN_BYTE_ARRAY',
  typeLength: 2,
  logicalType: { type: 'DECIMAL', scale: 0, precision: 4 },
};
const INT_DECIMAL: Element = {
  type: 'INT32',
  logicalType: { type: 'DECIMAL', scale: 0, precision: 4 },
};

interface Options {
  readonly createdBy?: string | undefined;
  readonly columnOrder?: ColumnOrder | undefined;
}

function sourceOf(element: Element, options: Options = {}): StatisticsSource {
  const root: SchemaElement = { name: 'root', numChildren: 1 };
  const leaf: SchemaElement = { name: 'leaf', repetitionType: 'OPTIONAL', ...element };
  return {
    createdBy: 'parquet-mr version 1.13.1 (build abcd)',
    columnOrder: 'TYPE_ORDER',
    ...options,
    leaf: buildSchemaTree([root, leaf], 'test').leaves[0]!,
    valueCount: 10,
  };
}

function bounds(minHex: string, maxHex: string): Statistics {
  return { minValue: fromHex(minHex), maxValue: fromHex(maxHex) };
}

function deprecated(minHex: string, maxHex: string): Statistics {
  return { min: fromHex(minHex), max: fromHex(maxHex) };
}

const ONE = '01000000';
const TWO = '02000000';
const MINUS_ONE = 'ffffffff';

describe('bounds by type order', () => {
  test('are kept with their exactness', () => {
    const found: Statistics = {
      ...bounds(ONE, TWO),
      ...deprecated(ONE, TWO),
      isMinValueExact: true,
      isMaxValueExact: false,
    };

    assert.deepEqual(trustedStatistics(sourceOf(INT32), found), {
      ...bounds(ONE, TWO),
      isMinValueExact: true,
      isMaxValueExact: false,
    });
  });

  test('are kept one-sided', () => {
    const found: Statistics = { minValue: encodeUtf8('a'), isMinValueExact: true };

    assert.deepEqual(trustedStatistics(sourceOf(STRING), found), found);
  });

  test('are dropped where the file declares no order, or one we do not know', () => {
    for (const columnOrder of [undefined, 'UNDEFINED', 'INT96_TIMESTAMP_ORDER'] as const) {
      const source = sourceOf(INT32, { columnOrder });

      assert.equal(trustedStatistics(source, bounds(ONE, TWO)), undefined);
    }
  });

  test('are dropped for types without an order', () => {
    const geometry: Element = { type: 'BYTE_ARRAY', logicalType: { type: 'GEOMETRY' } };
    const interval: Element = { ...FIXED, typeLength: 12, convertedType: 'INTERVAL' };

    assert.equal(trustedStatistics(sourceOf({ type: 'INT96' }), bounds('00', '01')), undefined);
    assert.equal(trustedStatistics(sourceOf(geometry), bounds('00', '01')), undefined);
    assert.equal(trustedStatistics(sourceOf(interval), bounds('00', '01')), undefined);
  });

  test('are dropped when their width is not the type’s', () => {
    for (const element of [INT32, UINT32, FLOAT, DOUBLE, { type: 'INT64' } as const, DECIMAL]) {
      assert.equal(trustedStatistics(sourceOf(element), bounds('000000', '000001')), undefined);
    }
    assert.equal(trustedStatistics(sourceOf({ type: 'BOOLEAN' }), bounds('', '01')), undefined);
    assert.equal(trustedStatistics(sourceOf(FIXED), bounds('00000000', '01')), undefined);
  });

  test('are dropped when the lower lies above the upper in the type’s order', () => {
    assert.equal(trustedStatistics(sourceOf(INT32), bounds(TWO, ONE)), undefined);
    assert.equal(trustedStatistics(sourceOf(UINT32), bounds(MINUS_ONE, ONE)), undefined);
    assert.deepEqual(
      trustedStatistics(sourceOf(INT32), bounds(MINUS_ONE, ONE)),
      bounds(MINUS_ONE, ONE),
    );
    assert.deepEqual(
      trustedStatistics(sourceOf(DECIMAL), bounds('ffff', '0001')),
      bounds('ffff', '0001'),
    );
    assert.equal(trustedStatistics(sourceOf(DECIMAL), bounds('0001', 'ffff')), undefined);
  });
});

describe('bounds of floating point', () => {
  test('are dropped when one is NaN', () => {
    const nan = bounds('0000000000000000', '000000000000f87f');

    assert.equal(trustedStatistics(sourceOf(DOUBLE), nan), undefined);
    assert.equal(trustedStatistics(sourceOf(FLOAT), bounds('0000c0ff', '00000000')), undefined);
  });

  test('get a negative lower and a positive upper zero', () => {
    const plus = '0000000000000000';
    const minus = '0000000000000080';

    assert.deepEqual(trustedStatistics(sourceOf(DOUBLE), bounds(plus, minus)), bounds(minus, plus));
    assert.deepEqual(
      trustedStatistics(sourceOf(FLOAT), bounds('00000000', '00000080')),
      bounds('00000080', '00000000'),
    );
  });

  test('by total order are bounds by type order', () => {
    const source = sourceOf(FLOAT, { columnOrder: 'IEEE_754_TOTAL_ORDER' });

    assert.deepEqual(
      trustedStatistics(source, bounds('0000803f', '00000040')),
      bounds('0000803f', '00000040'),
    );
    const integers = sourceOf(INT32, { columnOrder: 'IEEE_754_TOTAL_ORDER' });
    assert.equal(trustedStatistics(integers, bounds(ONE, TWO)), undefined);
  });
});

describe('deprecated bounds', () => {
  test('are taken over for signed numbers, whoever wrote them', () => {
    for (const createdBy of [undefined, 'parquet-mr version 1.6.0']) {
      const source = sourceOf(INT32, { createdBy, columnOrder: undefined });

      assert.deepEqual(
        trustedStatistics(source, deprecated(MINUS_ONE, ONE)),
        bounds(MINUS_ONE, ONE),
      );
    }
  });

  test('are dropped for unsigned numbers, decimals and text, unless they are equal', () => {
    for (const element of [UINT32, INT_DECIMAL, { ...STRING }]) {
      assert.equal(trustedStatistics(sourceOf(element), deprecated(ONE, TWO)), undefined);
      assert.deepEqual(
        trustedStatistics(sourceOf(element), deprecated(ONE, ONE)),
        bounds(ONE, ONE),
      );
    }
  });

  test('are dropped for byte arrays of parquet-mr before 1.8.0, even if equal', () => {
    for (const element of [STRING, FIXED, DECIMAL]) {
      for (const createdBy of [undefined, 'parquet-mr version 1.7.0']) {
        const source = sourceOf(element, { createdBy });

        assert.equal(trustedStatistics(source, deprecated('6161', '6161')), undefined);
      }
    }
  });

  test('are dropped when only one is there', () => {
    assert.equal(trustedStatistics(sourceOf(INT32), { min: fromHex(ONE) }), undefined);
  });
});

describe('counts', () => {
  test('are kept up to the number of values', () => {
    const found: Statistics = { nullCount: 10, distinctCount: 0, nanCount: 3 };

    assert.deepEqual(trustedStatistics(sourceOf(DOUBLE), found), found);
  });

  test('are dropped when negative, too large, or of NaN in a column of integers', () => {
    const found: Statistics = { nullCount: -1, distinctCount: 11, nanCount: 1 };

    assert.equal(trustedStatistics(sourceOf(INT32), found), undefined);
    assert.equal(trustedStatistics(sourceOf(INT32), undefined), undefined);
  });
});

describe('hasUntrustedBounds', () => {
  test('is true only where bounds are there and none can be trusted', () => {
    const undeclared = sourceOf(INT32, { columnOrder: undefined });

    assert.equal(hasUntrustedBounds(undeclared, bounds(ONE, TWO)), true);
    assert.equal(hasUntrustedBounds(sourceOf(INT32), bounds(ONE, TWO)), false);
    assert.equal(hasUntrustedBounds(undeclared, { nullCount: 1 }), false);
  });
});

describe('haveSameValueOrder', () => {
  const named = (element: Element): SchemaElement => ({ name: 'leaf', ...element });

  test('holds between text and bytes, not between signed and unsigned', () => {
    assert.equal(haveSameValueOrder(named(STRING), named({ type: 'BYTE_ARRAY' })), true);
    assert.equal(haveSameValueOrder(named(INT32), named(INT_DECIMAL)), true);
    assert.equal(haveSameValueOrder(named(INT32), named(UINT32)), false);
    assert.equal(haveSameValueOrder(named(FIXED), named(DECIMAL)), false);
  });
});

describe('trustedColumnIndex', () => {
  const index: ColumnIndex = {
    nullPages: [false, true, false],
    minValues: [fromHex(TWO), fromHex('aa'), fromHex(ONE)],
    maxValues: [fromHex(TWO), fromHex('bb'), fromHex(ONE)],
    boundaryOrder: 'ASCENDING',
    nullCounts: [0, 5, 0],
  };

  test('empties bounds of null pages and says the order that holds', () => {
    assert.deepEqual(trustedColumnIndex(sourceOf(INT32), index), {
      ...index,
      minValues: [fromHex(TWO), new Uint8Array(0), fromHex(ONE)],
      maxValues: [fromHex(TWO), new Uint8Array(0), fromHex(ONE)],
      boundaryOrder: 'DESCENDING',
    });
  });

  test('is dropped when a bound is NaN, too short, or in no order', () => {
    const short = { ...index, minValues: [fromHex('00'), fromHex(''), fromHex(ONE)] };
    const nan = { ...index, maxValues: [fromHex(TWO), fromHex(''), fromHex('0000c07f')] };

    assert.equal(trustedColumnIndex(sourceOf(INT32), short), undefined);
    assert.equal(trustedColumnIndex(sourceOf(FLOAT), nan), undefined);
    assert.equal(trustedColumnIndex(sourceOf({ type: 'INT96' }), index), undefined);
  });
});
