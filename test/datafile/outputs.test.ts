import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { rewriteFileGroup } from '../../shared/datafile/index.ts';
import { readParquetFooter } from '../../shared/parquet/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { bytesReader } from '../support/file-reader.ts';
import { DuckDb, field, rewrite, rewriteOptions, sourcesOf } from './rewrite-fixture.ts';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

const fields = [field(1, 'a', 'int'), field(2, 's', 'string')];

/** Rows with the values of `a` from `first` on; incompressible enough to have a size. */
function write(first: number, count: number, more = ''): Promise<Uint8Array> {
  return duck.write(
    `SELECT (${first} + i)::INT AS a, md5(i::VARCHAR) AS s FROM range(${count}) t(i)`,
    `, FIELD_IDS {a: 1, s: 2}${more}`,
  );
}

async function readColumn(bytes: Uint8Array): Promise<readonly unknown[]> {
  duck.put('read.parquet', bytes);
  const rows = await duck.query("SELECT a FROM '#read.parquet#'");
  return rows.map((row) => row['a']);
}

function numbers(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

describe('outputs', () => {
  test('hold the inputs in order, whole row groups copied', async () => {
    const files = [{ bytes: await write(0, 10) }, { bytes: await write(10, 5) }];

    const result = await rewrite({ files, fields });

    const { outputs, bytes, columnChunks } = result;
    assert.equal(outputs.length, 1);
    const { dataFile } = outputs[0]!;
    assert.deepEqual(await readColumn(bytes[0]!), numbers(0, 15));
    assert.equal(dataFile.recordCount, 15);
    assert.equal(dataFile.fileSizeBytes, bytes[0]!.length);
    assert.deepEqual(sourcesOf(result, [10, 5])[0], [
      { inputIndex: 0, firstRow: 0, rowCount: 10 },
      { inputIndex: 1, firstRow: 0, rowCount: 5 },
    ]);
    const { metadata } = await readParquetFooter(bytesReader(bytes[0]!));
    assert.deepEqual(
      dataFile.splitOffsets,
      metadata.rowGroups.map(({ fileOffset }) => fileOffset),
    );
    const sizes = metadata.rowGroups.map(
      ({ columns }) => columns[1]?.metaData?.totalCompressedSize ?? 0,
    );
    assert.equal(dataFile.columnSizes?.get(2), sizes[0]! + sizes[1]!);
    assert.deepEqual([columnChunks.copiedCount, columnChunks.encodedCount], [4, 0]);
  });

  test('roll before the row group that would make them too large', async () => {
    const bytes = await write(0, 2048);
    const files = [0, 1, 2].map(() => ({ bytes }));

    const result = await rewrite({ files, fields, outputSizeBytes: bytes.length * 2.5 });

    assert.deepEqual(
      result.outputs.map(({ dataFile }) => dataFile.recordCount),
      [4096, 2048],
    );
    assert.deepEqual(sourcesOf(result, [2048, 2048, 2048])[1], [
      { inputIndex: 2, firstRow: 0, rowCount: 2048 },
    ]);
  });

  test('share an input whose row groups do not fit one of them', async () => {
    const bytes = await write(0, 6144, ', ROW_GROUP_SIZE 2048');

    const result = await rewrite({
      files: [{ bytes }],
      fields,
      outputSizeBytes: bytes.length * 0.7,
    });

    assert.deepEqual(sourcesOf(result, [6144]), [
      [{ inputIndex: 0, firstRow: 0, rowCount: 4096 }],
      [{ inputIndex: 0, firstRow: 4096, rowCount: 2048 }],
    ]);
    assert.deepEqual(await readColumn(result.bytes[1]!), numbers(4096, 2048));
  });

  test('split a row group that is larger than one of them', async () => {
    const bytes = await write(0, 2000);

    const result = await rewrite({
      files: [{ bytes }],
      fields,
      outputSizeBytes: bytes.length / 3 + 2000,
    });

    const sources = sourcesOf(result, [2000]).flat();
    assert.ok(sources.length >= 3);
    assert.equal(
      sources.reduce((sum, { rowCount }) => sum + rowCount, 0),
      2000,
    );
    const values: unknown[] = [];
    for (const output of result.bytes) values.push(...(await readColumn(output)));
    assert.deepEqual(values, numbers(0, 2000));
    assert.equal(result.columnChunks.copiedCount, 0);
  });

  test('map every row to its place in an input, whatever their size', async () => {
    const files = [
      { bytes: await write(0, 5000, ', ROW_GROUP_SIZE 2048') },
      { bytes: await write(5000, 10) },
      { bytes: await write(5010, 3000) },
    ];
    const firsts = [0, 5000, 5010];

    for (const outputSizeBytes of [9_000, 30_000, 80_000, 120_000, 10_000_000]) {
      const result = await rewrite({ files, fields, outputSizeBytes });

      const mapped = sourcesOf(result, [5000, 10, 3000]).flatMap((sources) =>
        sources.flatMap(({ inputIndex, firstRow, rowCount }) =>
          numbers(firsts[inputIndex]! + firstRow, rowCount),
        ),
      );
      const written: unknown[] = [];
      for (const output of result.bytes) written.push(...(await readColumn(output)));
      assert.deepEqual(written, mapped);
      assert.deepEqual(mapped, numbers(0, 8010));
    }
  });

  test('cost one read for each small input', async () => {
    const bytes = await write(0, 10);
    const files = Array.from({ length: 20 }, () => ({ bytes }));
    const options = await rewriteOptions(
      { files, fields, formatVersion: 3 },
      new MemoryObjectStore(),
    );
    let readCount = 0;
    const inputs = options.inputs.map((input) => ({
      ...input,
      reader: {
        ...input.reader,
        read: (offset: number, lengthBytes: number) => {
          readCount++;
          return input.reader.read(offset, lengthBytes);
        },
      },
    }));

    await rewriteFileGroup({ ...options, inputs });

    assert.equal(readCount, 20);
  });

  test('are none where all inputs are empty, and pass over empty ones', async () => {
    const empty = { bytes: await write(0, 0) };

    const none = await rewrite({ files: [empty, empty], fields });
    const some = await rewrite({ files: [empty, { bytes: await write(3, 1) }, empty], fields });

    assert.deepEqual(none.outputs, []);
    assert.deepEqual(sourcesOf(some, [0, 1, 0]), [[{ inputIndex: 1, firstRow: 0, rowCount: 1 }]]);
  });

  test('carry the schema as Iceberg Java does', async () => {
    const { bytes } = await rewrite({ files: [{ bytes: await write(0, 1) }], fields });

    const { metadata } = await readParquetFooter(bytesReader(bytes[0]!));

    const stored = metadata.keyValueMetadata?.find(({ key }) => key === 'iceberg.schema');
    assert.deepEqual(JSON.parse(stored?.value ?? ''), {
      type: 'struct',
      'schema-id': 0,
      fields: [
        { id: 1, name: 'a', required: false, type: 'int' },
        { id: 2, name: 's', required: false, type: 'string' },
      ],
    });
    assert.deepEqual(
      metadata.schema
        .slice(1)
        .map(({ name, fieldId, logicalType }) => [name, fieldId, logicalType]),
      [
        ['a', 1, undefined],
        ['s', 2, { type: 'STRING' }],
      ],
    );
  });

  test('are encoded by the properties of the table', async () => {
    const bytes = await duck.write(
      "SELECT (i % 3)::INT AS a, 'v' || (i % 5) AS s FROM range(5000) t(i)",
      ', FIELD_IDS {a: 1, s: 2}',
    );
    const properties = {
      'write.parquet.compression-codec': 'gzip',
      'write.parquet.compression-level': '9',
      'write.parquet.page-row-limit': '1000',
      'write.parquet.bloom-filter-enabled.column.a': 'true',
      'write.parquet.bloom-filter-enabled.column.s': 'false',
    };

    const { bytes: written } = await rewrite({
      files: [{ bytes }],
      fields: [field(1, 'a', 'long'), field(2, 's', 'string')],
      properties,
    });

    const { metadata } = await readParquetFooter(bytesReader(written[0]!));
    const chunk = metadata.rowGroups[0]!.columns[0]!.metaData!;
    assert.equal(chunk.codec, 'GZIP');
    assert.ok(chunk.bloomFilterOffset !== undefined);
    assert.deepEqual(chunk.encodingStats, [
      { pageType: 'DICTIONARY_PAGE', encoding: 'PLAIN', count: 1 },
      { pageType: 'DATA_PAGE', encoding: 'RLE_DICTIONARY', count: 5 },
    ]);
    duck.put('bloom.parquet', written[0]!);
    const excluded = async (value: number) => {
      const [row] = await duck.query(`FROM parquet_bloom_probe('#bloom.parquet#', 'a', ${value})`);
      return row?.['bloom_filter_excludes'];
    };
    assert.deepEqual(await Promise.all([0, 1, 2, 3, 4].map(excluded)), [
      false,
      false,
      false,
      true,
      true,
    ]);
  });
});

describe('failures', () => {
  const rejects = async (
    promise: Promise<unknown>,
    kind: 'invalid-data' | 'unsupported',
    text: RegExp,
  ) => {
    await assert.rejects(
      promise,
      (error) => isIcebergError(error, kind) && text.test(error.message),
    );
  };

  test('a file of another length or row count than its manifest entry is refused', async () => {
    const bytes = await write(0, 3);

    const entry = { fileSizeBytes: 1 };
    await rejects(
      rewrite({ files: [{ bytes, entry }], fields }),
      'invalid-data',
      /bytes, its manifest entry says 1/,
    );
    const count = { recordCount: 4 };
    await rejects(
      rewrite({ files: [{ bytes, entry: count }], fields }),
      'invalid-data',
      /3 rows, its manifest entry says 4/,
    );
  });

  test('malformed properties are refused', async () => {
    const files = [{ bytes: await write(0, 3) }];
    for (const [key, value] of [
      ['write.parquet.page-row-limit', 'many'],
      ['write.parquet.compression-codec', 'zip'],
      ['schema.name-mapping.default', '{}'],
    ] as const) {
      await assert.rejects(
        rewrite({ files, fields, properties: { [key]: value } }),
        (error) => isIcebergError(error, 'invalid-config') && error.message.includes(key),
      );
    }
  });

  test('a file of another format is refused', async () => {
    const entry = { fileFormat: 'ORC' };

    await rejects(
      rewrite({ files: [{ bytes: await write(0, 3), entry }], fields }),
      'unsupported',
      /format ORC/,
    );
  });

  test('give up the output under way and keep those closed', async () => {
    const good = await write(0, 2048);
    const bad = good.slice();
    bad.fill(0xff, 4, 30);
    const store = new MemoryObjectStore();
    const files = [{ bytes: good }, { bytes: good }, { bytes: bad }];
    const options = await rewriteOptions(
      { files, fields, outputSizeBytes: good.length * 1.5 },
      store,
    );

    await rejects(rewriteFileGroup(options), 'invalid-data', /in-2/);

    const left: string[] = [];
    for await (const { location } of store.list('s3://bucket/')) left.push(location);
    assert.deepEqual(left, ['s3://bucket/data/out-0.parquet', 's3://bucket/data/out-1.parquet']);
  });
});
