import type { SlowFile } from '../../support/slow-files.ts';
import type { FirnCommit } from '../checker.ts';
import type { MetadataDocument, Oracle } from '../oracle.ts';
import { claim } from '../violation.ts';

const DATA = 0;
const EQUALITY_DELETES = 2;

/** @see Iceberg spec, "Reserved Field IDs" */
const FILE_PATH_FIELD_ID = 2_147_483_546;

/** Live files of a snapshot. */
interface LiveFiles {
  readonly data: ReadonlyMap<string, SlowFile>;
  readonly deletes: ReadonlyMap<string, SlowFile>;
}

async function liveFiles(
  document: MetadataDocument,
  snapshotId: bigint,
  oracle: Oracle,
): Promise<LiveFiles> {
  const files = await oracle.filesOf(document, snapshotId);
  const [data, deletes] = [new Map<string, SlowFile>(), new Map<string, SlowFile>()];
  for (const file of files) {
    if (file.content === DATA) data.set(file.filePath, file);
    else {
      const key = `${file.filePath} ${file.contentOffset ?? ''}`;
      claim(!deletes.has(key), 'no delete is referenced twice', () => key);
      deletes.set(key, file);
    }
  }
  return { data, deletes };
}

/**
 * What must hold of the deletes of each commit of Firn, besides that no row changes:
 *
 * - a data file has one vector at most;
 * - what is added deletes rows of one data file that is live, in its place and not older, in the format of the table;
 * - deletes of a data file that leaves leave with it;
 * - a table without deletes gets none.
 *
 * @throws Violation
 */
export async function checkDeletes(commit: FirnCommit): Promise<void> {
  const { before, after, snapshotId, oracle } = commit;
  const then = await liveFiles(before, before.currentSnapshotId ?? 0n, oracle);
  const now = await liveFiles(after, snapshotId, oracle);
  checkVectors(now);
  const added = without(now.deletes, then.deletes);
  claim(
    added.length === 0 || then.deletes.size > 0,
    'Firn adds no first delete file',
    () => `snapshot ${snapshotId}: ${added.map(({ filePath }) => filePath)}`,
  );
  for (const file of added) await checkAdded(file, now, commit);
  for (const file of now.deletes.values()) {
    const path = file.referencedDataFile ?? '';
    claim(
      !then.data.has(path) || now.data.has(path),
      'deletes of a data file leave with it',
      () => `${file.filePath} stays, ${path} leaves`,
    );
  }
  await countCommit({ then, now, added }, commit);
}

function checkVectors({ deletes }: LiveFiles): void {
  const paths = [...deletes.values()].filter(isVector).map((file) => file.referencedDataFile);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  claim(twice === undefined, 'a data file has one vector', () => `${twice} has two`);
}

async function checkAdded(
  file: SlowFile,
  { data }: LiveFiles,
  { after, oracle }: FirnCommit,
): Promise<void> {
  const target = data.get(file.referencedDataFile ?? '');
  const where = `${file.filePath} ${file.contentOffset ?? ''}`;
  claim(target !== undefined, 'what Firn adds deletes of a live data file', () => where);
  const isInPlace = file.specId === target.specId && file.partitionText === target.partitionText;
  claim(isInPlace, 'what Firn adds has the place of its data file', () => where);
  const isInReach =
    file.dataSequenceNumber >= target.dataSequenceNumber &&
    file.dataSequenceNumber <= after.lastSequenceNumber;
  claim(isInReach, 'what Firn adds reaches its data file', () => where);
  const isInFormat = isVector(file) === after.formatVersion >= 3;
  claim(isInFormat, 'what Firn adds is of the format of the table', () => where);
  if (!isVector(file)) return;
  const positions = await oracle.vectorOf(file);
  const isCounted = positions.size === file.recordCount && positions.size > 0;
  claim(isCounted, 'a vector has as many rows as its entry says', () => where);
  const beyond = [...positions].find((position) => position >= target.recordCount);
  claim(beyond === undefined, 'a vector deletes rows that are there', () => `${where}: ${beyond}`);
}

interface Change {
  readonly then: LiveFiles;
  readonly now: LiveFiles;
  readonly added: readonly SlowFile[];
}

