import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { concatBytes } from '../../shared/bytes/index.ts';
import type { IcebergType } from '../../shared/iceberg/index.ts';
import {
  buildSchemaTree,
  ColumnChunkEncoder,
  type CompressionCodec,
  type Encoding,
  type LeafValues,
  ParquetFileWriter,
  type SchemaElement,
} from '../../shared/parquet/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bitmapOf, DuckDb, field, rewrite } from './rewrite-fixture.ts';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

const OPTIONS = {
  codec: 'UNCOMPRESSED',
  pageSizeBytes: 1000,
  pageRowCountMax: 1000,
  dictionarySizeBytesMax: 0,
} as const;

/** A file of one row group by our own encoder, with a schema that Iceberg does not write. */
async function fileOf(
  elements: readonly SchemaElement[],
  rowCount: number,
  columns: readonly LeafValues[],
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const sink = {
    write: async (bytes: Uint8Array) => {
      parts.push(bytes);
    },
  };
  const schema = [{ name: 'root', numChildren: elements.filter(isTop).length }, ...elements];
  const writer = new ParquetFileWriter(sink, { schema });
  for (const [index, leaf] of buildSchemaTree(schema, 'test').leaves.entries()) {
    const encoder = new ColumnChunkEncoder(leaf, OPTIONS, 'test');
    encoder.add(columns[index]!);
    await writer.addEncodedChunk(encoder.finish());
  }
  await writer.finishRowGroup(rowCount);
  await writer.finish();
  return concatBytes(parts);
}

/** The examples have one column at the top, and its children behind it. */
function isTop(_: SchemaElement, index: number): boolean {
  return index === 0;
}

function fixed(widthBytes: number, bytes: Uint8Array): LeafValues {
  const count = bytes.length / widthBytes;
  return { valueCount: count, values: { kind: 'fixed-width', widthBytes, count, bytes } };
}

const longs = (...values: bigint[]) => fixed(8, new Uint8Array(BigInt64Array.from(values).buffer));
const ints = (...values: number[]) => fixed(4, new Uint8Array(Int32Array.from(values).buffer));

function bytesOf(...values: Uint8Array[]): LeafValues {
  const starts = Uint32Array.from(values, (_, index) =>
    values.slice(0, index).reduce((sum, value) => sum + value.length, 0),
  );
  const lengths = Uint32Array.from(values, (value) => value.length);
  const count = values.length;
  return {
    valueCount: count,
    values: { kind: 'byte-array', count, heap: concatBytes(values), starts, lengths },
  };
}

async function readBack(bytes: Uint8Array, type: IcebergType): Promise<readonly unknown[]> {
  const outcome = await rewrite({ files: [{ bytes }], fields: [field(1, 'x', type)] });
  duck.put('legacy.parquet', outcome.bytes[0]!);
  return (await duck.query("SELECT x FROM '#legacy.parquet#'")).map((row) => row['x']);
}

const REQUIRED = { name: 'x', repetitionType: 'REQUIRED', fieldId: 1 } as const;

