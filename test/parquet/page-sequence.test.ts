import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readParquetFooter, walkPages } from '../../shared/parquet/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';

const FOLDER = new URL('../fixtures/hostile-parquet/', import.meta.url);

/** Walks every page of the file, with one byte of it replaced. */
async function walk(name: string, offset: number, byte: number): Promise<void> {
  const bytes = new Uint8Array(readFileSync(new URL(`${name}.parquet`, FOLDER)));
  bytes[offset] = byte;
  const { rowGroups } = await readParquetFooter(bytesReader(bytes));
  for (const chunk of rowGroups.flatMap(({ chunks }) => chunks)) {
    const { offset: start, lengthBytes } = chunk.range;
    for (const _ of walkPages(bytes.subarray(start, start + lengthBytes), chunk, 'chunk'));
  }
}

// Byte 8 of arrow-v1 is the second of the first page's uncompressed_page_size; byte 191 of duckdb-b the first of
// its second column's.
for (const [name, offset, byte] of [
  ['arrow-v1', 8, 127],
  ['arrow-v2', 8, 127],
  ['duckdb-b', 191, 134],
] as const) {
  test(`a page of ${name} that promises another length than its body tells is rejected`, async () => {
    await assert.rejects(
      walk(name, offset, byte),
      errorOfKind('invalid-data', /page body decompresses to \d+ bytes, its header says \d+/),
    );
  });
}
