import type { FirnCommit } from '../checker.ts';
import type { MetadataDocument, Oracle } from '../oracle.ts';
import { claim } from '../violation.ts';

const DATA = 0;
const EQUALITY_DELETES = 2;

/**
 * No commit of Firn is for nothing: of data files, equality deletes, rows that are there but deleted, delete files and their
 * bytes, the first that is not as before is less. That can only happen so often without somebody else's commit: no loop
 * is endless.
 *
 * @throws Violation
 */
export async function checkGain({ before, after, snapshotId, oracle }: FirnCommit): Promise<void> {
  const { currentSnapshotId } = before;
  if (currentSnapshotId === undefined) return;
  const then = await sizesOf(before, currentSnapshotId, oracle);
  const now = await sizesOf(after, snapshotId, oracle);
  const first = now.findIndex((size, index) => size !== then[index]);
  claim(
    first >= 0 && now[first]! < then[first]!,
    'each commit of Firn gains something',
    () => `${after.location}: ${then} became ${now}`,
  );
}

/** What Firn makes less of, what counts most first. */
async function sizesOf(
  document: MetadataDocument,
  snapshotId: bigint,
  oracle: Oracle,
): Promise<readonly number[]> {
  const files = await oracle.filesOf(document, snapshotId);
  const data = files.filter(({ content }) => content === DATA);
  const deletes = files.filter(({ content }) => content !== DATA);
  // Vectors share files.
  const deleteBytes = new Map(deletes.map((file) => [file.filePath, file.fileSizeBytes]));
  return [
    data.length,
    deletes.filter(({ content }) => content === EQUALITY_DELETES).length,
    data.reduce((sum, { recordCount }) => sum + recordCount, 0),
    deletes.length,
    [...deleteBytes.values()].reduce((sum, bytes) => sum + bytes, 0),
  ];
}
