import type { AvroRecord } from '../../support/slow-avro.ts';
import { DATA_FILE } from '../../support/slow-files.ts';
import type { FirnCommit } from '../checker.ts';
import { fileOf, isLive, type MetadataDocument, type Oracle } from '../oracle.ts';
import { claim } from '../violation.ts';

/** What there is to gain: fewer files of data, or of deletes, or fewer rows that are deleted. */
interface Size {
  readonly dataFileCount: number;
  readonly deleteFileCount: number;
  readonly rowCount: number;
}

/**
 * No commit of Firn is for nothing: there are fewer data files after it, or fewer delete files, or deleted rows are gone. Each of them
 * can only happen so often without somebody else's commit, so no loop is endless.
 *
 * @throws Violation
 */
export async function checkGain({ before, after, snapshotId, oracle }: FirnCommit): Promise<void> {
  const { currentSnapshotId } = before;
  if (currentSnapshotId === undefined) return;
  const then = await sizeOf(before, currentSnapshotId, oracle);
  const now = await sizeOf(after, snapshotId, oracle);
  const isGain =
    now.dataFileCount < then.dataFileCount ||
    (now.dataFileCount === then.dataFileCount &&
      (now.deleteFileCount < then.deleteFileCount || now.rowCount < then.rowCount));
  claim(
    isGain,
    'each commit of Firn gains something',
    () => `${after.location}: ${JSON.stringify(then)} became ${JSON.stringify(now)}`,
  );
}

async function sizeOf(
  document: MetadataDocument,
  snapshotId: bigint,
  oracle: Oracle,
): Promise<Size> {
  const manifests = await oracle.manifestsOf(document, snapshotId);
  const files = manifests.flatMap(({ entries }) => entries.filter(isLive).map(fileOf));
  const data = files.filter(isData);
  return {
    dataFileCount: data.length,
    deleteFileCount: files.length - data.length,
    rowCount: data.reduce((sum, file) => sum + Number(file[DATA_FILE.recordCount]), 0),
  };
}

function isData(file: AvroRecord): boolean {
  return Number(file[DATA_FILE.content] ?? 0) === 0;
}