/** How often what happened that this scenario is about. */
async function countCommit({ then, now, added }: Change, commit: FirnCommit): Promise<void> {
  const { before, count } = commit;
  const removed = without(then.deletes, now.deletes);
  const isCompaction = without(then.data, now.data).length > 0;
  const operation = isCompaction ? 'compaction' : 'rewrite-deletes';
  if (added.length > 0) count(`${operation} added deletes, v${before.formatVersion}`);
  for (const file of removed) {
    const applies = isApplying(file, then, before);
    const kind = await kindOf(file, commit);
    count(`${applies ? 'needed' : 'dangling'} ${kind} removed by ${operation}`);
  }
}

async function kindOf(file: SlowFile, { before, oracle }: FirnCommit): Promise<string> {
  if (isVector(file)) return 'vectors';
  if (file.content === EQUALITY_DELETES) {
    return isGlobal(file, before) ? 'global equality deletes' : 'equality deletes of a partition';
  }
  const { rows, root } = await oracle.parser.parquet(file);
  const column = root.children.find(({ element }) => element.field_id === FILE_PATH_FIELD_ID);
  const paths = new Set(rows.map((row) => String(row[column?.element.name ?? ''])));
  return paths.size > 1 ? 'position deletes of several files' : 'position deletes of one file';
}

/**
 * What must hold of main's head when Firn has nothing left to do: each delete has something to delete, and there are no
 * more of them than need be.
 *
 * @throws Violation
 */
export async function checkNothingLeft(document: MetadataDocument, oracle: Oracle): Promise<void> {
  const { currentSnapshotId, formatVersion } = document;
  if (currentSnapshotId === undefined) return;
  const live = await liveFiles(document, currentSnapshotId, oracle);
  const named = [...live.deletes.values()].flatMap((file) => file.referencedDataFile ?? []);
  const twice = named.find((path, index) => named.indexOf(path) !== index);
  claim(twice === undefined, 'a data file has one delete of its own in the end', () => `${twice}`);
  for (const file of live.deletes.values()) {
    claim(
      isApplying(file, live, document),
      'no delete dangles in the end',
      () => `${file.filePath} ${file.contentOffset ?? ''} of ${file.referencedDataFile}`,
    );
    claim(
      file.content !== EQUALITY_DELETES,
      'equality deletes are converted in the end',
      () => file.filePath,
    );
    claim(
      formatVersion < 3 || isVector(file),
      'deletes of v3 are vectors in the end',
      () => file.filePath,
    );
  }
}

/** Whether a live data file is within reach of a delete file. @see Iceberg spec, "Scan Planning" */
function isApplying(file: SlowFile, live: LiveFiles, document: MetadataDocument): boolean {
  const data = [...live.data.values()];
  if (file.content === EQUALITY_DELETES) {
    const isEverywhere = isGlobal(file, document);
    return data.some(
      (each) =>
        each.dataSequenceNumber < file.dataSequenceNumber &&
        (isEverywhere || isSamePlace(each, file)),
    );
  }
  const vectors = [...live.deletes.values()].filter(isVector);
  return data.some(
    (each) =>
      each.dataSequenceNumber <= file.dataSequenceNumber &&
      (file.referencedDataFile === null || file.referencedDataFile === each.filePath) &&
      isSamePlace(each, file) &&
      (isVector(file) || !vectors.some((one) => one.referencedDataFile === each.filePath)),
  );
}

function isVector({ fileFormat }: SlowFile): boolean {
  return fileFormat === 'PUFFIN';
}

function isSamePlace(one: SlowFile, other: SlowFile): boolean {
  return one.specId === other.specId && one.partitionText === other.partitionText;
}

function isGlobal({ specId }: SlowFile, { json }: MetadataDocument): boolean {
  const specs = json['partition-specs'] as readonly { 'spec-id': number; fields: unknown[] }[];
  return specs.find((spec) => Number(spec['spec-id']) === specId)?.fields.length === 0;
}

function without(
  files: ReadonlyMap<string, SlowFile>,
  others: ReadonlyMap<string, SlowFile>,
): readonly SlowFile[] {
  return [...files].filter(([key]) => !others.has(key)).map(([, file]) => file);
}
