import { chanceOf } from './chance.ts';
import { expectation, type HostileCase } from './hostile-case.ts';
import { type ParquetParts, withFooterLength } from './parquet-parts.ts';
import type { TableParts } from './table-parts.ts';
import { isHuge, liesAbout, type ThriftNumber, thriftNumbers, withNumbers } from './thrift-lies.ts';

interface ParquetObject {
  readonly filePath: string;
  readonly bytes: Uint8Array;
  readonly parts: ParquetParts;
}

/** Lies of each seed about one number; a footer has many numbers. */
const FOOTER_LIES = 1;
const PAGE_LIES = 5;

/** FileMetaData.num_rows, RowGroup.num_rows, ColumnMetaData's num_values, total_compressed_size, data_page_offset. */
const CHECKED_IN_FOOTER = /^3$|^4\[\d+\]\.3$|\.3\.[579]$/;

/** PageHeader's sizes, and the num_values of its three kinds. */
const CHECKED_IN_PAGE = /^[23]$|^[578]\.1$/;

/** Offsets of what stands behind the pages: ColumnChunk's indexes and ColumnMetaData's Bloom filter. */
const OFFSET_BEHIND_PAGES = /\]\.[46]$|\.3\.14$/;

/**
 * Every count, length and number of the footer claiming something else, which the seed chooses; the footer's own
 * length is kept right.
 */
export function* lyingFooters(
  { filePath, bytes, parts }: ParquetObject,
  table: TableParts,
  seed: number,
): Generator<HostileCase> {
  const { start } = parts.footer;
  for (const number of thriftNumbers(bytes, start)) {
    for (const raw of chosenLies(number, seed, FOOTER_LIES)) {
      const lying = withFooterLength(withNumbers(bytes, [{ number, raw }]), start);
      const isChecked = number.kind !== 'integer' || CHECKED_IN_FOOTER.test(number.path);
      yield {
        label: `${labelOf(filePath, number)} claims ${raw}`,
        corruption: table.resized(filePath, lying),
        expects: expectation(isChecked && isHuge(raw)),
      };
    }
  }
}

/** The last page header lying in the same way; the footer knows how much longer its chunk became. */
export function* lyingPageHeaders(
  { filePath, bytes, parts }: ParquetObject,
  table: TableParts,
  seed: number,
): Generator<HostileCase> {
  const header = parts.pageHeaders.reduce((one, other) => (other.start > one.start ? other : one));
  const chunkPath = chunkPathAt(parts, header.start);
  const inFooter = thriftNumbers(bytes, parts.footer.start);
  for (const number of thriftNumbers(bytes, header.start)) {
    for (const raw of chosenLies(number, seed, PAGE_LIES)) {
      const grownBytes = withNumbers(bytes, [{ number, raw }]).length - bytes.length;
      const moved = inFooter
        .filter(({ path }) => path === `${chunkPath}.3.7` || OFFSET_BEHIND_PAGES.test(path))
        .map((each) => ({ number: each, raw: each.raw + 2n * BigInt(grownBytes) }));
      const lying = withNumbers(bytes, [{ number, raw }, ...moved]);
      const isChecked = number.kind !== 'integer' || CHECKED_IN_PAGE.test(number.path);
      yield {
        label: `page header, ${labelOf(filePath, number)} claims ${raw}`,
        corruption: table.resized(
          filePath,
          withFooterLength(lying, parts.footer.start + grownBytes),
        ),
        expects: expectation(isChecked && isHuge(raw)),
      };
    }
  }
}

function chosenLies(number: ThriftNumber, seed: number, count: number): readonly bigint[] {
  const lies = liesAbout(number);
  const first = chanceOf(seed, number.start).below(lies.length);
  return Array.from(
    { length: Math.min(count, lies.length) },
    (_, index) => lies[(first + index) % lies.length]!,
  );
}

function chunkPathAt({ file }: ParquetParts, offset: number): string {
  for (const [rowGroupIndex, { chunks }] of file.rowGroups.entries()) {
    for (const [columnIndex, { range }] of chunks.entries()) {
      const isWithin = offset >= range.offset && offset < range.offset + range.lengthBytes;
      if (isWithin) return `4[${rowGroupIndex}].1[${columnIndex}]`;
    }
  }
  throw new TypeError(`hostile: no column chunk at ${offset}`);
}

function labelOf(filePath: string, { kind, path, raw }: ThriftNumber): string {
  return `${filePath.slice(filePath.lastIndexOf('/') + 1)}: ${kind} ${path} of ${raw}`;
}
