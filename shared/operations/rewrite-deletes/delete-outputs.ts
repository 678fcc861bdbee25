import { assert, mapConcurrent, type RangedReader } from '../../base/index.ts';
import type { OpenedOutput } from '../../datafile/index.ts';
import { DeletionVectorWriter, writePositionDeleteFile } from '../../deletes/index.ts';
import {
  type DataFile,
  dataLocation,
  type ManifestEntry,
  newDataLocation,
  specById,
} from '../../iceberg/index.ts';
import { RoaringBitmap } from '../../roaring/index.ts';
import {
  type CommitPorts,
  type CoveredDataFile,
  deleteIdentity,
  type ReplaceInput,
  toReplaceInput,
} from '../../table/index.ts';
import type { RunGroupOptions } from './run.ts';

/** What is deleted of one data file, for one new delete file. */
export interface DeletesToWrite {
  readonly entry: ManifestEntry;
  readonly input: ReplaceInput;
  /** At least one. */
  readonly positions: RoaringBitmap;
  readonly dataSequenceNumber: bigint;
}

/** A vector to be copied, with the entry of its data file. */
export interface VectorToCopy {
  readonly vector: ManifestEntry;
  readonly entry: ManifestEntry;
}

/** Files that nothing came of. */
const OUTPUT_UNUSED = 'group-not-committed';

/** Small objects, written or read at a time. */
const FILES_CONCURRENT = 16;

/** Larger vectors are read one by one. */
const PREFETCHED_BYTES_MAX = 1024 * 1024;

type OutputOptions = Pick<
  RunGroupOptions,
  'table' | 'base' | 'group' | 'puffinSizeBytesMax' | 'runUuid'
>;

/** The new delete files of a group: vectors in few Puffin files (v3), or a position delete file for each data file (v2). */
export class DeleteOutputs {
  readonly #options: OutputOptions;
  readonly #ports: Pick<CommitPorts, 'store' | 'run'>;
  readonly #covered: CoveredDataFile[] = [];
  readonly #paths = new Set<string>();
  /** The data files of the open Puffin file's vectors, in their order. */
  #pending: { readonly input: ReplaceInput; readonly dataSequenceNumber: bigint }[] = [];
  #writer: DeletionVectorWriter;
  #addedBytes = 0;
  #fileCount = 0;

  constructor(options: OutputOptions, ports: Pick<CommitPorts, 'store' | 'run'>) {
    this.#options = options;
    this.#ports = ports;
    this.#writer = this.#newWriter();
  }

  /** Delete files and vectors written; all of them once finished. */
  get addedFileCount(): number {
    return this.#covered.length;
  }

  get addedBytes(): number {
    return this.#addedBytes;
  }

  async write(deletes: readonly DeletesToWrite[]): Promise<void> {
    if (this.#options.base.formatVersion < 3) return this.#writePositionDeleteFiles(deletes);
    for (const { entry, input, positions, dataSequenceNumber } of deletes) {
      await this.#writer.add({ specId: entry.specId, dataFile: entry.dataFile, positions });
      this.#pending.push({ input, dataSequenceNumber });
      await this.#closeWhenFull();
    }
  }

  /** Reads vectors, many at a time, and writes them byte for byte. */
  async copy(vectors: readonly VectorToCopy[]): Promise<void> {
    const read = await mapConcurrent(vectors, { concurrencyMax: FILES_CONCURRENT }, (each) =>
      this.#fetch(each),
    );
    for (const { vector, entry, reader } of read) {
      const byPosition = await this.#writer.copy(vector, reader);
      const deletes = {
        applied: [deleteIdentity(vector)],
        byPosition,
        byEquality: RoaringBitmap.EMPTY,
      };
      const { dataSequenceNumber } = vector;
      this.#pending.push({ input: toReplaceInput(entry, deletes), dataSequenceNumber });
      await this.#closeWhenFull();
    }
  }

  /** Makes the last objects visible; all data files that were given a delete file. */
  async finish(): Promise<readonly CoveredDataFile[]> {
    await this.#closePuffin();
    return this.#covered;
  }

  abort(): Promise<void> {
    return this.#writer.abort();
  }

  #newWriter(): DeletionVectorWriter {
    return new DeletionVectorWriter(async () => {
      const { metadata } = this.#options.table;
      // Where Iceberg Java puts them: in no partition's folder, since one file may have vectors of several.
      const name = this.#nextName('puffin');
      return this.#open(dataLocation(metadata.location, metadata.properties, undefined, name));
    });
  }

