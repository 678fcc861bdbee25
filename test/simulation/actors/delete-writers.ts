import type { NewFile, Row } from '../../../local/table-writer/index.ts';
import { randomUuid } from '../../../shared/base/index.ts';
import { DeletionVectorWriter } from '../../../shared/deletes/index.ts';
import {
  currentSchema,
  dataLocation,
  type FileOfSpec,
  isDeletionVector,
  isUnpartitioned,
  type ManifestEntry,
  type NestedField,
  type SingleValue,
} from '../../../shared/iceberg/index.ts';
import { RoaringBitmap } from '../../../shared/roaring/index.ts';
import { BY_REGION, lowestId, newRow, writeDeletes } from '../table-rows.ts';
import type { ActorContext } from './actor-context.ts';
import {
  FILE_PATH_FIELD_ID,
  type FileDeletes,
  type Head,
  isSamePlace,
  loadHead,
  POS_FIELD_ID,
  readFileDeletes,
} from './delete-writers-head.ts';
import { newFile } from './row-writers.ts';

const DATA_FILES_MAX = 3;
const ROWS_MAX = 3;

/** Rows to be deleted of a data file, with what is deleted of it already. */
interface RowsOfFile {
  readonly data: ManifestEntry;
  readonly fresh: ReadonlySet<number>;
  readonly before: FileDeletes;
}

/** What a commit adds, and what leaves with it. */
interface DeleteChange {
  readonly added: readonly NewFile[];
  readonly removed: readonly ManifestEntry[];
}

/**
 * Deletes some rows of up to three files by position, as the table's version wants it: vectors that take the place of
 * those before, all in one Puffin file (v3); or a position delete file for each data file, which may take the place of
 * those before, or one for some of a partition (v2). Sometimes rows come in the same commit, as an update does it.
 */
export async function deleteRows(context: ActorContext): Promise<void> {
  const { chance, world } = context;
  const head = await loadHead(context);
  const chosen = await chooseRows(head, context);
  if (chosen.length === 0) return;
  const { formatVersion } = head.table.metadata;
  let change: DeleteChange;
  if (formatVersion >= 3) change = await writeVectors(chosen, head, context);
  else if (chance.is(0.5)) change = await writeFileScoped(chosen, head, context);
  else change = await writePartitionScoped(chosen, head, context);
  const rows = chance.is(0.3) ? [[await newFile(head.table.metadata, context)]] : [];
  await commit(context, head, change, rows);
  if (formatVersion >= 3 && chosen.some(({ before }) => before.vector !== undefined)) {
    world.count('vectors replaced by larger ones');
  }
}

async function chooseRows(head: Head, context: ActorContext): Promise<readonly RowsOfFile[]> {
  const { chance } = context;
  const chosen: RowsOfFile[] = [];
  for (let count = 1 + chance.below(DATA_FILES_MAX); count > 0 && head.data.length > 0; count--) {
    const data = chance.pick(head.data);
    if (chosen.some((other) => other.data.dataFile.filePath === data.dataFile.filePath)) continue;
    const before = await readFileDeletes(data, head, context);
    const { recordCount } = data.dataFile;
    const fresh = new Set(
      Array.from({ length: 1 + chance.below(ROWS_MAX) }, () => chance.below(recordCount)),
    ).difference(before.positions);
    if (fresh.size > 0) chosen.push({ data, before, fresh });
  }
  return chosen;
}

async function writeVectors(
  chosen: readonly RowsOfFile[],
  { table: { metadata } }: Head,
  { ports }: ActorContext,
): Promise<DeleteChange> {
  const name = `${randomUuid(ports.random)}-foreign.puffin`;
  const location = dataLocation(metadata.location, metadata.properties, undefined, name);
  const writer = new DeletionVectorWriter(async () => ({
    location,
    writer: ports.store.openWriter(location),
  }));
  for (const { data, fresh, before } of chosen) {
    const all = [...fresh.union(before.positions)].sort((a, b) => a - b);
    const positions = RoaringBitmap.fromPositions(all, data.dataFile.filePath);
    await writer.add({ specId: data.specId, dataFile: data.dataFile, positions });
  }
  const removed = chosen.flatMap(({ before: { vector, fileScoped } }) => [
    ...(vector === undefined ? [] : [vector]),
    ...fileScoped,
  ]);
  return { added: await writer.close(), removed };
}

