import type { CommitPorts } from './commit-ports.ts';
import { ObjectBatch } from './object-batch.ts';
import { createDeleteRereader, type DeleteRereader } from './reread-deletes.ts';
import { type CommitNames, createManifestStaging, type ManifestStaging } from './stage.ts';
import { createDeleteStaging, type DeleteStaging } from './stage-deletes.ts';

/** Everything that one commit makes and that stays the same from attempt to attempt. */
export interface Staging {
  /** What was made and is not written yet. */
  readonly batch: ObjectBatch;
  readonly manifests: ManifestStaging;
  readonly deletes: DeleteStaging;
  readonly rereader: DeleteRereader;
}

export function createStaging(
  names: CommitNames,
  { store, reader, run }: Pick<CommitPorts, 'store' | 'reader' | 'run'>,
): Staging {
  const batch = new ObjectBatch({ store, run });
  return {
    batch,
    manifests: createManifestStaging(names, { reader, batch }),
    deletes: createDeleteStaging(names.commitUuid, batch),
    rereader: createDeleteRereader(store),
  };
}