  async #closeWhenFull(): Promise<void> {
    if (this.#writer.offset >= this.#options.puffinSizeBytesMax) await this.#closePuffin();
  }

  async #closePuffin(): Promise<void> {
    const vectors = await this.#writer.close();
    this.#writer = this.#newWriter();
    const pending = this.#pending;
    this.#pending = [];
    assert(vectors.length === pending.length, `${vectors.length} vectors of ${pending.length}`);
    for (const [index, { dataFile }] of vectors.entries()) {
      const { input, dataSequenceNumber } = pending[index]!;
      this.#cover(input, dataFile, dataSequenceNumber);
    }
  }

  async #writePositionDeleteFiles(deletes: readonly DeletesToWrite[]): Promise<void> {
    const { metadata } = this.#options.table;
    const placed = deletes.map((each) => {
      const { specId, dataFile } = each.entry;
      const name = this.#nextName('parquet');
      const spec = specById(metadata, specId);
      return { ...each, location: newDataLocation(metadata, spec, dataFile.partition, name) };
    });
    // All of them in one request of the ledger.
    await this.#ports.run.nameObjects(
      placed.map(({ location }) => location),
      OUTPUT_UNUSED,
    );
    const written = await mapConcurrent(
      placed,
      { concurrencyMax: FILES_CONCURRENT },
      async ({ entry, positions, location }) =>
        writePositionDeleteFile({
          dataFile: entry.dataFile,
          positions,
          properties: metadata.properties,
          output: await this.#open(location),
        }),
    );
    for (const [index, file] of written.entries()) {
      const { input, dataSequenceNumber } = placed[index]!;
      this.#cover(input, file, dataSequenceNumber);
    }
  }

  #cover(input: ReplaceInput, dataFile: DataFile, dataSequenceNumber: bigint): void {
    this.#covered.push({ input, addedDelete: { dataFile, dataSequenceNumber } });
    if (!this.#paths.has(dataFile.filePath)) this.#addedBytes += dataFile.fileSizeBytes;
    this.#paths.add(dataFile.filePath);
  }

  /** A vector whose bytes are in memory, so that writing it waits for nothing. */
  async #fetch(moved: VectorToCopy): Promise<VectorToCopy & { readonly reader: RangedReader }> {
    const { filePath, fileSizeBytes, contentOffset, contentSizeBytes } = moved.vector.dataFile;
    const reader = this.#ports.store.openRanged(filePath, fileSizeBytes);
    const isUnplaced = contentOffset === undefined || contentSizeBytes === undefined;
    if (isUnplaced || contentSizeBytes > PREFETCHED_BYTES_MAX) return { ...moved, reader };
    const bytes = await reader.read(contentOffset, contentSizeBytes);
    return { ...moved, reader: { ...reader, read: async () => bytes } };
  }

  async #open(location: string): Promise<OpenedOutput> {
    const { store, run } = this.#ports;
    // Most often it is named already, with others.
    await run.nameObjects([location], OUTPUT_UNUSED);
    return { location, writer: store.openWriter(location) };
  }

  #nextName(extension: string): string {
    const { runUuid, group } = this.#options;
    return `${runUuid}-${group.groupIndex}-${this.#fileCount++}-deletes.${extension}`;
  }
}
