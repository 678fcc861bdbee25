import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RangedReader } from '../../shared/base/index.ts';
import { encodeUtf8 } from '../../shared/bytes/index.ts';
import { type ParquetFile, readParquetFooter } from '../../shared/parquet/index.ts';
import type { ColumnChunk, SchemaElement } from '../../shared/parquet/metadata-types.ts';
import { bytesReader } from '../support/file-reader.ts';
import {
  footerOffsetOf,
  readFixture,
  withChunk,
  withColumnMetaData,
  withFooter,
  withMetadata,
  withRowGroup,
} from './edit-file.ts';

const FILE = readFixture('pages-index-v1');

function read(bytes: Uint8Array): Promise<ParquetFile> {
  return readParquetFooter(bytesReader(bytes, 'file'));
}

async function rejects(bytes: Uint8Array, kind: string, message: RegExp): Promise<void> {
  await assert.rejects(read(bytes), { kind, message });
}

/** A reader that notes each range it is asked for. */
function countingReader(bytes: Uint8Array) {
  const reads: [number, number][] = [];
  const inner = bytesReader(bytes);
  const reader: RangedReader = {
    ...inner,
    read(offset, lengthBytes) {
      reads.push([offset, lengthBytes]);
      return inner.read(offset, lengthBytes);
    },
  };
  return { reader, reads };
}

describe('readParquetFooter', () => {
  test('gives leaves with their paths and levels, and chunks with their ranges', async () => {
    const file = await read(FILE);

    assert.equal(file.metadata.numRows, 600);
    assert.deepEqual(
      file.rowGroups.map(({ rowCount, firstRowIndex }) => [rowCount, firstRowIndex]),
      [
        [400, 0],
        [200, 400],
      ],
    );
    assert.deepEqual(
      file.leaves.map((leaf) => [
        leaf.path.join('.'),
        leaf.physicalType,
        leaf.maxDefinitionLevel,
        leaf.maxRepetitionLevel,
      ]),
      [
        ['id', 'INT64', 1, 0],
        ['word', 'BYTE_ARRAY', 1, 0],
        ['zero', 'DOUBLE', 1, 0],
        ['nan', 'FLOAT', 1, 0],
        ['gap', 'INT32', 1, 0],
        ['list.list.element', 'INT32', 3, 1],
        ['map.key_value.key', 'BYTE_ARRAY', 2, 1],
        ['map.key_value.value.list.element', 'INT64', 5, 2],
      ],
    );
    assert.equal(file.rowGroups[0]?.chunks[0]?.range.offset, 4);
  });

  test('costs one read, and a second for a footer longer than the first', async () => {
    const { reader, reads } = countingReader(FILE);

    const short = await readParquetFooter(reader);
    const long = await readParquetFooter(reader, { tailBytes: 100 });

    const footerOffset = footerOffsetOf(FILE);
    assert.deepEqual(long.metadata, short.metadata);
    assert.deepEqual(reads, [
      [0, FILE.length],
      [FILE.length - 100, 100],
      [footerOffset, FILE.length - 8 - footerOffset],
    ]);
  });

  test('accepts version 2, a footer without column orders, and 0 for no dictionary', async () => {
    const changed = withMetadata(FILE, ({ columnOrders: _, ...metadata }) => ({
      ...metadata,
      version: 2,
    }));

    const file = await read(withColumnMetaData(changed, 0, { dictionaryPageOffset: 0 }));

    assert.equal(file.rowGroups[0]?.chunks[0]?.columnOrder, undefined);
    assert.equal(file.rowGroups[0]?.chunks[0]?.range.offset, 4);
  });
});

