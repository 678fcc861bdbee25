import { LAMBDA_MEMORY_MIB } from '../../maintenance/index.ts';
import type { Usage } from '../../pricing/index.ts';
import type { RequestCounts } from '../../storage/index.ts';
import { type ExpectedWork, expectedWork } from './deletes-treatment.ts';
import type { DeleteTally } from './file-deletes.ts';
import type { PlannedGroup } from './group-files.ts';
import { keyCountOf } from './needed-time.ts';
import type { RewriteDataFilesPlan } from './plan.ts';

/** What one read of a large file fetches, and what one part of its upload holds. */
const TRANSFER_BYTES = 8 * 1024 ** 2;

/** What a manifest of the usual 8 MiB holds, or somewhat less. */
const MANIFEST_ENTRIES = 10_000;

/** Until the first byte of a read arrives, as S3 is known for. */
const READ_MS = 30;

/** Small inputs are opened ahead of the one that is being read; the ranges of a large one follow each other. */
const READS_AHEAD = 16;

/**
 * Processor time of one input, however small: its footer, and a chunk of each of a dozen columns, decoded and encoded.
 * Groups share the processor. `npm run bench -- compact-small` takes somewhat less, start included.
 */
const INPUT_MS = 8;

/** What a Lambda of the memory below moves in a millisecond: cautious for copied pages, fair for decoded ones. */
const BYTES_PER_MS = 40 * 1024;

/** Decoded and encoded anew, without the rows that are deleted. */
const DECODED_BYTES_PER_MS = 12 * 1024;

/** Processor time of a delete file, however small. */
const DELETE_FILE_MS = 4;

/** A delete file, or a data file whose key columns are evaluated, up to this size is read whole, in one request. */
const WHOLE_FILE_BYTES = 1024 ** 2;

/** Of a key column, for each row. */
const KEY_BYTES = 8;

/** Rows whose keys are read and looked up in a millisecond. */
const KEYS_PER_MS = 1_000;

/** The pointer: loaded, read under the lease, before manifests are written and by the attempt; written once. */
const POINTER_READS = 4;
const POINTER_WRITES = 1;

/** The ledger: lease, open runs, the run's marker, the last skip; lease taken and given back, run opened and closed, objects, intent, report. */
const LEDGER_READS = 4;
const LEDGER_WRITES = 13;

const COMMIT_MS = 2_000;

/**
 * What a run as just planned is expected to use, planning included: the requests that planning took were counted,
 * those of the run follow from the plan. It stands for a commit that succeeds at its first attempt, for pages that are
 * copied where no rows are left out, and for delete files that delete a row with each of theirs; manifests that planning
 * read are taken to be still in memory, and those without old files to be rewritten together.
 */
export function estimateUsage({
  plan,
  requests,
}: {
  readonly plan: RewriteDataFilesPlan;
  /** Of planning. */
  readonly requests: RequestCounts;
}): Usage {
  const { groups, options, base } = plan;
  const inputReads = sum(groups, (group) =>
    sum(group.files, (file) => readCount(file.fileSizeBytes)),
  );
  const outputReads = sum(groups, (group) => eachOutput(group, (bytes) => 1 + readCount(bytes)));
  const outputWrites = sum(groups, (group) => eachOutput(group, writeCount));
  const work = groups.map((group) => expectedWork(group, plan));
  const newDeletes = newDeleteCounts(plan, work);
  const manifests = manifestCount(groups) + newDeletes.manifestCount;
  const inputCount = sum(groups, (group) => group.files.length);
  const deletes = groups.map(deleteReads);
  const deleteFileReads = sum(deletes, ({ fileReads }) => fileReads);
  const keyReads = sum(deletes, ({ keyFileReads }) => keyFileReads);
  const hashReads = base.verifiesRows
    ? inputReads + sum(groups, (group) => eachOutput(group, readCount))
    : 0;
  const timesRead = base.verifiesRows ? 3 : 1;
  const concurrentCount = Math.min(options.concurrentFileGroupRewritesMax, groups.length) || 1;
  const inputBytes = sum(groups, (group) => group.inputBytes);
  return {
    // The metadata file; planning; inputs, their deletes and keys; outputs and new deletes read back; rows hashed; manifests, list and metadata read back.
    s3GetCount:
      1 +
      planningReads(requests) +
      inputReads +
      deleteFileReads +
      keyReads +
      outputReads +
      newDeletes.objectCount +
      hashReads +
      manifests +
      2,
    s3PutCount: outputWrites + newDeletes.objectCount + manifests + 2,
    dynamoDbReadCount: POINTER_READS + LEDGER_READS,
    dynamoDbWriteCount: POINTER_WRITES + LEDGER_WRITES,
    lambdaInvocationCount: 1,
    lambdaDurationMs:
      (timesRead * sum(groups, waitMs)) / concurrentCount +
      ((deleteFileReads + keyReads) * READ_MS) / READS_AHEAD +
      deleteFileReads * DELETE_FILE_MS +
      (inputCount * timesRead + keyReads) * INPUT_MS +
      sum(groups, ({ files }) => keyCountOf(files)) / KEYS_PER_MS +
      sum(work, ({ copiedBytes }) => copiedBytes / BYTES_PER_MS) +
      sum(work, ({ decodedBytes }) => decodedBytes / DECODED_BYTES_PER_MS) +
      ((timesRead - 1) * inputBytes) / BYTES_PER_MS +
      COMMIT_MS,
    lambdaMemoryMib: LAMBDA_MEMORY_MIB,
  };
}

