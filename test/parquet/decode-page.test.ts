import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { decodeDataPage, decodeDictionaryPage } from '../../shared/parquet/decode-page.ts';
import type { PageContext } from '../../shared/parquet/decode-values.ts';
import type { LeafShape } from '../../shared/parquet/leaf-shape.ts';
import type { Encoding, PageHeader } from '../../shared/parquet/metadata-types.ts';
import { elementOf, physicalValuesOf } from './leaf-values-arbitrary.ts';

const OPTIONAL_INT: LeafShape = {
  element: elementOf('INT32'),
  maxRepetitionLevel: 0,
  maxDefinitionLevel: 1,
};
const REQUIRED_INT: LeafShape = { ...OPTIONAL_INT, maxDefinitionLevel: 0 };
const REQUIRED_TEXT: LeafShape = { ...REQUIRED_INT, element: elementOf('BYTE_ARRAY') };

function context(leaf: LeafShape, more: Partial<PageContext> = {}): PageContext {
  return { leaf, codec: 'UNCOMPRESSED', subject: 'file: column x', ...more };
}

function headerV1(numValues: number, body: readonly number[], encoding: Encoding): PageHeader {
  return {
    type: 'DATA_PAGE',
    uncompressedPageSize: body.length,
    compressedPageSize: body.length,
    dataPageHeader: {
      numValues,
      encoding,
      definitionLevelEncoding: 'RLE',
      repetitionLevelEncoding: 'RLE',
    },
  };
}

interface Page {
  readonly leaf: LeafShape;
  readonly numValues: number;
  readonly encoding: Encoding;
  readonly body: readonly number[];
  readonly more?: Partial<PageContext>;
}

function decode({ leaf, numValues, encoding, body, more }: Page) {
  const header = headerV1(numValues, body, encoding);
  return decodeDataPage(header, Uint8Array.from(body), context(leaf, more));
}

function rejects(
  page: Page,
  message: RegExp,
  kind: 'invalid-data' | 'unsupported' = 'invalid-data',
) {
  assert.throws(
    () => decode(page),
    (error) => isIcebergError(error, kind) && message.test(error.message),
  );
}

