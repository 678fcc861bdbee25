/** The table of `fold`: v2 with position delete files, then v3. Nothing of its data files is there but their entries. */
export const FOLD_PARTITION_COUNT = 10;
export const FOLD_FILE_COUNT = 1000;
export const FOLD_FILE_ROW_COUNT = 10_000;
export const FOLD_POSITIONS_PER_DELETE_FILE = 100;

/** Nine position delete files of each data file alone. */
export const FOLD_FILE_SCOPED_PER_FILE = 9;
/** And one more for each, of ten data files of its partition. */
export const FOLD_FILES_OF_PARTITION_SCOPED = 10;
export const FOLD_DELETE_FILE_COUNT = FOLD_FILE_COUNT * (FOLD_FILE_SCOPED_PER_FILE + 1);

/** The table of `apply` and `convert`: data files of one partition, large enough not to be read whole for one column. */
export const ROWS_FILE_COUNT = 100;
export const ROWS_FILE_ROW_COUNT = 25_000;

/** One row in so many has its position in a vector. */
export const VECTOR_EVERY = 100;

/** Equality deletes by id, some of which match nothing. */
export const KEY_FILE_COUNT = 1000;
export const KEYS_PER_FILE = 110;
export const KEYS_MATCHING_PER_FILE = 100;

/** The id of one row in so many is deleted. */
export const KEY_EVERY =
  (ROWS_FILE_COUNT * ROWS_FILE_ROW_COUNT) / (KEY_FILE_COUNT * KEYS_MATCHING_PER_FILE);

/** What a file-scoped delete file says, of a data file and by its number; ascending. */
export function fileScopedPositions(fileIndex: number, deleteIndex: number): readonly number[] {
  return ascending(
    FOLD_POSITIONS_PER_DELETE_FILE,
    (index) => index * 97 + deleteIndex * 13 + fileIndex,
  );
}

/** What a partition-scoped delete file says of a data file; ascending. */
export function partitionScopedPositions(
  fileIndex: number,
  deleteIndex: number,
): readonly number[] {
  const count = FOLD_POSITIONS_PER_DELETE_FILE / FOLD_FILES_OF_PARTITION_SCOPED;
  return ascending(count, (index) => index * 991 + deleteIndex * 7 + fileIndex);
}

/** Data files of a partition stand one after the other, and each ten of them have ten delete files. */
export function partitionOf(fileIndex: number): number {
  return Math.floor(fileIndex / (FOLD_FILE_COUNT / FOLD_PARTITION_COUNT));
}

/** All that is deleted of a data file of `fold`. */
export function foldedPositions(fileIndex: number): ReadonlySet<number> {
  const ten = fileIndex - (fileIndex % FOLD_FILES_OF_PARTITION_SCOPED);
  const own = Array.from({ length: FOLD_FILE_SCOPED_PER_FILE }, (_, deleteIndex) =>
    fileScopedPositions(fileIndex, deleteIndex),
  );
  const shared = Array.from({ length: FOLD_FILES_OF_PARTITION_SCOPED }, (_, index) =>
    partitionScopedPositions(fileIndex, ten + index),
  );
  return new Set([...own, ...shared].flat());
}

/** Positions of a data file that its vector has; ascending. */
export function vectorPositions(fileIndex: number): readonly number[] {
  const first = fileIndex % VECTOR_EVERY;
  const count = Math.ceil((ROWS_FILE_ROW_COUNT - first) / VECTOR_EVERY);
  return Array.from({ length: count }, (_, index) => first + index * VECTOR_EVERY);
}

/** Ids are counted through all data files, so that these are those of `KEY_EVERY`. */
export function convertedPositions(): ReadonlySet<number> {
  const count = ROWS_FILE_ROW_COUNT / KEY_EVERY;
  return new Set(Array.from({ length: count }, (_, index) => index * KEY_EVERY));
}

export function keysOf(keyFileIndex: number): readonly number[] {
  return Array.from(
    { length: KEYS_PER_FILE },
    (_, index) => (keyFileIndex + index * KEY_FILE_COUNT) * KEY_EVERY,
  );
}

function ascending(count: number, position: (index: number) => number): readonly number[] {
  return Array.from({ length: count }, (_, index) => position(index) % FOLD_FILE_ROW_COUNT).sort(
    (one, other) => one - other,
  );
}
