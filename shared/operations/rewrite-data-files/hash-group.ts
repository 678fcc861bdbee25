import { type DataFileToRead, type FileGroupOutput, hashRows } from '../../datafile/index.ts';
import { currentSchema, type DataFile, specById, tableProperty } from '../../iceberg/index.ts';
import { RoaringBitmap } from '../../roaring/index.ts';
import type { ObjectStore } from '../../storage/index.ts';
import type { ReplaceGroup, Table } from '../../table/index.ts';
import type { GroupInput } from './group-inputs.ts';

/** A group that was rewritten, with what is deleted of its files. */
interface GroupToHash {
  readonly table: Table;
  readonly inputs: readonly GroupInput[];
  readonly outputs: readonly FileGroupOutput[];
}

/**
 * Reads all rows of inputs and outputs again, less deleted ones, where `firn.verify` asks for it; undefined where it does
 * not. Costs one more read of every byte, and the time to decode it.
 *
 * @throws as `hashRows`
 */
export async function hashGroup(
  { table, inputs, outputs }: GroupToHash,
  store: ObjectStore,
): Promise<ReplaceGroup['rowHashes']> {
  const { metadata } = table;
  const { properties, formatVersion } = metadata;
  const first = inputs[0]?.entry;
  if (tableProperty(properties, 'firn.verify') !== 'rows' || first === undefined) return undefined;
  const files = {
    schema: currentSchema(metadata),
    formatVersion,
    partitionSpec: specById(metadata, first.specId),
    partition: first.dataFile.partition,
    properties,
  };
  const open = (
    dataFile: DataFile,
    dataSequenceNumber: bigint,
    positions: RoaringBitmap,
  ): DataFileToRead => ({
    dataFile,
    dataSequenceNumber,
    reader: store.openRanged(dataFile.filePath, dataFile.fileSizeBytes),
    deletes: { positions },
  });
  return {
    inputs: await hashRows({
      ...files,
      files: inputs.map(({ entry, deletes }) =>
        open(entry.dataFile, entry.dataSequenceNumber, deletes?.positions ?? RoaringBitmap.EMPTY),
      ),
    }),
    outputs: await hashRows({
      ...files,
      // Outputs inherit nothing: they store what their rows had.
      files: outputs.map(({ dataFile, deletedPositions }) => open(dataFile, 0n, deletedPositions)),
    }),
  };
}