describe('a file is rejected', () => {
  test('when it is too short or its magic is wrong', async () => {
    await rejects(FILE.subarray(0, 11), 'invalid-data', /11 bytes are fewer than the 12/);
    await rejects(FILE.subarray(0, -1), 'invalid-data', /closing magic/);
  });

  test('when its footer is encrypted', async () => {
    const bytes = Uint8Array.from(FILE);
    bytes.set(encodeUtf8('PARE'), bytes.length - 4);

    await rejects(bytes, 'unsupported', /encrypted/);
  });

  test('when its footer is longer than the file or the limit', async () => {
    const bytes = Uint8Array.from(FILE);
    bytes.fill(0xff, bytes.length - 8, bytes.length - 4);

    await rejects(bytes, 'invalid-data', /footer of 4294967295 bytes exceeds file length/);
    await assert.rejects(readParquetFooter(bytesReader(FILE), { footerBytesMax: 100 }), {
      kind: 'unsupported',
    });
  });

  test('when its footer is cut', async () => {
    const footerOffset = footerOffsetOf(FILE);
    const footer = FILE.subarray(footerOffset, FILE.length - 20);

    await rejects(withFooter(FILE.subarray(0, footerOffset), footer), 'invalid-data', /footer/);
  });

  test('when columns are encrypted', async () => {
    const encrypted = withMetadata(FILE, (metadata) => ({
      ...metadata,
      encryptionAlgorithm: 'AES_GCM_V1',
    }));

    await rejects(encrypted, 'unsupported', /encrypted/);
  });

  test('when its version is not known', async () => {
    const version3 = withMetadata(FILE, (metadata) => ({ ...metadata, version: 3 }));

    await rejects(version3, 'unsupported', /version 3/);
  });

  test('when column orders are fewer than columns', async () => {
    const changed = withMetadata(FILE, (metadata) => ({
      ...metadata,
      columnOrders: ['TYPE_ORDER'],
    }));

    await rejects(changed, 'invalid-data', /1 column_orders for 8 columns/);
  });

  test('when rows of row groups do not add up', async () => {
    const changed = withMetadata(FILE, (metadata) => ({ ...metadata, numRows: 601 }));

    await rejects(changed, 'invalid-data', /num_rows 601, row groups have 600/);
  });
});

describe('a row group is rejected', () => {
  test('when it has fewer chunks than there are columns', async () => {
    const changed = withRowGroup(FILE, (rowGroup) => ({
      ...rowGroup,
      columns: rowGroup.columns.slice(1),
    }));

    await rejects(changed, 'invalid-data', /7 column chunks for 8 columns/);
  });

  test('when counts are negative', async () => {
    const rows = withRowGroup(FILE, (rowGroup) => ({ ...rowGroup, numRows: -1 }));
    const bytes = withRowGroup(FILE, (rowGroup) => ({ ...rowGroup, totalByteSize: -1 }));

    await rejects(rows, 'invalid-data', /num_rows -1 is negative/);
    await rejects(bytes, 'invalid-data', /total_byte_size -1 is negative/);
  });

  test('when it is sorted by a column that does not exist', async () => {
    const sortingColumns = [{ columnIdx: 8, descending: false, nullsFirst: false }];
    const changed = withRowGroup(FILE, (rowGroup) => ({ ...rowGroup, sortingColumns }));

    await rejects(changed, 'invalid-data', /sorting column 8 of 8 columns/);
  });
});

