import type { ByteSink } from '../base/index.ts';
import type { ColumnIndex, ColumnMetaData, OffsetIndex } from './metadata-types.ts';

/** A column chunk whose pages are in the file; what belongs to it comes behind the row group or at the end. */
export interface WrittenColumnChunk {
  readonly metaData: ColumnMetaData;
  readonly rowCount: number;
  readonly offsetIndex?: OffsetIndex;
  readonly columnIndex?: ColumnIndex;
  /** Gives header and bitset; called once, so that one filter is in memory at a time. */
  readonly readBloomFilter?: () => Promise<Uint8Array>;
}

/** A sink that knows how far it is. */
export class CountingSink {
  readonly #sink: ByteSink;
  #offset = 0;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** Bytes written so far: where the next byte comes to lie. */
  get offset(): number {
    return this.#offset;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#offset += bytes.length;
    await this.#sink.write(bytes);
  }
}
