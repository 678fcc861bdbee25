import type { Usage } from '../../pricing/index.ts';
import type { RequestCounts } from '../../storage/index.ts';
import type { PlannedGroup } from './group-files.ts';
import type { RewriteDataFilesPlan } from './plan.ts';

/** What one read of a large file fetches, and what one part of its upload holds. */
const TRANSFER_BYTES = 8 * 1024 ** 2;

/** What a manifest of the usual 8 MiB holds, or somewhat less. */
const MANIFEST_ENTRIES = 10_000;

/** Until the first byte of a small read arrives, as S3 is known for; inputs of a group are read one after the other. */
const READ_MS = 30;

/** What a Lambda of the memory below moves in a millisecond: cautious for copied pages, fair for decoded ones. */
const BYTES_PER_MS = 40 * 1024;

const COMMIT_MS = 2_000;

/** The least with a whole processor. */
export const LAMBDA_MEMORY_MIB = 1769;

/**
 * What a run as just planned is expected to use, planning included: the requests that planning took were counted,
 * those of the run follow from the plan. It stands for a commit that succeeds at its first attempt and for pages
 * that are copied; manifests that planning read are taken to be still in memory, and those without old files to
 * be rewritten together.
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
    group.files.reduce((total, file) => total + readCount(file.fileSizeBytes), 0),
  );
  const outputReads = sum(groups, (group) => eachOutput(group, (bytes) => 1 + readCount(bytes)));
  const outputWrites = sum(groups, (group) => eachOutput(group, writeCount));
  const manifests = manifestCount(groups);
  const inputBytes = sum(groups, (group) => group.inputBytes);
  const hashReads = base.verifiesRows
    ? inputReads + sum(groups, (group) => eachOutput(group, readCount))
    : 0;
  const hashBytes = base.verifiesRows ? 2 * inputBytes : 0;
  const concurrentCount = Math.min(options.concurrentFileGroupRewritesMax, groups.length) || 1;
  return {
    // The metadata file; planning; inputs; outputs read back; rows hashed; manifests, list and metadata read back.
    s3GetCount: 1 + planningReads(requests) + inputReads + outputReads + hashReads + manifests + 2,
    s3PutCount: outputWrites + manifests + 2,
    dynamoDbReadCount: 2,
    dynamoDbWriteCount: 1,
    lambdaInvocationCount: 1,
    lambdaDurationMs:
      ((inputReads + hashReads) * READ_MS) / concurrentCount +
      (inputBytes + hashBytes) / BYTES_PER_MS +
      COMMIT_MS,
    lambdaMemoryMib: LAMBDA_MEMORY_MIB,
  };
}

function planningReads({ head, read, readRange }: RequestCounts): number {
  return head + read + readRange;
}

/** Small files are fetched whole; of large ones the footer comes first. */
function readCount(fileSizeBytes: number): number {
  if (fileSizeBytes <= TRANSFER_BYTES) return 1;
  return 1 + Math.ceil(fileSizeBytes / TRANSFER_BYTES);
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
