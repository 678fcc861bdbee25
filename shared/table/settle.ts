import {
  type Clock,
  type ErrorKind,
  IcebergError,
  isIcebergError,
  type Random,
  randomUuid,
} from '../base/index.ts';
import type { Catalog, TableIdentifier, TablePointer } from '../catalog/index.ts';
import type { TableMetadata } from '../iceberg/index.ts';
import type { PointerWrite } from '../ledger/index.ts';

/** A pointer write whose answer did not arrive. */
export interface LostCommit {
  readonly base: TablePointer;
  readonly tableUuid: string | undefined;
  readonly metadataLocation: string;
  readonly version: string;
  /** Absent when the commit adds no snapshot. */
  readonly snapshotId?: bigint;
}

/** As the ledger has it. */
export function toLostCommit(write: PointerWrite, identifier: TableIdentifier): LostCommit {
  const { baseMetadataLocation, baseVersion, metadataLocation, version, snapshotId } = write;
  return {
    base: {
      identifier,
      metadataLocation: baseMetadataLocation,
      version: baseVersion,
      properties: {},
    },
    tableUuid: write.tableUuid,
    metadataLocation,
    version,
    ...(snapshotId === undefined ? {} : { snapshotId }),
  };
}

/**
 * What became of it. `unknown`: it can never be told, and the write can no longer land. `undecided`: nobody could be
 * asked, or it may still land, so that the next one who asks may learn more. Both say what was seen.
 */
export type Settlement =
  | { readonly state: 'applied'; readonly pointer: TablePointer }
  | { readonly state: 'not-applied' }
  | { readonly state: 'unknown'; readonly seen: string }
  | { readonly state: 'undecided'; readonly seen: string };

export interface SettlePorts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: Random;
  readonly loadMetadata: (metadataLocation: string) => Promise<TableMetadata>;
}

/** How often the pointer is looked at before giving up, and how long to wait in between. */
const LOOKS_MAX = 3;
const LOOK_WAIT_MS = 1000;

/**
 * Finds out by reading whether a pointer write was applied; never guesses and never repeats the write. While the
 * pointer still stands where it stood, the write may be on its way: then the version is changed once, after which
 * it can no longer land. Costs up to three reads of the pointer and of metadata, and one conditional write.
 */
export async function settleCommit(lost: LostCommit, ports: SettlePorts): Promise<Settlement> {
  const fenceVersion = randomUuid(ports.random);
  let isFenceSent = false;
  let settlement: Settlement = { state: 'undecided', seen: 'nothing' };
  for (let look = 1; look <= LOOKS_MAX; look++) {
    if (look > 1) await ports.clock.sleepMs(LOOK_WAIT_MS);
    try {
      const pointer = await ports.catalog.loadTable(lost.base.identifier);
      if (isUnmoved(pointer, lost) && !isFenceSent) {
        isFenceSent = true;
        await ports.catalog.fenceTable({ base: pointer, version: fenceVersion });
        return { state: 'not-applied' };
      }
      settlement = await judge(pointer, lost, ports);
    } catch (error) {
      if (!isIcebergError(error)) throw error;
      const state = isTableGone(error) ? 'unknown' : 'undecided';
      settlement = { state, seen: error.message };
    }
    if (settlement.state !== 'undecided') break;
  }
  return settlement;
}

/** The catalog answered that it has no such table. A new one of its name has a version of its own. */
function isTableGone({ kind, context }: IcebergError): boolean {
  return kind === 'not-found' && context['table'] !== undefined;
}

function isUnmoved(pointer: TablePointer, lost: LostCommit): boolean {
  return (
    pointer.version === lost.base.version && pointer.metadataLocation === lost.base.metadataLocation
  );
}

const ILLEGIBLE_KINDS: readonly ErrorKind[] = ['not-found', 'invalid-data', 'unsupported'];

async function judge(
  pointer: TablePointer,
  lost: LostCommit,
  ports: SettlePorts,
): Promise<Settlement> {
  if (isUnmoved(pointer, lost)) return { state: 'undecided', seen: 'the pointer has not moved' };
  if (pointer.version === lost.version || pointer.metadataLocation === lost.metadataLocation) {
    return { state: 'applied', pointer };
  }
  let metadata: TableMetadata;
  try {
    metadata = await ports.loadMetadata(pointer.metadataLocation);
  } catch (error) {
    // The version has changed, so the write cannot land; and nobody will ever read more there than now.
    if (!isIcebergError(error) || !ILLEGIBLE_KINDS.includes(error.kind)) throw error;
    return { state: 'unknown', seen: error.message };
  }
  if (metadata.tableUuid !== lost.tableUuid) {
    return { state: 'unknown', seen: `the table is now ${metadata.tableUuid ?? 'without uuid'}` };
  }
  const locations = [
    ...metadata.metadataLog.map((entry) => entry.metadataFile),
    pointer.metadataLocation,
  ];
  if (
    locations.includes(lost.metadataLocation) ||
    (lost.snapshotId !== undefined &&
      metadata.snapshots.some((snapshot) => snapshot.snapshotId === lost.snapshotId))
  ) {
    return { state: 'applied', pointer };
  }
  // Ours would be the base's successor, in the log or at its end, and it is neither.
  if (locations.includes(lost.base.metadataLocation)) return { state: 'not-applied' };
  return {
    state: 'unknown',
    seen: `${lost.base.metadataLocation} is neither current nor in the metadata log`,
  };
}

/** The error that ends a run whose commit could not be settled: nothing it wrote may be deleted. */
export function commitStateUnknown(lost: LostCommit, seen: string, cause: unknown): IcebergError {
  return new IcebergError(
    'commit-state-unknown',
    `commit of ${lost.metadataLocation}: it is unknown whether it was applied: ${seen}`,
    {
      metadataLocation: lost.metadataLocation,
      version: lost.version,
      ...(lost.snapshotId === undefined ? {} : { snapshotId: lost.snapshotId }),
    },
    cause,
  );
}
