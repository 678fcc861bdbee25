import { copiedChunkFacts } from './chunk-facts.ts';
import type { MetricsColumn } from './column-metrics.ts';
import type { RowGroupOfInput } from './pieces.ts';
import type { PurgedColumnCounts } from './types.ts';

/** Counts of one column; undefined where some rows' are not known. */
interface Counts {
  readonly valueCount: number | undefined;
  readonly nullCount: number | undefined;
}

const NOT_KNOWN: Counts = { valueCount: undefined, nullCount: undefined };

/** Adds up what purged rows held, column by column. What is not known of some rows is not known of all. */
export class PurgedCounts {
  readonly #columns: readonly MetricsColumn[];
  /** By field id. */
  readonly #counts: Map<number, Counts>;

  constructor(columns: readonly MetricsColumn[]) {
    this.#columns = columns;
    this.#counts = new Map(
      columns.map(({ fieldId }) => [fieldId, { valueCount: 0, nullCount: 0 }]),
    );
  }

  /** A row group of which nothing is left is not read: its footer is all that tells what it held. */
  addRowGroup({ input, rowGroup }: RowGroupOfInput): void {
    if (rowGroup.rowCount === 0) return;
    for (const { columnIndex, fieldId, type } of this.#columns) {
      const source = input.sources[columnIndex];
      const leaf = source && source.kind !== 'fill' ? source.leaf : undefined;
      const chunk = leaf && rowGroup.chunks[leaf.columnIndex];
      this.add(fieldId, chunk ? copiedChunkFacts(input.file, chunk, type) : NOT_KNOWN);
    }
  }

  add(fieldId: number, more: Counts): void {
    const { valueCount, nullCount } = this.#counts.get(fieldId) ?? more;
    this.#counts.set(fieldId, {
      valueCount: sumOf(valueCount, more.valueCount),
      nullCount: sumOf(nullCount, more.nullCount),
    });
  }

  result(): PurgedColumnCounts {
    const valueCounts = new Map<number, number>();
    const nullValueCounts = new Map<number, number>();
    for (const [fieldId, { valueCount, nullCount }] of this.#counts) {
      if (valueCount !== undefined) valueCounts.set(fieldId, valueCount);
      if (nullCount !== undefined) nullValueCounts.set(fieldId, nullCount);
    }
    return { valueCounts, nullValueCounts };
  }
}

function sumOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}
