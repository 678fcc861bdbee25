import { assert } from '../base/index.ts';
import { ByteWriter, concatBytes, crc32 } from '../bytes/index.ts';
import type { ValueBounds, ValueOrder } from './encode-bounds.ts';
import { bitWidthFor, encodeHybrid } from './encode-hybrid.ts';
import { encodePlain } from './encode-plain.ts';
import { statisticsOf } from './encode-statistics.ts';
import type { EncodedDataPage, EncodedPage } from './encoded-column-chunk.ts';
import type { LeafShape } from './leaf-shape.ts';
import type { LeafValues, PhysicalValues } from './leaf-values.ts';

/** Levels and values of one page. */
export interface PageValues extends LeafValues {
  readonly rowCount: number;
  /** Of the values; absent where none compares. */
  readonly bounds?: ValueBounds;
}

export interface PageEncodeContext {
  readonly leaf: LeafShape;
  readonly order: ValueOrder;
  readonly compressBody: (bytes: Uint8Array) => Uint8Array;
}

/**
 * A data page v1: PLAIN, or coded by the indices of its values in the dictionary.
 *
 * @see Parquet format, "Data Pages"
 */
export function encodeDataPage(
  batch: PageValues,
  indices: Uint32Array | 'plain',
  { leaf, order, compressBody }: PageEncodeContext,
): EncodedDataPage {
  const isBoolean = leaf.element.type === 'BOOLEAN';
  const bytes = concatBytes([
    encodeLevels(batch.repetitionLevels, leaf.maxRepetitionLevel),
    encodeLevels(batch.definitionLevels, leaf.maxDefinitionLevel),
    indices === 'plain' ? encodePlain(batch.values, isBoolean) : encodeIndices(indices),
  ]);
  const body = compressBody(bytes);
  const nullCount = batch.valueCount - batch.values.count;
  return {
    header: {
      type: 'DATA_PAGE',
      uncompressedPageSize: bytes.length,
      compressedPageSize: body.length,
      crc: crc32(body) | 0,
      dataPageHeader: {
        numValues: batch.valueCount,
        encoding: indices === 'plain' ? 'PLAIN' : 'RLE_DICTIONARY',
        definitionLevelEncoding: 'RLE',
        repetitionLevelEncoding: 'RLE',
      },
    },
    body,
    rowCount: batch.rowCount,
    statistics: statisticsOf(batch.bounds, nullCount, order),
  };
}

/** A dictionary page: its entries in PLAIN. */
export function encodeDictionaryPage(
  entries: PhysicalValues,
  compressBody: PageEncodeContext['compressBody'],
): EncodedPage {
  const bytes = encodePlain(entries, false);
  const body = compressBody(bytes);
  return {
    header: {
      type: 'DICTIONARY_PAGE',
      uncompressedPageSize: bytes.length,
      compressedPageSize: body.length,
      crc: crc32(body) | 0,
      dictionaryPageHeader: { numValues: entries.count, encoding: 'PLAIN' },
    },
    body,
  };
}

/** Levels of a v1 page: their length in 4 bytes, then the runs. Nothing where the greatest level is 0. */
function encodeLevels(levels: Uint8Array | undefined, levelMax: number): Uint8Array {
  assert((levels === undefined) === (levelMax === 0), `levels up to ${levelMax}`);
  if (levels === undefined) return new Uint8Array(0);
  const runs = encodeHybrid(levels, bitWidthFor(levelMax));
  const writer = new ByteWriter(runs.length + 4);
  writer.u32le(runs.length);
  writer.bytes(runs);
  return writer.finish();
}

/**
 * The bit width in one byte, then the runs. The width is at least 1: readers differ in what they expect
 * behind a width of 0.
 */
function encodeIndices(indices: Uint32Array): Uint8Array {
  let indexMax = 1;
  for (const index of indices) if (index > indexMax) indexMax = index;
  const bitWidth = bitWidthFor(indexMax);
  return concatBytes([Uint8Array.of(bitWidth), encodeHybrid(indices, bitWidth)]);
}
