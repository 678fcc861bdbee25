import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RangedReader } from '../../shared/base/index.ts';
import { concatBytes, crc32 } from '../../shared/bytes/index.ts';
import { readPageBatches, walkPages } from '../../shared/parquet/index.ts';
import { PAGE_BYTES_MAX } from '../../shared/parquet/page-sequence.ts';
import { bytesReader } from '../support/file-reader.ts';
import {
  type BuiltPage,
  chunkOf,
  dataPageV1,
  dataPageV2,
  dictionaryPage,
  REPEATED_LEAF,
  withDataHeader,
  withHeader,
  withV2Header,
} from './chunk-builder.ts';

const BODY = Uint8Array.from({ length: 40 }, (_, index) => index);
const MIB = 1024 * 1024;

function rejects(
  pages: readonly BuiltPage[],
  message: RegExp,
  change: Parameters<typeof chunkOf>[1] = {},
  kind = 'invalid-data',
): void {
  const { bytes, chunk } = chunkOf(pages, change);
  assert.throws(() => [...walkPages(bytes, chunk, 'chunk')], { kind, message });
}

describe('walkPages', () => {
  test('gives headers, bodies and offsets', () => {
    const pages = [
      dictionaryPage(2, BODY.subarray(0, 8)),
      dataPageV1(4, BODY),
      dataPageV1(6, BODY),
    ];
    const { bytes, chunk } = chunkOf(pages);

    const walked = [...walkPages(bytes, chunk, 'chunk')];

    assert.deepEqual(
      walked.map(({ header, body }) => ({ header, body })),
      pages,
    );
    let offset = 0;
    for (const page of walked) {
      assert.equal(page.offset, offset);
      offset += page.headerBytes + page.body.length;
    }
    assert.equal(offset, bytes.length);
  });

  test('walks a chunk without pages', () => {
    const { bytes, chunk } = chunkOf([], { rowCount: 0, metaData: { numValues: 0 } });

    assert.deepEqual([...walkPages(bytes, chunk, 'chunk')], []);
  });

  test('accepts a checksum that matches, and rejects one that does not', () => {
    const checked = withHeader(dataPageV1(10, BODY), { crc: crc32(BODY) | 0 });
    const { bytes, chunk } = chunkOf([checked]);

    assert.equal([...walkPages(bytes, chunk, 'chunk')].length, 1);
    rejects([withHeader(checked, { crc: 1 })], /page body has crc \d+, its header says 1/);
  });

  test('rejects sizes beyond the chunk or below zero', () => {
    const page = dataPageV1(10, BODY);

    rejects([withHeader(page, { compressedPageSize: 41 })], /page of 41 bytes with 40 remaining/);
    rejects([withHeader(page, { compressedPageSize: -1 })], /page of -1 bytes/);
    rejects([withHeader(page, { uncompressedPageSize: -1 })], /uncompressed_page_size -1/);
    rejects([withHeader(page, { uncompressedPageSize: 41 })], /page of 40 bytes promises 41/);
  });

  test('rejects a header that is cut or lacks its kind', () => {
    const { bytes, chunk } = chunkOf([dataPageV1(10, BODY)]);
    const range = { offset: 0, lengthBytes: 10 };
    const cut = bytes.subarray(0, 10);
    const { dataPageHeader: _, ...bare } = dataPageV1(10, BODY).header;

    assert.throws(() => [...walkPages(cut, { ...chunk, range }, 'chunk')], {
      kind: 'invalid-data',
    });
    rejects([{ header: bare, body: BODY }], /DATA_PAGE lacks its header/);
    rejects([{ header: { ...bare, type: 'DATA_PAGE_V2' }, body: BODY }], /V2 lacks its header/);
    rejects([{ header: { ...bare, type: 'DICTIONARY_PAGE' }, body: BODY }], /lacks its header/);
  });

  test('rejects index pages as unsupported', () => {
    const page = withHeader(dataPageV1(10, BODY), { type: 'INDEX_PAGE' });

    rejects([page], /index pages/, {}, 'unsupported');
  });

  test('rejects a dictionary that is not first, or not PLAIN, or of negative size', () => {
    const dictionary = dictionaryPage(1, BODY);
    const header = { numValues: 1, encoding: 'RLE' } as const;

    rejects([dataPageV1(10, BODY), dictionary], /page 2 is a dictionary/);
    rejects([dictionary, dictionary], /page 2 is a dictionary/);
    rejects([withHeader(dictionary, { dictionaryPageHeader: header })], /has encoding RLE/);
    rejects([dictionaryPage(-1, BODY)], /dictionary of -1 values/);
  });

  test('rejects encodings that need a dictionary without one, and bit-packed values', () => {
    const page = dataPageV1(10, BODY);

    rejects([withDataHeader(page, { encoding: 'RLE_DICTIONARY' })], /without a dictionary/);
    rejects([withDataHeader(page, { encoding: 'PLAIN_DICTIONARY' })], /without a dictionary/);
    rejects([withDataHeader(page, { encoding: 'BIT_PACKED' })], /BIT_PACKED/);
  });

  test('rejects values that do not add up', () => {
    rejects([dataPageV1(11, BODY)], /page of 11 values with 10 remaining/);
    rejects([dataPageV1(-1, BODY)], /page of -1 values/);
    rejects([dataPageV1(9, BODY)], /9 values in pages, 10 expected/);
  });

  test('rejects rows that do not add up', () => {
    const pages = [dataPageV2(6, 3, BODY), dataPageV2(4, 2, BODY)];

    rejects(pages, /5 rows in pages, 6 expected/, { leaf: REPEATED_LEAF, rowCount: 6 });
  });

  test('rejects counts and lengths of v2 pages that contradict each other', () => {
    const page = dataPageV2(10, 10, BODY);

    rejects([withV2Header(page, { numNulls: 11 })], /num_nulls 11 of 10 values/);
    rejects([withV2Header(page, { numRows: 9 })], /num_rows 9 of 10 values/);
    rejects([withV2Header(page, { definitionLevelsByteLength: 41 })], /levels of 41 bytes/);
    rejects([withV2Header(page, { repetitionLevelsByteLength: -1 })], /negative/);
    rejects([dataPageV2(10, 11, BODY)], /num_rows 11/, { leaf: REPEATED_LEAF });
  });
});

