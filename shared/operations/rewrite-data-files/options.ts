import { IcebergError } from '../../base/index.ts';
import {
  boolean,
  integer,
  malformed,
  type OptionTexts,
  ratio,
  refuseUnknownOptions,
} from '../../maintenance/index.ts';

/** In which order groups are run; it decides which of them are done first when time runs out. */
export type RewriteJobOrder = 'none' | 'bytes-asc' | 'bytes-desc' | 'files-asc' | 'files-desc';

/** What one run of the operation was asked to do, with every default filled in. Sizes are in bytes. */
export interface RewriteDataFilesOptions {
  readonly targetFileSizeBytes: number;
  readonly fileSizeBytesMin: number;
  readonly fileSizeBytesMax: number;
  readonly minInputFiles: number;
  readonly rewriteAll: boolean;
  readonly fileGroupSizeBytesMax: number;
  readonly fileGroupInputFilesMax: number;
  readonly deleteFileThreshold: number;
  readonly deleteRatioThreshold: number;
  readonly filesToRewriteMax: number;
  readonly rewriteJobOrder: RewriteJobOrder;
  readonly concurrentFileGroupRewritesMax: number;
  readonly isPartialProgressEnabled: boolean;
  readonly partialProgressCommitsMax: number;
  readonly partialProgressFailedCommitsMax: number;
}

/**
 * Input bytes of one group: what a Lambda moves within half of its deadline at the throughput measured for
 * copied pages. Iceberg's default of 100 GiB is sized for a Spark executor.
 */
export const FILE_GROUP_SIZE_BYTES_DEFAULT = 4 * 1024 ** 3;

/** Input files of one run; bounds the plan's memory, and what is left over is planned by the next run. */
export const FILES_TO_REWRITE_DEFAULT = 100_000;

/** Groups at a time; two is what the memory of one Lambda carries with two readers and two writers each. */
const CONCURRENT_GROUPS_DEFAULT = 2;
const CONCURRENT_GROUPS_MAX = 64;

const MIN_INPUT_FILES_DEFAULT = 5;
const MIN_FILE_SIZE_RATIO = 0.75;
const MAX_FILE_SIZE_RATIO = 1.8;
const DELETE_FILE_THRESHOLD_DEFAULT = 2 ** 31 - 1;
const DELETE_RATIO_THRESHOLD_DEFAULT = 0.3;
const PARTIAL_PROGRESS_COMMITS_DEFAULT = 10;

/** Options of Iceberg's that Firn does not offer; each would change what the rewrite means. */
const UNSUPPORTED_OPTIONS: Readonly<Record<string, string>> = {
  'output-spec-id': 'files keep the partition spec they were written with',
  'shuffle-partitions-per-file': 'it belongs to sort and z-order',
  'compression-factor': 'it belongs to sort and z-order',
  'max-output-size': 'it belongs to z-order',
  'var-length-contribution': 'it belongs to z-order',
};

const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  ...Object.keys(UNSUPPORTED_OPTIONS),
  'strategy',
  'target-file-size-bytes',
  'min-file-size-bytes',
  'max-file-size-bytes',
  'min-input-files',
  'rewrite-all',
  'max-file-group-size-bytes',
  'max-file-group-input-files',
  'delete-file-threshold',
  'delete-ratio-threshold',
  'max-files-to-rewrite',
  'rewrite-job-order',
  'max-concurrent-file-group-rewrites',
  'partial-progress.enabled',
  'partial-progress.max-commits',
  'partial-progress.max-failed-commits',
  'use-starting-sequence-number',
  'remove-dangling-deletes',
]);

/**
 * Reads and checks the options of a run.
 *
 * @param targetFileSizeBytes the table's `write.target-file-size-bytes`, unless the option overrides it
 * @throws invalid-config — unknown keys (all of them named), malformed values, values out of range
 * @throws unsupported — a known option or value that Firn does not offer
 * @see Iceberg Java, `SizeBasedFileRewritePlanner` and `RewriteDataFiles` for names, ranges and defaults
 */
