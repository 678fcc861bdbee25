import { type Properties, tableProperty } from '../../iceberg/index.ts';
import {
  boolean,
  integer,
  type OptionTexts,
  positiveNumber,
  ratio,
  refuseUnknownOptions,
} from '../../maintenance/index.ts';

/** What one run of the operation was asked to do, with every default filled in. Sizes are in bytes. */
export interface RewriteDeletesOptions {
  /** Position delete files of a partition that the work would do away with. */
  readonly deleteFileThreshold: number;
  /** Equality delete files that apply to a partition. */
  readonly equalityDeleteFileThreshold: number;
  /** Rows of a partition's delete files, of its rows. */
  readonly deleteRatioThreshold: number;
  /** Bytes of the snapshot's delete manifests, of those of its data manifests. */
  readonly deleteManifestRatioThreshold: number;
  /** Bytes of a Puffin file that no live vector needs, of its size. */
  readonly puffinGarbageRatioThreshold: number;
  /** Whatever can be rewritten is, however little it is. */
  readonly rewriteAll: boolean;
  /** Data files to be given new deletes, and vectors to be copied. */
  readonly filesToRewriteMax: number;
  /** A new Puffin file of copied vectors is closed before the vector that would take it beyond. */
  readonly puffinSizeBytesMax: number;
  readonly isPartialProgressEnabled: boolean;
  readonly partialProgressCommitsMax: number;
  readonly partialProgressFailedCommitsMax: number;
}

/** Bounds the plan's memory, and what is left over is planned by the next run; as compaction has it. */
const FILES_TO_REWRITE_DEFAULT = 100_000;

const PARTIAL_PROGRESS_COMMITS_DEFAULT = 10;

const OPTIONS: ReadonlySet<string> = new Set([
  'delete-file-threshold',
  'equality-delete-file-threshold',
  'delete-ratio-threshold',
  'delete-manifest-ratio-threshold',
  'puffin-garbage-ratio-threshold',
  'rewrite-all',
  'max-files-to-rewrite',
  'target-file-size-bytes',
  'partial-progress.enabled',
  'partial-progress.max-commits',
  'partial-progress.max-failed-commits',
]);

/**
 * Reads and checks the options of a run; thresholds that are not given are the table's.
 *
 * @throws invalid-config — unknown keys (all of them named), malformed values, values out of range, malformed properties
 * @see README.md for names, ranges and defaults
 */
export function parseRewriteDeletesOptions(
  texts: OptionTexts,
  properties: Properties,
): RewriteDeletesOptions {
  refuseUnknownOptions(texts, OPTIONS, 'rewrite-deletes');
  const commitsMax = integer(texts, 'partial-progress.max-commits', {
    fallback: PARTIAL_PROGRESS_COMMITS_DEFAULT,
    min: 1,
  });
  return {
    ...thresholds(texts, properties),
    rewriteAll: boolean(texts, 'rewrite-all', false),
    filesToRewriteMax: integer(texts, 'max-files-to-rewrite', {
      fallback: FILES_TO_REWRITE_DEFAULT,
      min: 1,
    }),
    puffinSizeBytesMax: integer(texts, 'target-file-size-bytes', {
      fallback: tableProperty(properties, 'write.delete.target-file-size-bytes'),
      min: 1,
    }),
    isPartialProgressEnabled: boolean(texts, 'partial-progress.enabled', false),
    partialProgressCommitsMax: commitsMax,
    partialProgressFailedCommitsMax: integer(texts, 'partial-progress.max-failed-commits', {
      fallback: commitsMax,
      min: 0,
    }),
  };
}

function thresholds(texts: OptionTexts, properties: Properties) {
  return {
    deleteFileThreshold: integer(texts, 'delete-file-threshold', {
      fallback: tableProperty(properties, 'firn.rewrite-deletes.delete-file-threshold'),
      min: 1,
    }),
    equalityDeleteFileThreshold: integer(texts, 'equality-delete-file-threshold', {
      fallback: tableProperty(properties, 'firn.rewrite-deletes.equality-delete-file-threshold'),
      min: 1,
    }),
    deleteRatioThreshold: positiveNumber(
      texts,
      'delete-ratio-threshold',
      tableProperty(properties, 'firn.rewrite-deletes.delete-ratio-threshold'),
    ),
    deleteManifestRatioThreshold: positiveNumber(
      texts,
      'delete-manifest-ratio-threshold',
      tableProperty(properties, 'firn.rewrite-deletes.delete-manifest-ratio-threshold'),
    ),
    puffinGarbageRatioThreshold: ratio(
      texts,
      'puffin-garbage-ratio-threshold',
      tableProperty(properties, 'firn.rewrite-deletes.puffin-garbage-ratio-threshold'),
    ),
  };
}