describe('decodeDataPage', () => {
  test('reads levels and PLAIN values of a v1 page written by hand', () => {
    // Levels 1, 0, 1 as one bit-packed group behind their length; then 7 and 8.
    const body = [2, 0, 0, 0, 0x03, 0b101, 7, 0, 0, 0, 8, 0, 0, 0];

    const page = decode({ leaf: OPTIONAL_INT, numValues: 3, encoding: 'PLAIN', body });

    assert.deepEqual(page.definitionLevels, Uint8Array.of(1, 0, 1));
    assert.deepEqual(page.values, {
      kind: 'fixed-width',
      widthBytes: 4,
      count: 2,
      bytes: Uint8Array.of(7, 0, 0, 0, 8, 0, 0, 0),
    });
  });

  test('reads deprecated bit-packed levels, most significant bit first', () => {
    const body = Uint8Array.of(0b10100000, 7, 0, 0, 0, 8, 0, 0, 0);
    const header = headerV1(3, Array.from(body), 'PLAIN');
    const page = { ...header.dataPageHeader!, definitionLevelEncoding: 'BIT_PACKED' } as const;

    const batch = decodeDataPage({ ...header, dataPageHeader: page }, body, context(OPTIONAL_INT));

    assert.deepEqual(batch.definitionLevels, Uint8Array.of(1, 0, 1));
    assert.equal(batch.values.count, 2);
  });

  test('ignores what stands in a page of nulls only', () => {
    const body = [2, 0, 0, 0, 0x06, 0, 99, 99, 99];

    const page = decode({ leaf: OPTIONAL_INT, numValues: 3, encoding: 'PLAIN', body });

    assert.equal(page.values.count, 0);
  });

  test('goes on from the value before where a writer is known to', () => {
    // Prefix length 2, suffix length 1, suffix "!".
    const body = [0x80, 1, 4, 1, 4, 0x80, 1, 4, 1, 2, 0x21];
    const page = { leaf: REQUIRED_TEXT, numValues: 1, encoding: 'DELTA_BYTE_ARRAY', body } as const;

    const batch = decode({ ...page, more: { previousValue: Uint8Array.of(0x61, 0x62, 0x63) } });

    assert.deepEqual(
      batch.values.kind === 'byte-array' && batch.values.heap.slice(3),
      Uint8Array.of(0x61, 0x62, 0x21),
    );
    rejects(page, /prefix of 2 bytes, the value before has 0/);
  });

  test('rejects values that are too few or too many', () => {
    const page = { leaf: REQUIRED_INT, encoding: 'PLAIN', body: [1, 0, 0, 0, 2, 0, 0, 0] } as const;

    rejects({ ...page, numValues: 3 }, /3 values take 12 bytes, 8 are there/);
    rejects({ ...page, numValues: 1 }, /1 values take 4 bytes, 8 are there/);
  });

  test('rejects byte arrays that leave the page', () => {
    const page = { leaf: REQUIRED_TEXT, encoding: 'PLAIN' } as const;

    rejects(
      { ...page, numValues: 1, body: [9, 0, 0, 0, 1] },
      /9 bytes expected at offset 4, 1 remain/,
    );
    rejects({ ...page, numValues: 1, body: [0, 0, 0, 0, 1] }, /1 bytes are left over/);
    rejects({ ...page, numValues: 9, body: [0, 0, 0, 0, 1] }, /cannot hold 9 byte arrays/);
  });

  test('rejects levels above the greatest', () => {
    const leaf = { ...OPTIONAL_INT, maxDefinitionLevel: 2 };

    rejects(
      { leaf, numValues: 1, encoding: 'PLAIN', body: [2, 0, 0, 0, 2, 3] },
      /level 3 exceeds 2/,
    );
  });

  test('rejects levels whose runs end early, go on, or hold nothing', () => {
    const page = { leaf: OPTIONAL_INT, encoding: 'PLAIN' } as const;

    rejects({ ...page, numValues: 3, body: [2, 0, 0, 0, 4, 1] }, /1 bytes expected/);
    rejects(
      { ...page, numValues: 1, body: [2, 0, 0, 0, 4, 1] },
      /runs give 2 values, 1 are expected/,
    );
    rejects({ ...page, numValues: 1, body: [2, 0, 0, 0, 0, 1] }, /a run of no values/);
    rejects({ ...page, numValues: 1, body: [2, 0, 0, 0, 2, 2] }, /value 2 does not fit 1 bits/);
  });

  test('rejects dictionary indices beyond the dictionary, and a missing dictionary', () => {
    const page = { leaf: REQUIRED_INT, numValues: 1, encoding: 'RLE_DICTIONARY' } as const;
    const dictionary = physicalValuesOf(elementOf('INT32'), [Uint8Array.of(1, 0, 0, 0)]);

    rejects({ ...page, body: [1, 2, 1], more: { dictionary } }, /index 1 of a dictionary with 1/);
    rejects({ ...page, body: [33, 2, 0], more: { dictionary } }, /bit width 33 is too large/);
    rejects({ ...page, body: [1, 2, 0] }, /no dictionary page/);
  });

  test('rejects delta headers that would loop, allocate or miscount', () => {
    const page = { leaf: REQUIRED_INT, numValues: 1, encoding: 'DELTA_BINARY_PACKED' } as const;

    rejects({ ...page, body: [0, 1, 1, 0] }, /delta blocks of 0 values/);
    rejects({ ...page, body: [0x80, 1, 0, 1, 0] }, /delta blocks of 128 values in 0 miniblocks/);
    rejects({ ...page, body: [0x80, 0x80, 0x80, 0x80, 8, 4, 1, 0] }, /delta blocks of 2147483648/);
    rejects({ ...page, body: [0x80, 1, 4, 2, 0] }, /counts 2 values, 1 are expected/);
    rejects({ ...page, numValues: 2, body: [0x80, 1, 4, 2, 0, 0, 65, 0, 0, 0] }, /bit width 65/);
    rejects({ ...page, body: [0x80, 1, 4, 1, 0, 9] }, /1 bytes are left over/);
  });

  test('rejects delta lengths that are negative or do not add up', () => {
    const page = {
      leaf: REQUIRED_TEXT,
      numValues: 1,
      encoding: 'DELTA_LENGTH_BYTE_ARRAY',
    } as const;

    rejects({ ...page, body: [0x80, 1, 4, 1, 1] }, /length -1 is negative/);
    rejects({ ...page, body: [0x80, 1, 4, 1, 4, 7] }, /lengths add up to 2 bytes, 1 follow/);
  });

  test('rejects encodings that do not suit the type', () => {
    const page = { leaf: REQUIRED_INT, numValues: 1, body: [0] } as const;

    rejects({ ...page, encoding: 'RLE' }, /INT32 encoded as RLE/);
    rejects(
      { ...page, encoding: 'DELTA_BYTE_ARRAY', body: [0x80, 1, 4, 1, 0, 0x80, 1, 4, 1, 0] },
      /INT32/,
    );
    rejects({ ...page, encoding: 'DELTA_LENGTH_BYTE_ARRAY' }, /INT32 encoded as/);
    rejects({ ...page, encoding: 'ALP' }, /encoding ALP/, 'unsupported');
  });

  test('rejects fixed-length values of another length', () => {
    const leaf = { ...REQUIRED_INT, element: elementOf('FIXED_LEN_BYTE_ARRAY') };
    const body = [0x80, 1, 4, 1, 0, 0x80, 1, 4, 1, 8, 1, 2, 3, 4];

    rejects(
      { leaf, numValues: 1, encoding: 'DELTA_BYTE_ARRAY', body },
      /bytes of a value: 4, 5 are/,
    );
  });

  test('refuses pages of absurd value counts before allocating', () => {
    const page = { leaf: OPTIONAL_INT, encoding: 'PLAIN', body: [] } as const;

    rejects({ ...page, numValues: 2 ** 31 - 1 }, /exceed the limit of 16777216/, 'unsupported');
    rejects({ ...page, numValues: -1 }, /-1 values/);
  });

  test('refuses a dictionary that makes a page too large', () => {
    const element = { ...elementOf('FIXED_LEN_BYTE_ARRAY'), typeLength: 2 ** 20 };
    const dictionary = {
      kind: 'fixed-width',
      widthBytes: 2 ** 20,
      count: 1,
      bytes: new Uint8Array(2 ** 20),
    } as const;
    const page = { numValues: 1025, encoding: 'RLE_DICTIONARY', body: [1, 0x82, 0x10, 0] } as const;

    rejects(
      { ...page, leaf: { ...REQUIRED_INT, element }, more: { dictionary } },
      /a page of 1074790400 bytes exceeds/,
      'unsupported',
    );
  });

  test('refuses codecs it cannot undo', () => {
    const page = { leaf: REQUIRED_INT, numValues: 1, encoding: 'PLAIN', body: [0] } as const;

    rejects({ ...page, more: { codec: 'LZO' } }, /codec LZO/, 'unsupported');
  });

  test('holds counts of a v2 page against its levels', () => {
    const body = Uint8Array.of(2, 1, 7, 0, 0, 0);
    const v2 = {
      numValues: 1,
      numNulls: 0,
      numRows: 1,
      encoding: 'PLAIN',
      definitionLevelsByteLength: 2,
      repetitionLevelsByteLength: 0,
    } as const;
    const header = (more: object): PageHeader => ({
      type: 'DATA_PAGE_V2',
      uncompressedPageSize: 6,
      compressedPageSize: 6,
      dataPageHeaderV2: { ...v2, ...more },
    });
    const check = (more: object) => decodeDataPage(header(more), body, context(OPTIONAL_INT));

    assert.equal(check({}).values.count, 1);
    assert.throws(() => check({ numNulls: 1 }), /nulls: 1, 0 are expected/);
    assert.throws(() => check({ numRows: 2 }), /rows: 2, 1 are expected/);
    assert.throws(() => check({ definitionLevelsByteLength: 9 }), /9 bytes expected/);
  });

  test('refuses a dictionary of booleans', () => {
    const leaf = { ...REQUIRED_INT, element: elementOf('BOOLEAN') };
    const header: PageHeader = {
      type: 'DICTIONARY_PAGE',
      uncompressedPageSize: 1,
      compressedPageSize: 1,
      dictionaryPageHeader: { numValues: 1, encoding: 'PLAIN' },
    };

    assert.throws(
      () => decodeDictionaryPage(header, Uint8Array.of(1), context(leaf)),
      /not a dictionary/,
    );
  });
});
