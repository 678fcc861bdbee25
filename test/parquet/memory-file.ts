import type { ByteSink, RangedReader } from '../../shared/base/index.ts';
import { concatBytes } from '../../shared/bytes/index.ts';
import {
  ParquetFileWriter,
  type ParquetWriteResult,
  readParquetFooter,
} from '../../shared/parquet/index.ts';

/** A sink that keeps what it is given. */
export class MemorySink implements ByteSink {
  readonly #parts: Uint8Array[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    this.#parts.push(bytes);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return concatBytes(this.#parts);
  }
}

export interface CopiedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly result: ParquetWriteResult;
}

/** All row groups of files of one schema, copied chunk by chunk into one file. */
export async function copyFiles(readers: readonly RangedReader[]): Promise<CopiedFile> {
  const files = await Promise.all(readers.map((reader) => readParquetFooter(reader)));
  const sink = new MemorySink();
  const writer = new ParquetFileWriter(sink, { schema: files[0]!.metadata.schema });
  for (const [fileIndex, file] of files.entries()) {
    for (const [rowGroupIndex, { rowCount, rowGroup }] of file.rowGroups.entries()) {
      for (const { columnIndex } of file.leaves) {
        await writer.copyColumnChunk({
          reader: readers[fileIndex]!,
          file,
          rowGroupIndex,
          columnIndex,
        });
      }
      await writer.finishRowGroup(rowCount, rowGroup.sortingColumns);
    }
  }
  const result = await writer.finish();
  return { bytes: sink.bytes(), result };
}
