import { serializeJson } from '../../base/index.ts';
import type { ManifestTally } from './manifest-tally.ts';
import type { RewriteDataFilesOptions } from './options.ts';

/**
 * What the next plan can go on from: which partitions were left due, and which partitions have files in which manifest. It
 * speaks for itself, whatever else is remembered of the plan: it holds for its own snapshot and those after.
 */
export interface PlanState {
  /** Empty for old v1 tables, which have none. */
  readonly tableUuid: string;
  readonly branch: string;
  /** The snapshot that was planned. */
  readonly snapshotId: bigint;
  /** When the whole table was last planned. */
  readonly fullAtMs: number;
  /** As `optionsText`. */
  readonly optionsText: string;
  /** Hashes of partitions in which something was left to do: files too young, groups not committed. */
  readonly duePartitions: Uint32Array;
  /** Of every manifest of the snapshot that has live files. */
  readonly manifests: readonly ManifestTally[];
}

/** Options that do not change which groups a partition has. */
const INDIFFERENT_OPTIONS = new Set<string>([
  'filesToRewriteMax',
  'rewriteJobOrder',
  'concurrentFileGroupRewritesMax',
  'isPartialProgressEnabled',
  'partialProgressCommitsMax',
  'partialProgressFailedCommitsMax',
] satisfies (keyof RewriteDataFilesOptions)[]);

/** Equal exactly for options by which a partition is planned in the same way. */
export function optionsText(options: RewriteDataFilesOptions): string {
  const entries = Object.entries(options).filter(([name]) => !INDIFFERENT_OPTIONS.has(name));
  return serializeJson(
    Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1))),
  );
}
