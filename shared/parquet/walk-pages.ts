import type { RangedReader } from '../base/index.ts';
import { assert } from '../base/index.ts';
import { concatBytes } from '../bytes/index.ts';
import { PageSequence, type WalkedPage } from './page-sequence.ts';
import type { ParquetColumnChunk } from './parquet-file.ts';

/** How much of a chunk is read at once: enough to make requests few, little enough to be held many times. */
const PIECE_BYTES = 8 * 1024 * 1024;

/** Consecutive whole pages; `bytes` holds just them, `body` of each is a view of it. */
export interface PageBatch {
  readonly bytes: Uint8Array;
  readonly pages: readonly WalkedPage[];
}

/**
 * The pages of a chunk that is in memory, in order. Checks what `PageSequence` does; the last checks come after
 * the last page, so a caller must run the walk to its end to rely on the counts.
 *
 * @param chunkBytes all of `chunk.range`
 * @param subject names the chunk in errors, see `chunkSubject`
 * @throws invalid-data, unsupported — as `PageSequence`
 */
export function* walkPages(
  chunkBytes: Uint8Array,
  chunk: ParquetColumnChunk,
  subject: string,
): Generator<WalkedPage, void, undefined> {
  assert(
    chunkBytes.length === chunk.range.lengthBytes,
    `${subject}: ${chunkBytes.length} bytes given of ${chunk.range.lengthBytes}`,
  );
  const sequence = new PageSequence(chunk, subject);
  for (let offset = 0; offset < chunkBytes.length; ) {
    const page = sequence.next(chunkBytes.subarray(offset));
    assert(page !== undefined, `${subject}: a whole chunk holds whole pages`);
    offset = page.offset + page.headerBytes + page.body.length;
    yield page;
  }
  sequence.finish();
}

/**
 * The pages of a chunk as it is read, in batches of whole pages. Memory: a few MiB, or some times the largest
 * page. Costs one read for each 8 MiB or so.
 *
 * @throws invalid-data, unsupported — as `walkPages`
 */
export async function* readPageBatches(
  reader: RangedReader,
  chunk: ParquetColumnChunk,
  subject: string,
): AsyncGenerator<PageBatch, void, undefined> {
  const sequence = new PageSequence(chunk, subject);
  const end = chunk.range.offset + chunk.range.lengthBytes;
  let offset = chunk.range.offset;
  let rest = new Uint8Array(0);
  while (offset < end) {
    // Doubles while a page larger than a piece is being gathered.
    const pieceBytes = Math.min(Math.max(PIECE_BYTES, rest.length), end - offset);
    const piece = await reader.read(offset, pieceBytes);
    offset += pieceBytes;
    const bytes = rest.length === 0 ? piece : concatBytes([rest, piece]);
    const pages: WalkedPage[] = [];
    let lengthBytes = 0;
    while (lengthBytes < bytes.length) {
      const page = sequence.next(bytes.subarray(lengthBytes));
      if (page === undefined) break;
      lengthBytes += page.headerBytes + page.body.length;
      pages.push(page);
    }
    if (pages.length > 0) yield { bytes: bytes.subarray(0, lengthBytes), pages };
    rest = Uint8Array.from(bytes.subarray(lengthBytes));
  }
  sequence.finish();
}
