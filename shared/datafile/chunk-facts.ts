import type { PrimitiveType } from '../iceberg/index.ts';
import {
  type ChunkFacts,
  type ParquetColumnChunk,
  type ParquetFile,
  trustedStatistics,
} from '../parquet/index.ts';
import {
  type Bound,
  boundOf,
  type ColumnFacts,
  NO_BOUND,
  UNKNOWN_BOUND,
} from './column-metrics.ts';
import { primitiveElement } from './parquet-schema.ts';

/** Facts of a chunk that was copied, by what can be trusted of the file's statistics. */
export function copiedChunkFacts(
  file: ParquetFile,
  chunk: ParquetColumnChunk,
  type: PrimitiveType,
): ColumnFacts {
  const { leaf, columnOrder, metaData } = chunk;
  const valueCount = metaData.numValues;
  const createdBy = file.metadata.createdBy;
  const statistics = trustedStatistics(
    { createdBy, leaf, columnOrder, valueCount },
    metaData.statistics,
  );
  const nullCount = leaf.maxDefinitionLevel === 0 ? 0 : statistics?.nullCount;
  const absent = nullCount === valueCount ? NO_BOUND : UNKNOWN_BOUND;
  return {
    valueCount,
    nullCount,
    nanCount: type.kind === 'float' || type.kind === 'double' ? statistics?.nanCount : 0,
    lower: physicalBound(statistics?.minValue, type) ?? absent,
    upper: physicalBound(statistics?.maxValue, type) ?? absent,
  };
}

/** Facts of a chunk that was newly encoded: exact. */
export function encodedChunkFacts(facts: ChunkFacts, type: PrimitiveType): ColumnFacts {
  const { valueCount, nullCount, nanCount, bounds } = facts;
  const hasValues = valueCount > nullCount + nanCount;
  const absent = hasValues ? UNKNOWN_BOUND : NO_BOUND;
  return {
    valueCount,
    nullCount,
    nanCount,
    lower: physicalBound(bounds?.min, type) ?? absent,
    upper: physicalBound(bounds?.max, type) ?? absent,
  };
}

/** Single values and PLAIN values are the same bytes, but for decimals kept in integers. */
function physicalBound(bytes: Uint8Array | undefined, type: PrimitiveType): Bound | undefined {
  if (bytes === undefined) return undefined;
  const isInteger = type.kind === 'decimal' && primitiveElement(type).typeLength === undefined;
  return boundOf(isInteger ? Uint8Array.from(bytes).reverse() : bytes, type);
}
