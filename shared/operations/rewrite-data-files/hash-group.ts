import { hashRows } from '../../datafile/index.ts';
import {
  currentSchema,
  type DataFile,
  type ManifestEntry,
  specById,
  tableProperty,
} from '../../iceberg/index.ts';
import type { ObjectStore } from '../../storage/index.ts';
import type { ReplaceGroup, Table } from '../../table/index.ts';

/** A group that was rewritten, with its files as entries describe them. */
interface GroupToHash {
  readonly table: Table;
  readonly inputs: readonly ManifestEntry[];
  readonly outputs: readonly DataFile[];
}

/**
 * Reads all rows of inputs and outputs again, where `firn.verify` asks for it; undefined where it does not. Costs one more
 * read of every byte, and the time to decode it.
 *
 * @throws as `hashRows`
 */
export async function hashGroup(
  { table, inputs, outputs }: GroupToHash,
  store: ObjectStore,
): Promise<ReplaceGroup['rowHashes']> {
  const { metadata } = table;
  const { properties, formatVersion } = metadata;
  const first = inputs[0];
  if (tableProperty(properties, 'firn.verify') !== 'rows' || first === undefined) return undefined;
  const files = {
    schema: currentSchema(metadata),
    formatVersion,
    partitionSpec: specById(metadata, first.specId),
    partition: first.dataFile.partition,
    properties,
  };
  const open = (dataFile: DataFile, dataSequenceNumber: bigint) => ({
    dataFile,
    dataSequenceNumber,
    reader: store.openRanged(dataFile.filePath, dataFile.fileSizeBytes),
  });
  return {
    inputs: await hashRows({
      ...files,
      files: inputs.map((entry) => open(entry.dataFile, entry.dataSequenceNumber)),
    }),
    // Outputs inherit nothing: they store what their rows had.
    outputs: await hashRows({ ...files, files: outputs.map((dataFile) => open(dataFile, 0n)) }),
  };
}
