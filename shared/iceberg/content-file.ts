import type { DataFile } from './manifest-types.ts';

/** Whether a file is a deletion vector: position deletes kept as a blob of a Puffin file. */
export function isDeletionVector({ content, fileFormat }: DataFile): boolean {
  return content === 'position-deletes' && fileFormat.toUpperCase() === 'PUFFIN';
}

/** The bytes that count for a file; a vector's own, since the Puffin file around it may hold many. */
export function contentSizeBytes(file: DataFile): number {
  return isDeletionVector(file)
    ? (file.contentSizeBytes ?? file.fileSizeBytes)
    : file.fileSizeBytes;
}
