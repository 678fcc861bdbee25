/**
 * Delete files of Iceberg tables (spec v2 and v3): which rows of the data files of a partition are deleted by vectors,
 * position delete files and equality delete files, and the writing of vectors and position delete files. Knows nothing
 * of commits; which delete files apply to a data file is told by the delete index of `iceberg`. Left out on purpose:
 * delete files in Avro and ORC, writing equality delete files, and the deleted rows that a position delete file may keep.
 */
export {
  createDeleteLoader,
  type DataFileDeletes,
  type DeleteLoader,
  type DeleteLoaderOptions,
} from './delete-loader.ts';
export { DeletionVectorWriter, type NewDeletionVector } from './deletion-vector-writer.ts';
export { readPositionDeleteFile, type WantedPaths } from './read-position-delete-file.ts';
export { type UnreadableReason, unreadableReason } from './unreadable-reason.ts';
export {
  type PositionDeleteFileOptions,
  writePositionDeleteFile,
} from './write-position-delete-file.ts';
