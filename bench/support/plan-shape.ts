/** The table that `plan` plans: 25 days, 8 commits a day, each of one manifest with 10 files for each of 5 buckets. */
export const PLAN_MANIFEST_COUNT = 200;
export const MANIFESTS_PER_DAY = 8;
export const BUCKETS = 5;
/** One of them is as large as it should be, the others are small. */
export const FILES_PER_BUCKET = 10;

export const PLAN_FILE_COUNT = PLAN_MANIFEST_COUNT * BUCKETS * FILES_PER_BUCKET;
export const PLAN_PARTITION_COUNT = (PLAN_MANIFEST_COUNT / MANIFESTS_PER_DAY) * BUCKETS;
export const PLAN_LARGE_FILE_COUNT = PLAN_MANIFEST_COUNT * BUCKETS;
