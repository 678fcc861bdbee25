import type { ObjectStore } from '../../shared/storage/index.ts';
import { readAvroSlowly, type SlowAvroFile } from './slow-avro.ts';
import { readParquetSlowly, type SlowParquetFile } from './slow-parquet-rows.ts';

/** How the slow reader gets at the contents of files; one that remembers them makes it fast. */
export interface SlowParser {
  avro(location: string): Promise<SlowAvroFile>;
  /** Reads as many bytes as the file's entry says, which is how a reader finds the footer. */
  parquet(file: SlowParquetLocation): Promise<SlowParquetFile>;
}

export interface SlowParquetLocation {
  readonly filePath: string;
  readonly fileSizeBytes: number;
}

export const OBJECT_BYTES_MAX = 1024 ** 3;

/** Reads and parses every time. */
export function slowParser(store: Pick<ObjectStore, 'read' | 'readRange'>): SlowParser {
  return {
    avro: async (location) => readAvroSlowly(await store.read(location, OBJECT_BYTES_MAX)),
    parquet: async ({ filePath, fileSizeBytes }) =>
      readParquetSlowly(await store.readRange(filePath, 0, fileSizeBytes)),
  };
}
