/**
 * How partitions lie in manifests: `clustered` as daily appends leave them, each day in a manifest of its own; `scattered` so
 * that no two files of a partition are in the same manifest, as a merge of manifests that pays no heed to partitions does.
 */
export type ManifestLayout = 'clustered' | 'scattered';

/** The tables that `plan-incremental` plans have as many days as manifests, and in each day files for so many tenants. */
export const DAY_COUNTS: Readonly<Record<ManifestLayout, number>> = {
  clustered: 1_000,
  // It costs a plan what the manifests of a hundred partitions cost, however many others there are.
  scattered: 200,
};
export const TENANTS = 100;

/** Files of a partition when the new commit comes: most as large as they should be, the others too few to be rewritten. */
export const FILES_PER_PARTITION = 10;
export const SMALL_FILES_PER_PARTITION = 2;

/** The new commit: so many small files in each of its partitions, most of them of the last day, the others each of another day. */
export const NEW_FILES_PER_PARTITION = 5;
export const NEW_PARTITION_COUNT = 100;
export const LATE_PARTITION_COUNT = 10;

export const ENTRIES_PER_DAY = TENANTS * FILES_PER_PARTITION;
