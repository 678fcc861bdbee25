import { assert, type RangedReader } from '../base/index.ts';
import type { OpenedOutput } from '../datafile/index.ts';
import {
  type DataFile,
  deletionVectorBlob,
  type FileOfSpec,
  type ManifestEntry,
  readDeletionVector,
} from '../iceberg/index.ts';
import { type NewBlob, PuffinWriter } from '../puffin/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';

export interface NewDeletionVector {
  /** The data file whose rows are deleted, with its spec: those of the vector's entry as well. */
  readonly specId: number;
  readonly dataFile: DataFile;
  /** At least one; all below the data file's record count. */
  readonly positions: RoaringBitmap;
}

/** What a vector's entry takes over from the data file's. */
interface VectorFacts extends Pick<DataFile, 'partition' | 'recordCount'> {
  readonly specId: number;
  readonly referencedDataFile: string;
}

/**
 * Writes vectors into one Puffin file, which is opened with the first and then filled from start to end. One vector
 * at a time; memory: that vector, and the entries.
 *
 * After a failed call, `abort`.
 */
export class DeletionVectorWriter {
  readonly #openOutput: () => Promise<OpenedOutput>;
  readonly #facts = new Map<string, VectorFacts>();
  #opened: { readonly output: OpenedOutput; readonly puffin: PuffinWriter } | undefined;

  constructor(openOutput: () => Promise<OpenedOutput>) {
    this.#openOutput = openOutput;
  }

  /** Bytes written so far. */
  get offset(): number {
    return this.#opened?.puffin.offset ?? 0;
  }

  /** Adds a vector; a data file can have one only. */
  async add({ specId, dataFile, positions }: NewDeletionVector): Promise<void> {
    const { filePath, partition, recordCount } = dataFile;
    assert(!positions.isEmpty, `${filePath}: no positions to delete`);
    const isWithin = positions.slice(recordCount, Number.POSITIVE_INFINITY).isEmpty;
    assert(isWithin, `${filePath}: a position to delete is beyond its ${recordCount} rows`);
    const facts = { specId, partition, referencedDataFile: filePath };
    await this.#addBlob(deletionVectorBlob(positions, filePath), {
      ...facts,
      recordCount: positions.cardinality,
    });
  }

  /**
   * Adds a vector of another Puffin file, its blob byte for byte, once it was found sound. One read.
   *
   * @param reader of the entry's file
   * @returns what it deletes
   * @throws invalid-data, unsupported — as `readDeletionVector`
   */
  async copy({ specId, dataFile }: ManifestEntry, reader: RangedReader): Promise<RoaringBitmap> {
    const { partition, recordCount, referencedDataFile } = dataFile;
    assert(referencedDataFile !== undefined, `${dataFile.filePath}: a vector of no data file`);
    let bytes: Uint8Array | undefined;
    const positions = await readDeletionVector(dataFile, {
      location: reader.location,
      fileSizeBytes: reader.fileSizeBytes,
      read: async (offset, lengthBytes) => {
        bytes = await reader.read(offset, lengthBytes);
        return bytes;
      },
    });
    assert(bytes !== undefined, `${dataFile.filePath}: a vector that was not read`);
    const blob = { ...deletionVectorBlob(positions, referencedDataFile), bytes };
    await this.#addBlob(blob, { specId, partition, recordCount, referencedDataFile });
    return positions;
  }

  /**
   * Writes the footer and makes the object visible.
   *
   * @returns manifest fields of the vectors, in the order they were added; none, and no object, without vectors
   * @throws unsupported — when there are too many for one file
   */
  async close(): Promise<readonly FileOfSpec[]> {
    if (this.#opened === undefined) return [];
    const { output, puffin } = this.#opened;
    const result = await puffin.finish();
    const fileSizeBytes = await output.writer.close();
    assert(
      fileSizeBytes === result.fileSizeBytes,
      `${output.location}: ${result.fileSizeBytes} bytes written, ${fileSizeBytes} stored`,
    );
    return [...this.#facts.values()].map(({ specId, ...facts }, index) => {
      const blob = result.blobs[index];
      assert(blob !== undefined, `${output.location}: no blob ${index}`);
      const dataFile: DataFile = {
        content: 'position-deletes',
        filePath: output.location,
        fileFormat: 'PUFFIN',
        ...facts,
        fileSizeBytes,
        contentOffset: blob.offset,
        contentSizeBytes: blob.lengthBytes,
        unknownFields: [],
      };
      return { specId, dataFile };
    });
  }

  /** Gives the object up, where there is one. */
  async abort(): Promise<void> {
    await this.#opened?.output.writer.abort();
  }

  async #addBlob(blob: NewBlob, facts: VectorFacts): Promise<void> {
    const { referencedDataFile } = facts;
    assert(!this.#facts.has(referencedDataFile), `${referencedDataFile}: a second vector`);
    if (this.#opened === undefined) {
      const output = await this.#openOutput();
      this.#opened = { output, puffin: new PuffinWriter(output.writer) };
    }
    this.#facts.set(referencedDataFile, facts);
    await this.#opened.puffin.addBlob(blob);
  }
}