describe('a column chunk is rejected', () => {
  test('when its path or type is not the schema’s', async () => {
    const path = withColumnMetaData(FILE, 0, { pathInSchema: ['other'] });
    const type = withColumnMetaData(FILE, 0, { type: 'INT32' });

    await rejects(path, 'invalid-data', /column id: path_in_schema is other/);
    await rejects(type, 'invalid-data', /type INT32, the schema has INT64/);
  });

  test('when its values contradict the rows', async () => {
    const flat = withColumnMetaData(FILE, 0, { numValues: 401 });
    const repeated = withColumnMetaData(FILE, 5, { numValues: 399 });

    await rejects(flat, 'invalid-data', /num_values 401 in a row group of 400 rows/);
    await rejects(repeated, 'invalid-data', /num_values 399 in a row group of 400 rows/);
  });

  test('when it has more nulls than values', async () => {
    const changed = withColumnMetaData(FILE, 0, { statistics: { nullCount: 401 } });

    await rejects(changed, 'invalid-data', /null_count 401 of 400 values/);
  });

  test('when it does not lie between the magic and the footer', async () => {
    const footerOffset = footerOffsetOf(FILE);
    const before = withColumnMetaData(FILE, 0, { dataPageOffset: 3 });
    const behind = withColumnMetaData(FILE, 0, { dataPageOffset: footerOffset - 10 });
    const long = withColumnMetaData(FILE, 7, { totalCompressedSize: footerOffset });

    await rejects(before, 'invalid-data', /column chunk of \d+ bytes at offset 3/);
    await rejects(behind, 'invalid-data', /column chunk/);
    await rejects(long, 'invalid-data', /column chunk/);
  });

  test('when it overlaps another or a page index', async () => {
    const chunk = withColumnMetaData(FILE, 0, { totalCompressedSize: 2000 });
    const index = withChunk(FILE, 0, (found) => ({ ...found, offsetIndexOffset: 100 }));

    await rejects(chunk, 'invalid-data', /belong to two parts/);
    await rejects(index, 'invalid-data', /belong to two parts/);
  });

  test('when an index or Bloom filter lies outside the file', async () => {
    const offsetIndex = withChunk(FILE, 0, (found) => ({ ...found, offsetIndexLength: -1 }));
    const columnIndex = withChunk(FILE, 0, (found) => ({ ...found, columnIndexOffset: 2 ** 40 }));
    const bloomFilter = withColumnMetaData(FILE, 0, { bloomFilterOffset: FILE.length });

    await rejects(offsetIndex, 'invalid-data', /offset index of -1 bytes/);
    await rejects(columnIndex, 'invalid-data', /column index/);
    await rejects(bloomFilter, 'invalid-data', /bloom filter/);
  });

  test('when it lies in another file or has no metadata', async () => {
    const elsewhere = withChunk(FILE, 0, (found) => ({ ...found, filePath: 'part' }));
    const bare = withChunk(FILE, 0, ({ metaData: _, ...found }): ColumnChunk => found);

    await rejects(elsewhere, 'unsupported', /another file/);
    await rejects(bare, 'invalid-data', /meta_data is missing/);
  });
});

describe('a schema is rejected', () => {
  async function rejectsSchema(
    schema: readonly SchemaElement[],
    kind: string,
    message: RegExp,
  ): Promise<void> {
    const bytes = withMetadata(FILE, (metadata) => ({ ...metadata, schema }));
    await rejects(bytes, kind, message);
  }

  const group = (name: string, numChildren: number): SchemaElement => ({
    name,
    numChildren,
    repetitionType: 'OPTIONAL',
  });
  const leaf: SchemaElement = { name: 'leaf', type: 'INT32', repetitionType: 'OPTIONAL' };

  test('when children are missing, left over or negative', async () => {
    await rejectsSchema([], 'invalid-data', /children are missing/);
    await rejectsSchema([group('root', 1)], 'invalid-data', /num_children 1 with 0 elements/);
    await rejectsSchema([group('root', -1)], 'invalid-data', /num_children -1/);
    await rejectsSchema([group('root', 1), leaf, leaf], 'invalid-data', /after 2 of 3 elements/);
  });

  test('when a leaf has children, no repetition type or no length', async () => {
    const parent: SchemaElement = { ...leaf, numChildren: 1 };
    const { repetitionType: _, ...bare } = leaf;
    const fixed: SchemaElement = { ...leaf, type: 'FIXED_LEN_BYTE_ARRAY', typeLength: 0 };

    await rejectsSchema([group('root', 1), parent, leaf], 'invalid-data', /a leaf has 1 children/);
    await rejectsSchema([group('root', 1), bare], 'invalid-data', /repetition_type is missing/);
    await rejectsSchema([group('root', 1), fixed], 'invalid-data', /type_length 0/);
  });

  test('when it is too deep or too large', async () => {
    const deep = Array.from({ length: 60 }, () => group('group', 1));
    const wide = Array.from({ length: 100_000 }, () => leaf);

    await rejectsSchema([...deep, leaf], 'unsupported', /41 levels exceed the limit of 40/);
    await rejectsSchema([group('root', 100_000), ...wide], 'unsupported', /100001 elements/);
  });
});
