import { gatherPhysicalValues, type LeafValues, type SchemaLeaf } from '../parquet/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import { membershipCursor } from './position-cursors.ts';

/**
 * Takes whole rows out of the batches of one column, whatever they are made of: a row's entries go together, also
 * where it goes on in the next batch. Counts what it takes out.
 */
export class RowFilter {
  readonly #maxDefinitionLevel: number;
  readonly #isDropped: (position: number) => boolean;
  #nextPosition: number;
  /** Of the row that the last entry belongs to. */
  #isRowDropped = false;
  #droppedValueCount = 0;
  #droppedNullCount = 0;

  /**
   * @param dropped positions in the file
   * @param firstPosition of the row that the first batch begins with
   */
  constructor({ maxDefinitionLevel }: SchemaLeaf, dropped: RoaringBitmap, firstPosition: number) {
    this.#maxDefinitionLevel = maxDefinitionLevel;
    this.#isDropped = membershipCursor(dropped);
    this.#nextPosition = firstPosition;
  }

  /** Nulls and empty lists counted, as everywhere. */
  get droppedValueCount(): number {
    return this.#droppedValueCount;
  }

  get droppedNullCount(): number {
    return this.#droppedNullCount;
  }

  /** What is left of the next batch, in order; may be empty. Byte arrays share the batch's bytes. */
  keep(batch: LeafValues): LeafValues {
    const { repetitionLevels, definitionLevels, valueCount, values } = batch;
    const entries = new Uint32Array(valueCount);
    const kept = new Uint32Array(values.count);
    let entryCount = 0;
    let keptCount = 0;
    let valueIndex = 0;
    for (let index = 0; index < valueCount; index++) {
      const beginsRow = repetitionLevels === undefined || repetitionLevels[index] === 0;
      if (beginsRow) this.#isRowDropped = this.#isDropped(this.#nextPosition++);
      const hasValue =
        definitionLevels === undefined || definitionLevels[index] === this.#maxDefinitionLevel;
      if (this.#isRowDropped) {
        this.#droppedValueCount++;
        if (!hasValue) this.#droppedNullCount++;
      } else {
        entries[entryCount++] = index;
        if (hasValue) kept[keptCount++] = valueIndex;
      }
      if (hasValue) valueIndex++;
    }
    if (entryCount === valueCount) return batch;
    const indices = entries.subarray(0, entryCount);
    return {
      valueCount: entryCount,
      ...(repetitionLevels && { repetitionLevels: gatherLevels(repetitionLevels, indices) }),
      ...(definitionLevels && { definitionLevels: gatherLevels(definitionLevels, indices) }),
      values: gatherPhysicalValues(values, kept.subarray(0, keptCount)),
    };
  }
}

function gatherLevels(levels: Uint8Array, indices: Uint32Array): Uint8Array {
  const gathered = new Uint8Array(indices.length);
  for (let index = 0; index < indices.length; index++) gathered[index] = levels[indices[index]!]!;
  return gathered;
}
