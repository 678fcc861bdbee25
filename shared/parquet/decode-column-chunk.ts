import { IcebergError, type RangedReader } from '../base/index.ts';
import { needsRecode } from './created-by.ts';
import { decodeDataPage, decodeDictionaryPage } from './decode-page.ts';
import {
  type LeafValues,
  type PhysicalValues,
  physicalValueAt,
  rowStartCount,
} from './leaf-values.ts';
import type { PageHeader } from './metadata-types.ts';
import type { ParquetColumnChunk } from './parquet-file.ts';
import { readPageBatches } from './walk-pages.ts';

export interface DecodeOptions {
  /** `created_by` of the file: some writers broke the format in ways that only their name tells. */
  readonly createdBy: string | undefined;
  /** Names the chunk in errors, see `chunkSubject`. */
  readonly subject: string;
}

/**
 * Decodes a column chunk page by page, in order. The first batch begins a row; later ones need not, since
 * writers of v1 pages may end a page inside a row. Memory: what `readPageBatches` holds, the dictionary and
 * one decoded page. The last checks come after the last batch.
 *
 * @throws invalid-data — when pages contradict the chunk's metadata, the leaf's levels or their own counts
 * @throws unsupported — for codecs and encodings that we do not know, and pages beyond the limits
 */
export async function* decodeColumnChunk(
  reader: RangedReader,
  chunk: ParquetColumnChunk,
  options: DecodeOptions,
): AsyncGenerator<LeafValues, void, undefined> {
  const { subject } = options;
  const { codec, encodings } = chunk.metaData;
  const context = { leaf: chunk.leaf, codec, subject };
  const continuesValues = needsRecode(options.createdBy, encodings);
  let dictionary: PhysicalValues | undefined;
  let previousValue: Uint8Array | undefined;
  let rowCount = 0;
  for await (const { pages } of readPageBatches(reader, chunk, subject)) {
    for (const { header, body } of pages) {
      if (header.type === 'DICTIONARY_PAGE') {
        dictionary = decodeDictionaryPage(header, body, context);
        continue;
      }
      const batch = decodeDataPage(header, body, {
        ...context,
        ...(dictionary && { dictionary }),
        ...(previousValue && { previousValue }),
      });
      if (rowCount === 0) requireRowStart(batch, header, subject);
      rowCount += rowStartCount(batch);
      if (continuesValues && batch.values.count > 0) {
        previousValue = physicalValueAt(batch.values, batch.values.count - 1);
      }
      yield batch;
    }
  }
  if (rowCount !== chunk.rowCount) {
    const problem = `pages hold ${rowCount} rows, the row group has ${chunk.rowCount}`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
}

function requireRowStart(batch: LeafValues, header: PageHeader, subject: string): void {
  const level = batch.repetitionLevels?.[0] ?? 0;
  if (level === 0) return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: the first ${header.type} begins at repetition level ${level}`,
  );
}
