import {
  hasUnrecognizedTransform,
  type ManifestEntry,
  partitionKey,
  partitionPath,
  specById,
  type TableMetadata,
  tablePartitionType,
} from '../../iceberg/index.ts';
import { partitionHash } from './partition-hash.ts';
import type { ScannedFile } from './select.ts';

/** What all files of a partition have in common. */
export interface PartitionFacts {
  readonly file: Pick<ScannedFile, 'partitionKey' | 'partition' | 'isSpecWritable'>;
  readonly hash: number;
}

export interface PartitionFactsOf {
  of(entry: Pick<ManifestEntry, 'specId' | 'dataFile'>): PartitionFacts;
}

/** Resolves each partition once, since there are many files in each; the texts are shared by them. */
export function createPartitionFacts(metadata: TableMetadata): PartitionFactsOf {
  const known = new Map<string, PartitionFacts>();
  const resolve = (
    key: string,
    { specId, dataFile }: Pick<ManifestEntry, 'specId' | 'dataFile'>,
  ): PartitionFacts => {
    const spec = specById(metadata, specId);
    return {
      file: {
        partitionKey: key,
        partition: partitionPath(spec, tablePartitionType(metadata, spec), dataFile.partition),
        isSpecWritable: !hasUnrecognizedTransform(spec),
      },
      hash: partitionHash(key),
    };
  };
  return {
    of(entry) {
      const key = partitionKey(entry.specId, entry.dataFile.partition);
      const facts = known.get(key) ?? resolve(key, entry);
      known.set(key, facts);
      return facts;
    },
  };
}