export function parseRewriteDataFilesOptions(
  texts: OptionTexts,
  targetFileSizeBytes: number,
): RewriteDataFilesOptions {
  refuseUnknownOptions(texts, KNOWN_OPTIONS, 'rewrite-data-files');
  refuseUnsupported(texts);
  const commitsMax = integer(texts, 'partial-progress.max-commits', {
    fallback: PARTIAL_PROGRESS_COMMITS_DEFAULT,
    min: 1,
  });
  return {
    ...sizes(texts, targetFileSizeBytes),
    minInputFiles: integer(texts, 'min-input-files', { fallback: MIN_INPUT_FILES_DEFAULT, min: 1 }),
    rewriteAll: boolean(texts, 'rewrite-all', false),
    fileGroupSizeBytesMax: integer(texts, 'max-file-group-size-bytes', {
      fallback: FILE_GROUP_SIZE_BYTES_DEFAULT,
      min: 1,
    }),
    fileGroupInputFilesMax: integer(texts, 'max-file-group-input-files', {
      fallback: Number.MAX_SAFE_INTEGER,
      min: 1,
    }),
    deleteFileThreshold: integer(texts, 'delete-file-threshold', {
      fallback: DELETE_FILE_THRESHOLD_DEFAULT,
      min: 0,
    }),
    deleteRatioThreshold: ratio(texts, 'delete-ratio-threshold', DELETE_RATIO_THRESHOLD_DEFAULT),
    filesToRewriteMax: integer(texts, 'max-files-to-rewrite', {
      fallback: FILES_TO_REWRITE_DEFAULT,
      min: 1,
    }),
    rewriteJobOrder: jobOrder(texts),
    concurrentFileGroupRewritesMax: concurrency(texts),
    isPartialProgressEnabled: boolean(texts, 'partial-progress.enabled', false),
    partialProgressCommitsMax: commitsMax,
    partialProgressFailedCommitsMax: integer(texts, 'partial-progress.max-failed-commits', {
      fallback: commitsMax,
      min: 0,
    }),
  };
}

function refuseUnsupported(texts: OptionTexts): void {
  for (const [key, reason] of Object.entries(UNSUPPORTED_OPTIONS)) {
    if (texts[key] !== undefined) {
      throw new IcebergError('unsupported', `option ${key}: not offered, since ${reason}`);
    }
  }
  const strategy = texts['strategy']?.toLowerCase() ?? 'binpack';
  if (strategy === 'sort' || strategy === 'zorder') {
    throw new IcebergError(
      'unsupported',
      `option strategy: ${strategy} is not offered, only binpack`,
    );
  }
  if (strategy !== 'binpack') throw malformed('strategy', strategy, 'binpack');
  if (!boolean(texts, 'use-starting-sequence-number', true)) {
    throw new IcebergError(
      'unsupported',
      'option use-starting-sequence-number: false is not offered, since newer equality deletes would be lost',
    );
  }
  if (boolean(texts, 'remove-dangling-deletes', false)) {
    throw new IcebergError('unsupported', 'option remove-dangling-deletes: true is not offered');
  }
}

function sizes(
  texts: OptionTexts,
  tableTargetBytes: number,
): Pick<RewriteDataFilesOptions, 'targetFileSizeBytes' | 'fileSizeBytesMin' | 'fileSizeBytesMax'> {
  const target = integer(texts, 'target-file-size-bytes', { fallback: tableTargetBytes, min: 1 });
  const min = integer(texts, 'min-file-size-bytes', {
    fallback: Math.trunc(target * MIN_FILE_SIZE_RATIO),
    min: 0,
  });
  const max = integer(texts, 'max-file-size-bytes', {
    fallback: Math.trunc(target * MAX_FILE_SIZE_RATIO),
    min: 1,
  });
  if (min >= target) {
    throw malformed('min-file-size-bytes', String(min), `less than the target of ${target}`);
  }
  if (max <= target) {
    throw malformed('max-file-size-bytes', String(max), `more than the target of ${target}`);
  }
  return { targetFileSizeBytes: target, fileSizeBytesMin: min, fileSizeBytesMax: max };
}

function concurrency(texts: OptionTexts): number {
  const key = 'max-concurrent-file-group-rewrites';
  const value = integer(texts, key, { fallback: CONCURRENT_GROUPS_DEFAULT, min: 1 });
  if (value <= CONCURRENT_GROUPS_MAX) return value;
  throw malformed(key, String(value), `between 1 and ${CONCURRENT_GROUPS_MAX}`);
}

function jobOrder(texts: OptionTexts): RewriteJobOrder {
  const text = texts['rewrite-job-order']?.toLowerCase() ?? 'none';
  switch (text) {
    case 'none':
    case 'bytes-asc':
    case 'bytes-desc':
    case 'files-asc':
    case 'files-desc':
      return text;
    default:
      throw malformed(
        'rewrite-job-order',
        text,
        'one of none, bytes-asc, bytes-desc, files-asc, files-desc',
      );
  }
}
