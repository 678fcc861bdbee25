import { type IcebergError, isIcebergError } from '../base/index.ts';
import type { TablePointer } from '../catalog/index.ts';
import type { TableMetadata } from '../iceberg/index.ts';
import type { PointerWrite } from '../ledger/index.ts';
import type { CommitPorts } from './commit-ports.ts';
import { commitStateUnknown, settleCommit, toLostCommit } from './settle.ts';
import { loadMetadata } from './table.ts';

export interface PointerSending {
  /** What it is conditional on. */
  readonly pointer: TablePointer;
  /** Of the commit itself. */
  readonly metadata: TableMetadata;
  /** Tells the run that the commit is applied. */
  readonly landed: () => Promise<void>;
}

export type SentPointerWrite =
  /** Applied; where others have committed since, the pointer is theirs. */
  | { readonly state: 'applied'; readonly moved: TablePointer; readonly metadata: TableMetadata }
  | { readonly state: 'lost'; readonly error: IcebergError };

/**
 * Records the intent, sends the one conditional write, and finds out what became of it when the answer is lost.
 *
 * @throws commit-state-unknown — when reading cannot settle it
 * @throws whatever says that the write was certainly not applied, other than a lost race
 * @see design, "The pointer and the settled commit"
 */
export async function sendPointerWrite(
  write: PointerWrite,
  sending: PointerSending,
  ports: CommitPorts,
): Promise<SentPointerWrite> {
  const { pointer, landed, metadata } = sending;
  const { metadataLocation, version } = write;
  await ports.run.recordIntent(write);
  let moved: TablePointer;
  try {
    moved = await ports.catalog.commitTable({ base: pointer, metadataLocation, version });
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    if (error.kind === 'commit-state-unknown') return settle(write, error, { ...sending, ports });
    // Every other error says that this write was certainly not applied.
    await ports.run.closeIntent(version, 'not-applied');
    if (error.kind !== 'commit-conflict' && error.kind !== 'unavailable') throw error;
    return { state: 'lost', error };
  }
  await landed();
  return { state: 'applied', moved, metadata };
}

async function settle(
  write: PointerWrite,
  error: IcebergError,
  { pointer, ports, landed, metadata }: PointerSending & { readonly ports: CommitPorts },
): Promise<SentPointerWrite> {
  // Nothing may fail any more once the commit is known to be applied, so what was loaded is kept.
  const loaded = new Map([[write.metadataLocation, metadata]]);
  const load = async (location: string): Promise<TableMetadata> => {
    const known = loaded.get(location) ?? (await loadMetadata(location, ports));
    loaded.set(location, known);
    return known;
  };
  const lost = toLostCommit(write, pointer.identifier);
  const settlement = await settleCommit(lost, { ...ports, loadMetadata: load });
  ports.logger.warn('commit.settled', `lost answer: ${settlement.state}`, {
    metadataLocation: write.metadataLocation,
  });
  switch (settlement.state) {
    case 'applied': {
      await landed();
      const moved = settlement.pointer;
      return { state: 'applied', moved, metadata: await load(moved.metadataLocation) };
    }
    case 'not-applied':
      await ports.run.closeIntent(write.version, 'not-applied');
      return { state: 'lost', error };
    case 'unknown':
      await ports.run.closeIntent(write.version, 'unknown');
      throw commitStateUnknown(lost, settlement.seen, error);
    case 'undecided':
      // The intent stays open: the next run asks again.
      throw commitStateUnknown(lost, settlement.seen, error);
  }
}
