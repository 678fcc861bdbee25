/** The files that `compact-small` compacts: so many in each partition, a day each, of so many rows. */
export const SMALL_DAY_COUNT = 5;
export const SMALL_FILES_PER_DAY = 100;
export const SMALL_FILE_ROW_COUNT = 850;

export const SMALL_FILE_COUNT = SMALL_DAY_COUNT * SMALL_FILES_PER_DAY;
export const SMALL_ROW_COUNT = SMALL_FILE_COUNT * SMALL_FILE_ROW_COUNT;
