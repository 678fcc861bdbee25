import type { TableMetadata } from '../iceberg/index.ts';

/** Metadata files that the log of `base` named and that of its successor does not: nothing refers to them any more. */
export function metadataFilesTrimmed(
  base: TableMetadata,
  successor: TableMetadata,
): readonly string[] {
  const kept = new Set(successor.metadataLog.map(({ metadataFile }) => metadataFile));
  return base.metadataLog
    .map(({ metadataFile }) => metadataFile)
    .filter((metadataFile) => !kept.has(metadataFile));
}
