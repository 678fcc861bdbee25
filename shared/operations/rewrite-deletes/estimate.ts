import { LAMBDA_MEMORY_MIB } from '../../maintenance/index.ts';
import type { Usage } from '../../pricing/index.ts';
import type { RequestCounts } from '../../storage/index.ts';
import type { RewriteDeletesPlan } from './plan.ts';
import { fileCountOf, type PlannedGroup } from './planned-group.ts';

/** What a manifest of the usual 8 MiB holds, or somewhat less. */
const MANIFEST_ENTRIES = 10_000;

/** Until the first byte of a read arrives, as S3 is known for; as many reads are under way at a time. */
const READ_MS = 30;
const READS_AT_ONCE = 8;

/** Processor time of a small delete file or a data file's keys, however few. */
const FILE_MS = 4;

/** What a Lambda of the memory below decodes in a millisecond. */
const BYTES_PER_MS = 40 * 1024;

/** The pointer: loaded, read under the lease, before manifests are written and by the attempt; written once. */
const POINTER_READS = 4;
const POINTER_WRITES = 1;

/** The ledger: lease, open runs, the run's marker, the last skip; lease taken and given back, run opened and closed, objects, intent, report. */
const LEDGER_READS = 4;
const LEDGER_WRITES = 13;

const COMMIT_MS = 2_000;

/**
 * What a run as just planned is expected to use, planning included: the requests that planning took were counted,
 * those of the run follow from the plan. It stands for a commit that succeeds at its first attempt; manifests that
 * planning read are taken to be still in memory, and those of delete files to be rewritten together.
 */
export function estimateUsage({
  plan,
  requests,
}: {
  readonly plan: RewriteDeletesPlan;
  /** Of planning. */
  readonly requests: RequestCounts;
}): Usage {
  const { groups } = plan;
  const reads = sum(groups, ({ readCountExpected }) => readCountExpected);
  const readBytes = sum(groups, ({ readBytesExpected }) => readBytesExpected);
  const removedCount = sum(groups, ({ removedFileCount }) => removedFileCount);
  const addedCount = sum(groups, ({ addedFileCountMax }) => addedFileCountMax);
  const objects = sum(groups, (group) => newObjectCount(group, plan));
  const manifests =
    Math.ceil(addedCount / MANIFEST_ENTRIES) + Math.ceil(removedCount / MANIFEST_ENTRIES);
  const { head, read, readRange } = requests;
  return {
    // The metadata file; planning; deletes and keys; new files read back; manifests, list and metadata read back.
    s3GetCount: 1 + head + read + readRange + reads + objects + manifests + 2,
    s3PutCount: objects + manifests + 2,
    dynamoDbReadCount: POINTER_READS + LEDGER_READS,
    dynamoDbWriteCount: POINTER_WRITES + LEDGER_WRITES,
    lambdaInvocationCount: 1,
    lambdaDurationMs:
      ((reads + objects) * READ_MS) / READS_AT_ONCE +
      (reads + addedCount) * FILE_MS +
      readBytes / BYTES_PER_MS +
      COMMIT_MS,
    lambdaMemoryMib: LAMBDA_MEMORY_MIB,
  };
}

/** v2: a file for each data file; v3: most often one for all vectors of a group. */
function newObjectCount(group: PlannedGroup, { base, options }: RewriteDeletesPlan): number {
  const fileCount = fileCountOf(group);
  if (base.formatVersion < 3) return fileCount;
  const copiedBytes = sum(group.copies, ({ contentSizeBytes }) => contentSizeBytes);
  return fileCount === 0 ? 0 : Math.max(1, Math.ceil(copiedBytes / options.puffinSizeBytesMax));
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