describe('columns of older writers', () => {
  test('timestamps in milliseconds become microseconds', async () => {
    const element = { ...REQUIRED, type: 'INT64', convertedType: 'TIMESTAMP_MILLIS' } as const;
    const bytes = await fileOf([element], 2, [longs(-1n, 86_400_000n)]);

    assert.deepEqual(await readBack(bytes, { kind: 'timestamp' }), [
      '1969-12-31 23:59:59.999',
      '1970-01-02 00:00:00',
    ]);
  });

  test('times in milliseconds become microseconds', async () => {
    const element = { ...REQUIRED, type: 'INT32', convertedType: 'TIME_MILLIS' } as const;
    const bytes = await fileOf([element], 1, [ints(1001)]);

    assert.deepEqual(await readBack(bytes, { kind: 'time' }), ['00:00:01.001']);
  });

  test('decimals in byte arrays take the form of their precision', async () => {
    const element = {
      ...REQUIRED,
      type: 'BYTE_ARRAY',
      convertedType: 'DECIMAL',
      precision: 20,
      scale: 2,
    } as const;
    const values = bytesOf(Uint8Array.of(0xff), Uint8Array.of(1, 0));
    const bytes = await fileOf([element], 2, [values]);

    const rows = await readBack(bytes, { kind: 'decimal', precision: 20, scale: 2 });
    assert.deepEqual(rows, ['-0.01', '2.56']);
  });

  test('decimals that do not fit or have no bytes are refused', async () => {
    const element = {
      ...REQUIRED,
      type: 'BYTE_ARRAY',
      convertedType: 'DECIMAL',
      precision: 4,
      scale: 2,
    } as const;
    for (const lengthBytes of [0, 9]) {
      const value = bytesOf(new Uint8Array(lengthBytes).fill(0x7f));
      const bytes = await fileOf([element], 1, [value]);

      await assert.rejects(readBack(bytes, { kind: 'decimal', precision: 4, scale: 2 }), (error) =>
        isIcebergError(error, 'invalid-data'),
      );
    }
  });

  test('timestamps beyond 64 bits of nanoseconds are refused', async () => {
    const element = { ...REQUIRED, type: 'INT32', convertedType: 'DATE' } as const;
    const bytes = await fileOf([element], 1, [ints(2 ** 31 - 1)]);
    const fields = [field(1, 'x', { kind: 'timestamp_ns' })];

    await assert.rejects(rewrite({ files: [{ bytes }], fields, formatVersion: 3 }), (error) =>
      isIcebergError(error, 'invalid-data'),
    );
  });

  test('lists of two levels become lists of three', async () => {
    const elements: SchemaElement[] = [
      { ...REQUIRED, repetitionType: 'OPTIONAL', numChildren: 1, convertedType: 'LIST' },
      { name: 'array', repetitionType: 'REPEATED', type: 'INT32', fieldId: 2 },
    ];
    const entries = {
      ...ints(1, 2, 3),
      valueCount: 5,
      repetitionLevels: Uint8Array.of(0, 1, 0, 0, 0),
      definitionLevels: Uint8Array.of(2, 2, 0, 1, 2),
    };
    const bytes = await fileOf(elements, 4, [entries]);

    const type: IcebergType = {
      kind: 'list',
      elementId: 2,
      isElementRequired: false,
      elementType: { kind: 'int' },
    };
    assert.deepEqual(await readBack(bytes, type), [[1, 2], null, [], [3]]);
  });

  test('repeated fields that are no list are refused', async () => {
    const element = { ...REQUIRED, repetitionType: 'REPEATED', type: 'INT32' } as const;
    const entries = {
      ...ints(1),
      repetitionLevels: Uint8Array.of(0),
      definitionLevels: Uint8Array.of(1),
    };
    const bytes = await fileOf([element], 1, [entries]);

    await assert.rejects(readBack(bytes, { kind: 'int' }), /repeated outside a list or map/);
  });

  test('INT96 timestamps become microseconds', async () => {
    const bytes = new Uint8Array(
      readFileSync(new URL('../fixtures/parquet-pyarrow/int96-v1.parquet', import.meta.url)),
    );
    const properties = {
      'schema.name-mapping.default': '[{"field-id": 1, "names": ["t"]}]',
    };
    const fields = [field(1, 'x', { kind: 'timestamp' })];

    const outcome = await rewrite({ files: [{ bytes }], fields, properties });

    duck.put('int96-before.parquet', bytes);
    duck.put('int96-after.parquet', outcome.bytes[0]!);
    const [row] = await duck.query(`
      SELECT count(*) AS rows, count(*) FILTER (b.t::TIMESTAMP IS DISTINCT FROM a.x) AS differing
      FROM (SELECT row_number() OVER () AS n, t FROM '#int96-before.parquet#') b
      JOIN (SELECT row_number() OVER () AS n, x FROM '#int96-after.parquet#') a USING (n)`);
    assert.deepEqual(row, { rows: '700', differing: '0' });
  });

  const int96: readonly [string, bigint, RegExp, 'invalid-data' | 'unsupported'][] = [
    ['finer than a microsecond', 1n, /finer than a microsecond/, 'unsupported'],
    ['of no time of day', -1000n, /time of day -1000/, 'invalid-data'],
  ];
  for (const [name, nanos, message, kind] of int96) {
    test(`INT96 values ${name} are refused`, async () => {
      const value = new Uint8Array(12);
      new DataView(value.buffer).setBigInt64(0, nanos, true);
      const bytes = await fileOf([{ ...REQUIRED, type: 'INT96' }], 1, [fixed(12, value)]);

      await assert.rejects(
        readBack(bytes, { kind: 'timestamptz' }),
        (error) => isIcebergError(error, kind) && message.test(error.message),
      );
    });
  }
});