async function writeFileScoped(
  chosen: readonly RowsOfFile[],
  head: Head,
  context: ActorContext,
): Promise<DeleteChange> {
  const replaces = context.chance.is(0.4);
  const added: FileOfSpec[] = [];
  for (const { data, fresh, before } of chosen) {
    const { fileScoped, positions } = before;
    const rows = replaces && fileScoped.length > 0 ? fresh.union(positions) : fresh;
    added.push(await writePositions(head, [{ data, rows }], context));
  }
  return { added, removed: replaces ? chosen.flatMap(({ before }) => before.fileScoped) : [] };
}

/** Of the partition of the first of them. */
async function writePartitionScoped(
  chosen: readonly RowsOfFile[],
  head: Head,
  context: ActorContext,
): Promise<DeleteChange> {
  const [first] = chosen;
  const together = chosen.filter(
    ({ data }) => first !== undefined && isSamePlace(data, first.data),
  );
  const files = together.map(({ data, fresh: rows }) => ({ data, rows }));
  return { added: [await writePositions(head, files, context)], removed: [] };
}

export const POSITION_FIELDS: readonly NestedField[] = [
  { fieldId: FILE_PATH_FIELD_ID, name: 'file_path', isRequired: true, type: { kind: 'string' } },
  { fieldId: POS_FIELD_ID, name: 'pos', isRequired: true, type: { kind: 'long' } },
];

/** One file; where it is of one data file, that is told by its field or by its bounds. */
function writePositions(
  { table: { metadata } }: Head,
  files: readonly { readonly data: ManifestEntry; readonly rows: ReadonlySet<number> }[],
  { ports, chance }: ActorContext,
): Promise<FileOfSpec> {
  const { specId, dataFile } = files[0]!.data;
  const rows = files
    .flatMap(({ data, rows }) => [...rows].map((pos) => ({ path: data.dataFile.filePath, pos })))
    .sort((a, b) => (a.path === b.path ? a.pos - b.pos : a.path < b.path ? -1 : 1))
    .map(({ path, pos }): Row => ({ [FILE_PATH_FIELD_ID]: path, [POS_FIELD_ID]: BigInt(pos) }));
  const isReferenced = files.length === 1 && chance.is(0.5);
  return writeDeletes(
    metadata,
    {
      fields: POSITION_FIELDS,
      rows,
      specId,
      partition: dataFile.partition,
      entry: {
        content: 'position-deletes',
        ...(isReferenced ? { referencedDataFile: dataFile.filePath } : {}),
      },
    },
    { store: ports.store, fileName: randomUuid(ports.random) },
  );
}

/**
 * Deletes all rows that equal some row of a file in one or two columns, which may be null: in the file's partition, or
 * in all. Sometimes, as a stream of upserts does it, with a new file that has a row deleted at once, by position.
 */
export async function deleteKeys(context: ActorContext): Promise<void> {
  const { chance } = context;
  const head = await loadHead(context);
  if (head.data.length === 0) return;
  const keys = await writeKeys(chance.pick(head.data), head, context);
  if (!chance.is(0.4)) return commit(context, head, { added: [keys], removed: [] });
  const file = await newFile(head.table.metadata, context);
  const positions = chance.is(0.5) ? [await deleteFirstRow(file, head, context)] : [];
  await commit(context, head, { added: [keys, ...positions], removed: [] }, [[file]]);
}