/** Requests for the deletes of a group. */
function deleteReads({ files, deletes }: PlannedGroup): {
  readonly fileReads: number;
  /** Data files whose keys are evaluated. */
  readonly keyFileReads: number;
} {
  if (deletes === undefined) return { fileReads: 0, keyFileReads: 0 };
  const keyed = files.filter((file) => (file.deletes?.equality.fileCount ?? 0) > 0);
  return {
    fileReads: sum(
      Object.values(deletes),
      ({ fileCount, bytes }: DeleteTally) =>
        fileCount * columnReadCount(bytes / Math.max(fileCount, 1), bytes),
    ),
    keyFileReads: sum(keyed, ({ fileSizeBytes, recordCount }) =>
      columnReadCount(fileSizeBytes, recordCount * KEY_BYTES),
    ),
  };
}

/** Small files are fetched whole; of large ones the footer and the columns. */
function columnReadCount(fileSizeBytes: number, columnBytes: number): number {
  if (fileSizeBytes <= WHOLE_FILE_BYTES) return 1;
  return 1 + Math.ceil(columnBytes / TRANSFER_BYTES);
}

/** What is written of deletes: anew for rows that are kept, and manifests without those that nothing needs any more. */
function newDeleteCounts(
  { base, groups }: RewriteDataFilesPlan,
  work: readonly ExpectedWork[],
): { readonly objectCount: number; readonly manifestCount: number } {
  const carryingSpecs = new Set<number>();
  const specs = new Set<number>();
  let outputCount = 0;
  for (const [index, { specId, deletes, outputFileCountExpected }] of groups.entries()) {
    const { carriedFileCount = 0 } = work[index] ?? {};
    if (deletes !== undefined) specs.add(specId);
    if (carriedFileCount > 0) carryingSpecs.add(specId);
    outputCount += Math.min(outputFileCountExpected, carriedFileCount);
  }
  // Vectors of one commit stand in one Puffin file.
  const objectCount = base.formatVersion >= 3 ? Math.min(outputCount, 1) : outputCount;
  return { objectCount, manifestCount: carryingSpecs.size + specs.size };
}

function planningReads({ head, read, readRange }: RequestCounts): number {
  return head + read + readRange;
}

/** Small files are fetched whole; of large ones the footer comes first. */
function readCount(fileSizeBytes: number): number {
  if (fileSizeBytes <= TRANSFER_BYTES) return 1;
  return 1 + Math.ceil(fileSizeBytes / TRANSFER_BYTES);
}

/** Time in which a group has nothing to do but wait for its inputs. */
function waitMs({ files }: PlannedGroup): number {
  const isSmall = ({ fileSizeBytes }: { readonly fileSizeBytes: number }): boolean =>
    readCount(fileSizeBytes) === 1;
  const smallCount = files.filter(isSmall).length;
  const large = files.filter((file) => !isSmall(file));
  const rangeCount = large.reduce((total, file) => total + readCount(file.fileSizeBytes), 0);
  return (Math.ceil(smallCount / READS_AHEAD) + rangeCount) * READ_MS;
}

/** Small files are one PUT; large ones have a request to begin, their parts, and one to end. */
function writeCount(fileSizeBytes: number): number {
  if (fileSizeBytes <= TRANSFER_BYTES) return 1;
  return 2 + Math.ceil(fileSizeBytes / TRANSFER_BYTES);
}

/** The outputs of a group taken to be of one size. */
function eachOutput(
  { inputBytes, outputFileCountExpected }: PlannedGroup,
  requestCount: (fileSizeBytes: number) => number,
): number {
  return outputFileCountExpected * requestCount(inputBytes / outputFileCountExpected);
}

/** For each spec the manifests of the new files, and those without the old ones, which are rewritten together. */
function manifestCount(groups: readonly PlannedGroup[]): number {
  const bySpec = Map.groupBy(groups, (group) => group.specId);
  return sum([...bySpec.values()], (ofSpec) => {
    const addedCount = sum(ofSpec, (group) => group.outputFileCountExpected);
    const removedCount = sum(ofSpec, (group) => group.files.length);
    return Math.ceil(addedCount / MANIFEST_ENTRIES) + Math.ceil(removedCount / MANIFEST_ENTRIES);
  });
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