/** A file of one required text column whose pages are given as bytes. */
async function fileOfPages(
  pages: readonly { readonly body: readonly number[]; readonly encoding: Encoding }[],
  options: { readonly codec: CompressionCodec; readonly createdBy: string },
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const sink = {
    write: async (bytes: Uint8Array) => {
      parts.push(bytes);
    },
  };
  const element = { ...REQUIRED, type: 'BYTE_ARRAY', convertedType: 'UTF8' } as const;
  const schema: SchemaElement[] = [{ name: 'root', numChildren: 1 }, element];
  const writer = new ParquetFileWriter(sink, { schema, createdBy: options.createdBy });
  const dataPages = pages.map(({ body, encoding }) => ({
    header: {
      type: 'DATA_PAGE',
      uncompressedPageSize: body.length,
      compressedPageSize: body.length,
      dataPageHeader: {
        numValues: 1,
        encoding,
        definitionLevelEncoding: 'RLE',
        repetitionLevelEncoding: 'RLE',
      },
    } as const,
    body: Uint8Array.from(body),
    rowCount: 1,
  }));
  await writer.addEncodedChunk({ codec: options.codec, dataPages });
  await writer.finishRowGroup(pages.length);
  await writer.finish();
  return concatBytes(parts);
}

describe('pages of broken writers', () => {
  const delta = (prefixLength: number, suffix: string) => ({
    encoding: 'DELTA_BYTE_ARRAY' as const,
    // Headers of one value each: lengths are zigzag-coded.
    body: [
      ...[0x80, 1, 4, 1, prefixLength * 2],
      ...[0x80, 1, 4, 1, suffix.length * 2],
      ...new TextEncoder().encode(suffix),
    ],
  });

  test('are encoded anew where they go on from the page before', async () => {
    const options = {
      codec: 'UNCOMPRESSED',
      createdBy: 'parquet-mr version 1.7.0 (build x)',
    } as const;
    const bytes = await fileOfPages([delta(0, 'firn'), delta(2, 'eld'), delta(3, '')], options);

    assert.deepEqual(await readBack(bytes, { kind: 'string' }), ['firn', 'field', 'fie']);
  });

  test('are copied unopened where the codec is unknown, and refused where they must be opened', async () => {
    const options = { codec: 'LZO', createdBy: 'test' } as const;
    const bytes = await fileOfPages([{ encoding: 'PLAIN', body: [1, 2, 3] }], options);
    const required = field(1, 'x', 'string', { isRequired: true });

    const { columnChunks } = await rewrite({
      files: [{ bytes }],
      fields: [required],
      isOpaque: true,
    });

    assert.equal(columnChunks.copiedCount, 1);
    await assert.rejects(
      rewrite({ files: [{ bytes }], fields: [field(1, 'x', 'string')] }),
      (error) => isIcebergError(error, 'unsupported') && /column x: codec LZO/.test(error.message),
    );
  });
});

describe('row groups that cannot be opened', () => {
  test('can carry deleted rows, and cannot have them purged', async () => {
    const options = { codec: 'LZO', createdBy: 'test' } as const;
    const page = { encoding: 'PLAIN', body: [1, 2, 3] } as const;
    const bytes = await fileOfPages([page, page], options);
    const fields = [field(1, 'x', 'string', { isRequired: true })];
    const rewriteWith = (treatment: 'purge' | 'carry') =>
      rewrite({
        files: [{ bytes, deletes: { positions: bitmapOf([1]), treatment } }],
        fields,
        isOpaque: true,
      });

    const { outputs } = await rewriteWith('carry');

    assert.deepEqual([...outputs[0]!.deletedPositions.positions()], [1]);
    await assert.rejects(
      rewriteWith('purge'),
      errorOfKind('unsupported', /row group 0, column x: codec LZO cannot be read/),
    );
  });
});

describe('variants', () => {
  const elements = (names: readonly string[]): SchemaElement[] => [
    { ...REQUIRED, numChildren: names.length, logicalType: { type: 'VARIANT' } },
    ...names.map((name) => ({ name, repetitionType: 'REQUIRED', type: 'BYTE_ARRAY' }) as const),
  ];
  const metadata = bytesOf(Uint8Array.of(1, 0, 0));
  const value = bytesOf(Uint8Array.of(0x0c, 7));

  test('are copied as two columns', async () => {
    const bytes = await fileOf(elements(['metadata', 'value']), 1, [metadata, value]);
    const fields = [field(1, 'x', { kind: 'variant' }, { isRequired: true })];

    const { columnChunks } = await rewrite({ files: [{ bytes }], fields });

    assert.equal(columnChunks.copiedCount, 2);
    assert.deepEqual(await readBack(bytes, { kind: 'variant' }), [7]);
  });

  test('that are shredded are refused', async () => {
    const bytes = await fileOf(elements(['metadata', 'value', 'typed_value']), 1, [
      metadata,
      value,
      value,
    ]);

    await assert.rejects(
      readBack(bytes, { kind: 'variant' }),
      (error) => isIcebergError(error, 'unsupported') && /shredded/.test(error.message),
    );
  });
});
