import { concatBytes } from '../bytes/index.ts';
import type { OpenedOutput } from '../datafile/index.ts';
import { DeletionVectorWriter, writePositionDeleteFile } from '../deletes/index.ts';
import {
  type DataFile,
  dataLocation,
  newDataLocation,
  specById,
  type TableMetadata,
} from '../iceberg/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import type { RowsToDelete } from './carry-over.ts';
import type { ObjectBatch } from './object-batch.ts';

/** Vectors of one Puffin file are held in memory until it is written; another one is begun beyond this. */
const PUFFIN_BYTES_MAX = 32 * 1024 * 1024;

/** A delete file that a commit adds, with the rows that it must delete. */
export interface NewDelete extends RowsToDelete {
  /** The delete file or vector; the data file is `dataFile`. */
  readonly deleteFile: DataFile;
  /** Explicit where it is not that of the commit. */
  readonly dataSequenceNumber?: bigint;
}

/** Makes the delete files of outputs, each once for each set of rows. */
export interface DeleteStaging {
  /**
   * A vector (v3) or a position delete file (v2) for each of them. Those that were made before, of the same rows, are
   * taken again; vectors that were not go to a Puffin file of their own.
   */
  stage(metadata: TableMetadata, rows: readonly RowsToDelete[]): Promise<readonly NewDelete[]>;
}

/** @param uuid part of the names */
export function createDeleteStaging(uuid: string, batch: ObjectBatch): DeleteStaging {
  const staged = new Map<string, NewDelete>();
  let fileCount = 0;
  const nextName = (extension: string) => `${uuid}-deletes-${fileCount++}.${extension}`;
  return {
    async stage(metadata, rows) {
      const fresh = rows.filter((one) => !isStaged(staged.get(keyOf(metadata, one)), one));
      const made =
        metadata.formatVersion >= 3
          ? await makeVectors(fresh, { metadata, batch, nextName })
          : await makePositionDeleteFiles(fresh, { metadata, batch, nextName });
      for (const one of made) staged.set(keyOf(metadata, one), one);
      return rows.flatMap((one) => staged.get(keyOf(metadata, one)) ?? []);
    },
  };
}

function keyOf({ formatVersion }: TableMetadata, { dataFile }: RowsToDelete): string {
  return `${formatVersion} ${dataFile.filePath}`;
}

function isStaged(staged: NewDelete | undefined, { positions }: RowsToDelete): boolean {
  return staged !== undefined && isSameSet(staged.positions, positions);
}

function isSameSet(one: RoaringBitmap, other: RoaringBitmap): boolean {
  return one.cardinality === other.cardinality && one.isSupersetOf(other);
}

interface Making {
  readonly metadata: TableMetadata;
  readonly batch: ObjectBatch;
  readonly nextName: (extension: string) => string;
}

async function makeVectors(
  rows: readonly RowsToDelete[],
  { metadata, batch, nextName }: Making,
): Promise<readonly NewDelete[]> {
  const made: NewDelete[] = [];
  for (let next = 0; next < rows.length; ) {
    // Where Iceberg Java puts them: in no partition's folder, since one file may have vectors of several.
    const { location: tableLocation, properties } = metadata;
    const location = dataLocation(tableLocation, properties, undefined, nextName('puffin'));
    const writer = new DeletionVectorWriter(async () => openInMemory(location, batch));
    const first = next;
    while (next < rows.length && writer.offset < PUFFIN_BYTES_MAX) await writer.add(rows[next++]!);
    for (const [index, { dataFile }] of (await writer.close()).entries()) {
      made.push({ ...rows[first + index]!, deleteFile: dataFile });
    }
  }
  return made;
}

async function makePositionDeleteFiles(
  rows: readonly RowsToDelete[],
  { metadata, batch, nextName }: Making,
): Promise<readonly NewDelete[]> {
  const made: NewDelete[] = [];
  for (const one of rows) {
    const { specId, dataFile, positions } = one;
    const spec = specById(metadata, specId);
    const location = newDataLocation(metadata, spec, dataFile.partition, nextName('parquet'));
    const output = openInMemory(location, batch);
    const { properties } = metadata;
    const file = { dataFile, positions, properties, output };
    made.push({ ...one, deleteFile: await writePositionDeleteFile(file) });
  }
  return made;
}

/** An object that joins the batch when it is closed. */
function openInMemory(location: string, batch: ObjectBatch): OpenedOutput {
  const parts: Uint8Array[] = [];
  return {
    location,
    writer: {
      write: async (bytes) => {
        parts.push(bytes);
      },
      close: async () => {
        const bytes = concatBytes(parts);
        batch.add(location, bytes);
        return bytes.length;
      },
      abort: async () => {
        parts.length = 0;
      },
    },
  };
}
