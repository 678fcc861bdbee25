import { type AttachedDeletes, isDeletionVector, type ManifestEntry } from '../iceberg/index.ts';

/** A delete file, or a vector of a Puffin file, by what no other one shares; its content never changes. */
export interface DeleteIdentity {
  readonly kind: 'deletion-vector' | 'position-deletes' | 'equality-deletes';
  readonly filePath: string;
  /** Of a vector, in its Puffin file. */
  readonly contentOffset?: number;
  readonly dataSequenceNumber: bigint;
}

export function deleteIdentity(entry: ManifestEntry): DeleteIdentity {
  const { dataFile, dataSequenceNumber } = entry;
  const { content, filePath, contentOffset } = dataFile;
  if (content === 'equality-deletes') return { kind: content, filePath, dataSequenceNumber };
  if (!isDeletionVector(dataFile)) {
    return { kind: 'position-deletes', filePath, dataSequenceNumber };
  }
  return {
    kind: 'deletion-vector',
    filePath,
    dataSequenceNumber,
    ...(contentOffset === undefined ? {} : { contentOffset }),
  };
}

/** All delete files that apply to a data file. */
export function attachedIdentities(deletes: AttachedDeletes): readonly DeleteIdentity[] {
  return [...attachedPositionDeletes(deletes), ...deletes.equalityDeleteFiles].map(deleteIdentity);
}

/** The vector of a data file, or its position delete files. */
export function attachedPositionDeletes(deletes: AttachedDeletes): readonly ManifestEntry[] {
  return [
    ...deletes.deletionVectors,
    ...deletes.fileScopedPositionDeleteFiles,
    ...deletes.partitionScopedPositionDeleteFiles,
  ];
}

/** The same text for the same delete, at whatever head it is found. */
export function identityKey(identity: DeleteIdentity): string {
  const { kind, filePath, contentOffset, dataSequenceNumber } = identity;
  return `${kind} ${contentOffset ?? ''} ${dataSequenceNumber} ${filePath}`;
}

/** `identityKey` of an entry. */
export function deleteKey(entry: ManifestEntry): string {
  return identityKey(deleteIdentity(entry));
}
