import { assert } from '../../base/index.ts';
import {
  type ColumnChunkCounts,
  type FileGroupInput,
  type FileGroupResult,
  type OpenedOutput,
  rewriteFileGroup,
} from '../../datafile/index.ts';
import {
  currentSchema,
  type ManifestEntry,
  metricsModes,
  newDataLocation,
  type SortOrder,
  specById,
  type TableMetadata,
  UNSORTED_ORDER_ID,
} from '../../iceberg/index.ts';
import type { ObjectStore } from '../../storage/index.ts';
import {
  type CommitPorts,
  identityKey,
  type ReplaceGroup,
  sumColumnCounts,
  type Table,
  toReplaceInput,
} from '../../table/index.ts';
import type { PlannedGroup } from './group-files.ts';
import type { GroupInput } from './group-inputs.ts';
import { hashGroup } from './hash-group.ts';
import type { GroupDeletes } from './outcome.ts';

/** A group whose outputs are in the store, ready to be committed. */
export interface RewrittenGroup {
  readonly replaceGroup: ReplaceGroup;
  readonly outputBytes: number;
  readonly outputRowGroupCount: number;
  readonly inputRowGroupCount: number;
  readonly columnChunks: ColumnChunkCounts;
  readonly deletes: GroupDeletes;
}

export interface RunGroupOptions {
  readonly table: Table;
  readonly group: PlannedGroup;
  /** Entries of the group's files, with metrics, by path. */
  readonly entries: ReadonlyMap<string, ManifestEntry>;
  /** Part of the outputs' names; one for a run. */
  readonly runUuid: string;
}

/**
 * Rewrites the files of one group. Objects are written and nothing else changes; whatever was written before a
 * failure is left where it is, and what was still open is given up.
 *
 * @param inputs the group's files in its order, with what is deleted of them
 * @throws as `rewriteFileGroup`
 */
export async function runFileGroup(
  { table, group, entries, runUuid }: RunGroupOptions,
  inputs: readonly GroupInput[],
  { store, run }: Pick<CommitPorts, 'store' | 'run'>,
): Promise<RewrittenGroup> {
  const schema = currentSchema(table.metadata);
  const sortOrder = defaultSortOrder(table.metadata);
  let outputCount = 0;
  const openOutput = async (): Promise<OpenedOutput> => {
    const location = outputLocation({ table, group, entries, runUuid }, outputCount++);
    // Most often it is named already, with those of other groups.
    await run.nameObjects([location], OUTPUT_UNUSED);
    return { location, writer: store.openWriter(location) };
  };
  const result = await rewriteFileGroup({
    inputs: inputs.map((input) => toFileGroupInput(input, store)),
    schema,
    formatVersion: table.metadata.formatVersion,
    partitionSpec: specById(table.metadata, group.specId),
    metricsModes: metricsModes(schema, sortOrder, table.metadata.properties),
    properties: table.metadata.properties,
    outputSizeBytes: group.outputSizeBytes,
    openOutput,
  });
  const { outputs } = result;
  const rowHashes = await hashGroup({ table, inputs, outputs }, store);
  const dataFiles = inputs.map(({ entry }) => entry.dataFile);
  return {
    replaceGroup: {
      groupIndex: group.groupIndex,
      inputs: inputs.map(({ entry, deletes }) => toReplaceInput(entry, deletes)),
      inputColumnCounts: sumColumnCounts(dataFiles),
      ...(result.purgedColumnCounts && { purgedColumnCounts: result.purgedColumnCounts }),
      ...(result.inputRowIds === undefined ? {} : { inputRowIds: result.inputRowIds }),
      ...(rowHashes === undefined ? {} : { rowHashes }),
      outputs,
      positionMap: result.positionMap,
    },
    outputBytes: outputs.reduce((sum, { dataFile }) => sum + dataFile.fileSizeBytes, 0),
    outputRowGroupCount: outputs.reduce((sum, { dataFile }) => sum + rowGroupCount(dataFile), 0),
    inputRowGroupCount: dataFiles.reduce((sum, dataFile) => sum + rowGroupCount(dataFile), 0),
    columnChunks: result.columnChunks,
    deletes: groupDeletes(inputs, result),
  };
}

function toFileGroupInput(
  { entry: { dataFile, dataSequenceNumber }, deletes }: GroupInput,
  store: ObjectStore,
): FileGroupInput {
  const hasDeletedRows = deletes !== undefined && !deletes.positions.isEmpty;
  return {
    dataFile,
    dataSequenceNumber,
    reader: store.openRanged(dataFile.filePath, dataFile.fileSizeBytes),
    ...(hasDeletedRows ? { deletes } : {}),
  };
}

function groupDeletes(
  inputs: readonly GroupInput[],
  { outputs, positionMap }: Pick<FileGroupResult, 'outputs' | 'positionMap'>,
): GroupDeletes {
  const applied = inputs.flatMap(({ deletes }) => deletes?.applied ?? []);
  return {
    appliedFileCount: new Set(applied.map(identityKey)).size,
    deletedRowCount: inputs.reduce(
      (sum, { deletes }) => sum + (deletes?.positions.cardinality ?? 0),
      0,
    ),
    purgedRowCount: positionMap.goneCount,
    carriedRowCount: outputs.reduce(
      (sum, { deletedPositions }) => sum + deletedPositions.cardinality,
      0,
    ),
  };
}

/** Sorted columns keep bounds; the order that means unsorted need not be listed. */
function defaultSortOrder({ sortOrders, defaultSortOrderId }: TableMetadata): SortOrder {
  const order = sortOrders.find(({ orderId }) => orderId === defaultSortOrderId);
  return order ?? { orderId: UNSORTED_ORDER_ID, fields: [], source: {} };
}

/** Outputs that nothing came of. */
const OUTPUT_UNUSED = 'group-not-committed';

/** Names the outputs that the groups are expected to have, in one request of the ledger. */
export async function nameOutputs(
  groups: readonly PlannedGroup[],
  options: Omit<RunGroupOptions, 'group'>,
  { run }: Pick<CommitPorts, 'run'>,
): Promise<void> {
  const locations = groups.flatMap((group) =>
    Array.from({ length: group.outputFileCountExpected }, (_, index) =>
      outputLocation({ ...options, group }, index),
    ),
  );
  await run.nameObjects(locations, OUTPUT_UNUSED);
}

/** All files of a group have its spec and partition. */
function outputLocation(
  { table, group, entries, runUuid }: RunGroupOptions,
  outputIndex: number,
): string {
  const { metadata } = table;
  const first = entries.get(group.files[0]?.filePath ?? '');
  assert(
    first !== undefined,
    `group ${group.groupIndex}: the entry of its first file was not read`,
  );
  return newDataLocation(
    metadata,
    specById(metadata, group.specId),
    first.dataFile.partition,
    `${runUuid}-${group.groupIndex}-${outputIndex}.parquet`,
  );
}

function rowGroupCount({ splitOffsets }: { readonly splitOffsets?: readonly number[] }): number {
  return splitOffsets?.length ?? 1;
}
