import type { SnapshotChange } from '../../../local/table-writer/index.ts';
import { randomUuid } from '../../../shared/base/index.ts';
import type {
  FileOfSpec,
  ManifestEntry,
  NestedField,
  TableMetadata,
} from '../../../shared/iceberg/index.ts';
import { tablesOf } from '../script.ts';
import { lowestId, writeDeletes, writeRows } from '../table-rows.ts';
import { type ActorContext, liveEntries } from './actor-context.ts';

/** Adds one or two files. */
export async function append(context: ActorContext, branch = 'main'): Promise<void> {
  const { writer, chance } = context;
  const { metadata } = await writer.load();
  const files: FileOfSpec[] = [];
  for (let count = 1 + chance.below(2); count > 0; count--) {
    files.push(await newFile(metadata, context));
  }
  await commit(context, metadata, { operation: 'append', branch, addedManifests: bySpec(files) });
}

/** Copy-on-write: a file goes, and one with other rows comes. */
export async function overwrite(context: ActorContext): Promise<void> {
  const { metadata, target } = await chooseFile(context);
  if (target === undefined) return;
  const removedPaths = [target.dataFile.filePath];
  await commit(context, metadata, {
    operation: 'overwrite',
    addedManifests: [[await newFile(metadata, context)]],
    removedPaths,
    requiredPaths: removedPaths,
  });
}

/** All rows of a file go, and the file with them. */
export async function deleteFile(context: ActorContext): Promise<void> {
  const { metadata, target } = await chooseFile(context);
  if (target === undefined) return;
  const removedPaths = [target.dataFile.filePath];
  const change = { removedPaths, requiredPaths: removedPaths };
  await commit(context, metadata, { operation: 'delete', ...change });
}

const ID_FIELD: NestedField = { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } };

/** Every row of an id goes, as a stream of changes does it, and half of the time a new file comes at once. */
export async function deleteByEquality(context: ActorContext, branch = 'main'): Promise<void> {
  const { chance, ports } = context;
  const { metadata, target } = await chooseFile(context, branch);
  if (target === undefined) return;
  const { specId, dataFile } = target;
  const deletes = await writeDeletes(
    metadata,
    {
      fields: [ID_FIELD],
      rows: [{ 1: lowestId(dataFile) }],
      specId,
      partition: dataFile.partition,
      entry: { content: 'equality-deletes', equalityIds: [1] },
    },
    { store: ports.store, fileName: randomUuid(ports.random) },
  );
  const added = chance.is(0.5) ? [[await newFile(metadata, context)]] : [];
  await commit(context, metadata, {
    operation: added.length === 0 ? 'delete' : 'overwrite',
    branch,
    addedManifests: [...added, [deletes]],
  });
}

/** @see Iceberg spec, "Reserved Field IDs" */
const POSITION_FIELDS: readonly NestedField[] = [
  { fieldId: 2_147_483_546, name: 'file_path', isRequired: true, type: { kind: 'string' } },
  { fieldId: 2_147_483_545, name: 'pos', isRequired: true, type: { kind: 'long' } },
];

/** The first row of a file goes. */
export async function deleteByPosition(context: ActorContext): Promise<void> {
  const { ports } = context;
  const { metadata, target } = await chooseFile(context);
  if (target === undefined) return;
  const { filePath, partition } = target.dataFile;
  const deletes = await writeDeletes(
    metadata,
    {
      fields: POSITION_FIELDS,
      rows: [{ 2147483546: filePath, 2147483545: 0n }],
      specId: target.specId,
      partition,
      entry: { content: 'position-deletes', referencedDataFile: filePath },
    },
    { store: ports.store, fileName: randomUuid(ports.random) },
  );
  await commit(context, metadata, {
    operation: 'delete',
    addedManifests: [[deletes]],
    requiredPaths: [filePath],
  });
}

/** Refused when the table is another one by then. */
async function commit(
  { writer }: ActorContext,
  { tableUuid }: TableMetadata,
  change: SnapshotChange,
): Promise<void> {
  await writer.commit(
    tableUuid === undefined ? change : { ...change, requiredTableUuid: tableUuid },
  );
}

export function newFile(
  metadata: TableMetadata,
  { chance, ports, script, world }: ActorContext,
): Promise<FileOfSpec> {
  const { rowsPerFileMax: rowsMax } = tablesOf(world.script)[script.table ?? 0] ?? world.script;
  const fileName = randomUuid(ports.random);
  return writeRows(metadata, chance, { store: ports.store, fileName, rowsMax });
}

function bySpec(files: readonly FileOfSpec[]): readonly (readonly FileOfSpec[])[] {
  return [...Map.groupBy(files, ({ specId }) => specId).values()];
}

async function chooseFile(
  { writer, chance, ports }: ActorContext,
  branch = 'main',
): Promise<{
  readonly metadata: TableMetadata;
  readonly target: ManifestEntry | undefined;
}> {
  const table = await writer.load();
  const entries = await liveEntries(table, ports, branch);
  return {
    metadata: table.metadata,
    target: entries.length === 0 ? undefined : chance.pick(entries),
  };
}