/** Of a file that no snapshot has yet. */
async function deleteFirstRow(
  { specId, dataFile }: FileOfSpec,
  head: Head,
  context: ActorContext,
): Promise<FileOfSpec> {
  const { lastSequenceNumber, formatVersion } = head.table.metadata;
  const data: ManifestEntry = {
    ...{ specId, dataFile, status: 'added', snapshotId: 0n, unknownFields: [] },
    dataSequenceNumber: lastSequenceNumber + 1n,
  };
  const rows = new Set([0]);
  if (formatVersion < 3) return writePositions(head, [{ data, rows }], context);
  const before = { positions: new Set<number>(), vector: undefined, fileScoped: [] };
  const { added } = await writeVectors([{ data, fresh: rows, before }], head, context);
  return added[0]!;
}

const KEY_FIELD_IDS: readonly (readonly number[])[] = [[1], [1], [1], [3], [1, 3], [1, 2], [2, 3]];

async function writeKeys(
  target: ManifestEntry,
  { table: { metadata } }: Head,
  { chance, ports }: ActorContext,
): Promise<FileOfSpec> {
  const schema = currentSchema(metadata);
  const fieldIds = chance.pick(KEY_FIELD_IDS);
  const found = schema.fields.filter(({ fieldId }) => fieldIds.includes(fieldId));
  const fields = (found.length > 0 ? found : schema.fields.slice(0, 1)).map((field) => ({
    ...field,
    isRequired: false,
  }));
  const id = Number(lowestId(target.dataFile)) + chance.below(target.dataFile.recordCount);
  const region = regionOf(target) ?? chance.pick(['eu', 'us']);
  const row = newRow(schema, { id, region });
  const global = metadata.partitionSpecs.filter(isUnpartitioned);
  const isGlobal = global.length > 0 && chance.is(0.5);
  return writeDeletes(
    metadata,
    {
      fields,
      rows: [row],
      specId: isGlobal ? chance.pick(global).specId : target.specId,
      partition: isGlobal ? [] : target.dataFile.partition,
      entry: {
        content: 'equality-deletes',
        equalityIds: fields.map(({ fieldId }) => fieldId),
      },
    },
    { store: ports.store, fileName: randomUuid(ports.random) },
  );
}

function regionOf({ dataFile }: ManifestEntry): string | undefined {
  const value: SingleValue | null | undefined = dataFile.partition[0];
  return typeof value === 'string' ? value : undefined;
}

/** A delete is taken back: its rows are live again. */
export async function undelete(context: ActorContext): Promise<void> {
  const head = await loadHead(context);
  if (head.deletes.length === 0) return;
  await commit(context, head, { added: [], removed: [context.chance.pick(head.deletes)] });
}

/** Partitioned by region, or not at all. */
export async function changeSpec({ writer, chance }: ActorContext): Promise<void> {
  await writer.evolveSpec(chance.pick([[], BY_REGION]));
}

/** Everybody finds a v3 table from then on. */
export async function upgrade({ writer, world }: ActorContext): Promise<void> {
  const { metadata } = await writer.load();
  await writer.upgrade(3);
  if (metadata.formatVersion < 3) world.count('upgrades to v3 in the middle');
}

/** Refused when anything has changed since the head was read. */
async function commit(
  { writer }: ActorContext,
  { table }: Head,
  { added, removed }: DeleteChange,
  rows: readonly (readonly NewFile[])[] = [],
): Promise<void> {
  const { metadata, metadataLocation } = table;
  const isVector = ({ dataFile }: ManifestEntry): boolean => isDeletionVector(dataFile);
  await writer.commit({
    operation: rows.length > 0 ? 'overwrite' : 'delete',
    addedManifests: [...rows, ...Map.groupBy(added, ({ specId }) => specId).values()],
    removedPaths: removed
      .filter((entry) => !isVector(entry))
      .map((entry) => entry.dataFile.filePath),
    removedVectors: removed.filter(isVector).map(({ dataFile }) => dataFile),
    requiredMetadataLocation: metadataLocation,
    ...(metadata.tableUuid === undefined ? {} : { requiredTableUuid: metadata.tableUuid }),
  });
}
