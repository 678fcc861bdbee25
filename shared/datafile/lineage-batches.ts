import { type LeafValues, physicalValueAt, type SchemaLeaf } from '../parquet/index.ts';
import { decodeRows, type LeafBatchContext } from './decode-rows.ts';
import type { LeafSource } from './match-file.ts';

/** Rows made at once where nothing is read. */
const BATCH_ROWS = 20_000;

const INT64_BYTES = 8;

/** What rows inherit that store no lineage of their own. */
export interface LineageValues {
  /** Row id of the file's first row; absent when the file has none: then both stay null. */
  readonly firstRowId?: bigint;
  readonly dataSequenceNumber: bigint;
}

/**
 * Values of a lineage column: what the file stores, and what rows inherit that store none. Throws as
 * `decodeColumnChunk`.
 *
 * @see Iceberg spec, "Row Lineage"
 */
export async function* lineageBatches(
  source: LeafSource & { readonly kind: 'lineage' },
  context: LeafBatchContext,
): AsyncGenerator<LeafValues, void, undefined> {
  const { rows, rowGroup } = context;
  let position = rowGroup.firstRowIndex + rows.firstRow;
  const inherited = (row: number) => inheritedValue(source.column, context.lineage, position + row);
  if (source.leaf !== undefined) {
    for await (const batch of decodeRows(source.leaf, context)) {
      yield lineageBatch(batch.valueCount, storedValues(batch, source.leaf, inherited));
      position += batch.valueCount;
    }
    return;
  }
  for (let row = 0; row < rows.rowCount; row += BATCH_ROWS) {
    const rowCount = Math.min(BATCH_ROWS, rows.rowCount - row);
    yield lineageBatch(rowCount, inherited);
    position += rowCount;
  }
}

function inheritedValue(
  column: 'row-id' | 'last-updated-sequence-number',
  { firstRowId, dataSequenceNumber }: LineageValues,
  position: number,
): bigint | undefined {
  if (firstRowId === undefined) return undefined;
  return column === 'row-id' ? firstRowId + BigInt(position) : dataSequenceNumber;
}

function storedValues(
  batch: LeafValues,
  leaf: SchemaLeaf,
  inherited: (row: number) => bigint | undefined,
): (row: number) => bigint | undefined {
  let valueIndex = 0;
  return (row) => {
    const level = batch.definitionLevels?.[row] ?? leaf.maxDefinitionLevel;
    if (level < leaf.maxDefinitionLevel) return inherited(row);
    const value = physicalValueAt(batch.values, valueIndex++);
    return new DataView(value.buffer, value.byteOffset, INT64_BYTES).getBigInt64(0, true);
  };
}

/** An optional INT64 column of `rowCount` rows; `valueAt` is called once for each row, in order. */
function lineageBatch(rowCount: number, valueAt: (row: number) => bigint | undefined): LeafValues {
  const definitionLevels = new Uint8Array(rowCount);
  const bytes = new Uint8Array(rowCount * INT64_BYTES);
  const view = new DataView(bytes.buffer);
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    const value = valueAt(row);
    if (value === undefined) continue;
    definitionLevels[row] = 1;
    view.setBigInt64(INT64_BYTES * count++, value, true);
  }
  const used = bytes.subarray(0, count * INT64_BYTES);
  const values = { kind: 'fixed-width', widthBytes: INT64_BYTES, count, bytes: used } as const;
  return { valueCount: rowCount, definitionLevels, values };
}
