import { IcebergError, isIcebergError, mapConcurrent, type RangedReader } from '../base/index.ts';
import { readPositionDeleteFile } from '../deletes/index.ts';
import { type DataFile, isDeletionVector, readDeletionVector } from '../iceberg/index.ts';
import { readAhead } from '../parquet/index.ts';
import { type BlobMetadata, readPuffinFooter } from '../puffin/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import type { RereadDelete } from './proposal.ts';
import { contentKey } from './stage.ts';
import type { NewDelete } from './stage-deletes.ts';

const FILES_CONCURRENT = 8;

/** Read at once: those that are made here are no larger. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;

/** Reads delete files back from the store, each once however many attempts name it. */
export interface DeleteRereader {
  /**
   * One read for each object, a Puffin file with all its vectors at once; some where it is large.
   *
   * @throws unavailable, access-denied — when the store cannot be asked; what is wrong with a file is its flaw
   */
  reread(deletes: readonly NewDelete[]): Promise<readonly RereadDelete[]>;
}

export function createDeleteRereader(store: ObjectStore): DeleteRereader {
  const known = new Map<string, RereadDelete>();
  return {
    async reread(deletes) {
      const fresh = deletes.filter(({ deleteFile }) => !known.has(contentKey(deleteFile)));
      const byFile = Map.groupBy(fresh, ({ deleteFile }) => deleteFile.filePath);
      await mapConcurrent(
        [...byFile.values()],
        { concurrencyMax: FILES_CONCURRENT },
        async (ofFile) => {
          for (const one of await rereadFile(ofFile, store)) known.set(one.key, one);
        },
      );
      return deletes.flatMap(({ deleteFile }) => known.get(contentKey(deleteFile)) ?? []);
    },
  };
}

async function rereadFile(
  deletes: readonly NewDelete[],
  store: ObjectStore,
): Promise<readonly RereadDelete[]> {
  const found: RereadDelete[] = [];
  const first = deletes[0]!.deleteFile;
  const opened = await flawOr(() => open(first, store));
  for (const each of deletes) {
    const key = contentKey(each.deleteFile);
    const positions = 'flaw' in opened ? opened : await flawOr(() => readBack(each, opened.value));
    found.push({ key, found: 'flaw' in positions ? positions : { positions: positions.value } });
  }
  return found;
}

interface OpenedFile {
  readonly reader: RangedReader;
  /** By offset, of a Puffin file. */
  readonly blobs: ReadonlyMap<number, BlobMetadata>;
}

async function open(
  { filePath, fileSizeBytes }: DataFile,
  store: ObjectStore,
): Promise<OpenedFile> {
  const reader =
    fileSizeBytes <= WHOLE_BYTES_MAX
      ? inMemory(filePath, await store.read(filePath, fileSizeBytes))
      : readAhead(store.openRanged(filePath, (await store.head(filePath)).fileSizeBytes));
  if (!filePath.endsWith('.puffin')) return { reader, blobs: new Map() };
  const { blobs } = await readPuffinFooter(reader);
  return { reader, blobs: new Map(blobs.map((blob) => [blob.offset, blob])) };
}

function inMemory(location: string, bytes: Uint8Array): RangedReader {
  const { length: fileSizeBytes } = bytes;
  const read = async (offset: number, lengthBytes: number): Promise<Uint8Array> => {
    const end = offset + lengthBytes;
    if (end <= fileSizeBytes) return bytes.slice(offset, end);
    throw new IcebergError('invalid-data', `${location}: ${fileSizeBytes} bytes, read to ${end}`);
  };
  return { location, fileSizeBytes, read };
}

async function readBack(
  { dataFile, deleteFile }: NewDelete,
  { reader, blobs }: OpenedFile,
): Promise<RoaringBitmap> {
  const { filePath, fileSizeBytes } = deleteFile;
  if (reader.fileSizeBytes !== fileSizeBytes) {
    throw new IcebergError(
      'invalid-data',
      `${filePath}: ${reader.fileSizeBytes} bytes in the store, ${fileSizeBytes} in its entry`,
    );
  }
  if (isDeletionVector(deleteFile)) {
    requireBlob(deleteFile, blobs);
    return readDeletionVector(deleteFile, reader);
  }
  const wanted = new Set([dataFile.filePath]);
  const positions = await readPositionDeleteFile({ dataFile: deleteFile, reader }, wanted);
  return positions.get(dataFile.filePath) ?? RoaringBitmap.EMPTY;
}

/** The footer must have a vector exactly where the entry has it. */
function requireBlob(deleteFile: DataFile, blobs: OpenedFile['blobs']): void {
  const { filePath, contentOffset, contentSizeBytes, referencedDataFile } = deleteFile;
  const blob = contentOffset === undefined ? undefined : blobs.get(contentOffset);
  if (
    blob?.type === 'deletion-vector-v1' &&
    blob.lengthBytes === contentSizeBytes &&
    blob.properties['referenced-data-file'] === referencedDataFile &&
    blob.properties['cardinality'] === String(deleteFile.recordCount)
  ) {
    return;
  }
  throw new IcebergError(
    'invalid-data',
    `${filePath}: its footer has no vector of ${referencedDataFile} at ${contentOffset}`,
  );
}

type FlawOr<Value> = { readonly value: Value } | { readonly flaw: string };

async function flawOr<Value>(read: () => Promise<Value>): Promise<FlawOr<Value>> {
  try {
    return { value: await read() };
  } catch (error) {
    const isFlaw =
      isIcebergError(error, 'invalid-data') ||
      isIcebergError(error, 'unsupported') ||
      isIcebergError(error, 'not-found');
    if (!isFlaw) throw error;
    return { flaw: error.message };
  }
}