describe('readPageBatches', () => {
  /** A reader that notes how much it is asked for at once. */
  function countingReader(bytes: Uint8Array) {
    const lengths: number[] = [];
    const inner = bytesReader(bytes);
    const reader: RangedReader = {
      ...inner,
      read(offset, lengthBytes) {
        lengths.push(lengthBytes);
        return inner.read(offset, lengthBytes);
      },
    };
    return { reader, lengths };
  }

  test('reads a large chunk in pieces, and gives its bytes back in whole pages', async () => {
    const pages = [1, 3, 12, 2, 7].map((mib, index) =>
      dataPageV1(2, new Uint8Array(mib * MIB).fill(index)),
    );
    const { bytes, chunk } = chunkOf(pages);
    const { reader, lengths } = countingReader(bytes);

    const parts: Uint8Array[] = [];
    let pageCount = 0;
    for await (const batch of readPageBatches(reader, chunk, 'chunk')) {
      parts.push(batch.bytes);
      pageCount += batch.pages.length;
    }

    assert.equal(pageCount, 5);
    assert.equal(crc32(concatBytes(parts)), crc32(bytes));
    assert.deepEqual(lengths, [8 * MIB, 8 * MIB, bytes.length - 16 * MIB]);
  });

  test('needs no read for a chunk without pages', async () => {
    const { bytes, chunk } = chunkOf([], { rowCount: 0, metaData: { numValues: 0 } });
    const { reader, lengths } = countingReader(bytes);

    for await (const _ of readPageBatches(reader, chunk, 'chunk')) assert.fail('a page');

    assert.deepEqual(lengths, []);
  });

  test('refuses a page beyond the limit before gathering it', async () => {
    const page = withHeader(dataPageV1(10, BODY), {
      compressedPageSize: PAGE_BYTES_MAX + 1,
      uncompressedPageSize: PAGE_BYTES_MAX + 1,
    });
    const { bytes, chunk } = chunkOf([page]);
    const range = { offset: 0, lengthBytes: 2 * PAGE_BYTES_MAX };
    const reader: RangedReader = {
      location: 'large',
      fileSizeBytes: range.lengthBytes,
      read: async (_, lengthBytes) =>
        concatBytes([bytes, new Uint8Array(lengthBytes - bytes.length)]),
    };

    const batches = readPageBatches(reader, { ...chunk, range }, 'chunk');

    await assert.rejects(batches.next(), { kind: 'unsupported' });
  });
});
