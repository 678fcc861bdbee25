import {
  isDeletionVector,
  type ManifestEntry,
  readManifest,
  readManifestList,
  referencedDataFile,
} from '../../../shared/iceberg/index.ts';
import type { Table } from '../../../shared/table/index.ts';
import { readDeletionVectorSlowly } from '../../support/slow-deletion-vector.ts';
import { slowParser } from '../../support/slow-parser.ts';
import type { ActorContext } from './actor-context.ts';

/** @see Iceberg spec, "Reserved Field IDs" */
export const FILE_PATH_FIELD_ID = 2_147_483_546;
export const POS_FIELD_ID = 2_147_483_545;

const OBJECT_BYTES_MAX = 1024 ** 2;

/** A table with all live files of main's head, as a writer that deletes by position has to know them. */
export interface Head {
  readonly table: Table;
  readonly data: readonly ManifestEntry[];
  readonly deletes: readonly ManifestEntry[];
}

/** What position deletes of one data file are there. */
export interface FileDeletes {
  readonly positions: ReadonlySet<number>;
  readonly vector: ManifestEntry | undefined;
  /** Position delete files of this data file alone. */
  readonly fileScoped: readonly ManifestEntry[];
}

export async function loadHead({
  writer,
  ports,
}: Pick<ActorContext, 'writer' | 'ports'>): Promise<Head> {
  const table = await writer.load();
  const { metadata } = table;
  const { snapshots, currentSnapshotId } = metadata;
  const head = snapshots.find(({ snapshotId }) => snapshotId === currentSnapshotId);
  const live: ManifestEntry[] = [];
  if (head?.manifestList !== undefined) {
    const list = await ports.store.read(head.manifestList, OBJECT_BYTES_MAX);
    const context = { specs: metadata.partitionSpecs, schemas: metadata.schemas };
    for (const manifest of readManifestList(list, head.manifestList, metadata.formatVersion)) {
      const bytes = await ports.store.read(manifest.manifestPath, OBJECT_BYTES_MAX);
      for (const entry of readManifest(bytes, manifest, context)) {
        if (entry.status !== 'deleted') live.push(entry);
      }
    }
  }
  const isData = ({ dataFile }: ManifestEntry): boolean => dataFile.content === 'data';
  return {
    table,
    data: live.filter(isData),
    deletes: live.filter((entry) => !isData(entry)),
  };
}

/** Reads what is deleted of a data file by position, with the slow readers of the oracle. */
export async function readFileDeletes(
  data: ManifestEntry,
  { deletes }: Head,
  { ports }: Pick<ActorContext, 'ports'>,
): Promise<FileDeletes> {
  const { filePath } = data.dataFile;
  const vector = deletes.find(
    ({ dataFile }) => isDeletionVector(dataFile) && dataFile.referencedDataFile === filePath,
  );
  if (vector !== undefined) {
    const { dataFile } = vector;
    const blob = await ports.store.readRange(
      dataFile.filePath,
      dataFile.contentOffset ?? 0,
      dataFile.contentSizeBytes ?? 0,
    );
    return { positions: readDeletionVectorSlowly(blob), vector, fileScoped: [] };
  }
  const applying = deletes.filter((entry) => appliesByPosition(entry, data));
  const positions = new Set<number>();
  for (const { dataFile } of applying) {
    const { rows, root } = await slowParser(ports.store).parquet(dataFile);
    const nameOf = (fieldId: number): string =>
      root.children.find(({ element }) => element.field_id === fieldId)?.element.name ?? '';
    for (const row of rows) {
      const path = Buffer.from(row[nameOf(FILE_PATH_FIELD_ID)] as Uint8Array).toString();
      if (path === filePath) positions.add(Number(row[nameOf(POS_FIELD_ID)]));
    }
  }
  const fileScoped = applying.filter((entry) => referencedDataFile(entry) === filePath);
  return { positions, vector: undefined, fileScoped };
}

function appliesByPosition(entry: ManifestEntry, data: ManifestEntry): boolean {
  const path = referencedDataFile(entry);
  return (
    entry.dataFile.content === 'position-deletes' &&
    entry.dataSequenceNumber >= data.dataSequenceNumber &&
    isSamePlace(entry, data) &&
    (path === undefined || path === data.dataFile.filePath)
  );
}

/** Whether two files are of one spec and partition. */
export function isSamePlace(one: ManifestEntry, other: ManifestEntry): boolean {
  return (
    one.specId === other.specId &&
    String(one.dataFile.partition) === String(other.dataFile.partition)
  );
}
