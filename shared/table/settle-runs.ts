import {
  type Clock,
  IcebergError,
  isIcebergError,
  type Logger,
  type Random,
} from '../base/index.ts';
import { type Catalog, formatTableIdentifier, type TableIdentifier } from '../catalog/index.ts';
import { snapshotById } from '../iceberg/index.ts';
import type { Intent, Ledger, Run, RunOutcome } from '../ledger/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { createManifestReader, requireManifestList } from './manifest-reader.ts';
import { settleCommit, toLostCommit } from './settle.ts';
import { loadMetadata } from './table.ts';
import { metadataFilesTrimmed } from './trimmed.ts';

export interface SettleRunsPorts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** A run that somebody left behind, and what it turned out to have done. */
export interface SettledRun {
  readonly runId: string;
  readonly operation: string;
  readonly outcome: RunOutcome;
  /** Snapshots that it committed. */
  readonly snapshotIds: readonly bigint[];
}

/** A run that is still going on may name more objects while it is settled; each time is its last step but one. */
const SETTLEMENTS_MAX = 5;

/**
 * Settles every run of a table whose process is gone: finds out what became of its last pointer write, puts what it
 * wrote for nothing on the tombstone list, and closes it. One query when there is none.
 *
 * @throws unavailable — when it cannot be told now what became of a pointer write; later it may be
 */
export async function settleAbandonedRuns(
  identifier: TableIdentifier,
  ports: SettleRunsPorts,
): Promise<readonly SettledRun[]> {
  const settled: SettledRun[] = [];
  for (const { run, isAbandoned } of await ports.ledger.runs.listOpen(
    formatTableIdentifier(identifier),
  )) {
    if (!isAbandoned) continue;
    const outcome = await settleRun(run, identifier, ports);
    const { runId, operation } = run.record;
    const snapshotIds = landedIntents(run).flatMap(({ snapshotId }) => snapshotId ?? []);
    ports.logger.warn('run.settled', `run ${runId}: ${outcome}`, {
      settledRunId: runId,
      outcome,
      snapshotIds: snapshotIds.join(','),
    });
    settled.push({ runId, operation, outcome, snapshotIds });
  }
  return settled;
}

async function settleRun(
  run: Run,
  identifier: TableIdentifier,
  ports: SettleRunsPorts,
): Promise<RunOutcome> {
  for (let settlement = 1; ; settlement++) {
    await settleIntent(run, identifier, ports);
    try {
      return await closeRun(run, ports);
    } catch (error) {
      const isOngoing = isIcebergError(error, 'commit-conflict') && settlement < SETTLEMENTS_MAX;
      if (!isOngoing) throw error;
    }
  }
}

async function settleIntent(
  run: Run,
  identifier: TableIdentifier,
  ports: SettleRunsPorts,
): Promise<void> {
  const intent = run.openIntent;
  if (intent === undefined) return;
  const settlement = await settleCommit(toLostCommit(intent, identifier), {
    ...ports,
    loadMetadata: (location) => loadMetadata(location, ports),
  });
  if (settlement.state === 'undecided') {
    throw new IcebergError(
      'unavailable',
      `run ${run.runId}: its commit of ${intent.metadataLocation} cannot be settled now: ${settlement.seen}`,
      { settledRunId: run.runId, metadataLocation: intent.metadataLocation },
    );
  }
  await run.closeIntent(intent.version, settlement.state);
}

async function closeRun(run: Run, ports: SettleRunsPorts): Promise<RunOutcome> {
  const { table, intents } = run.record;
  if (intents.some(({ state }) => state === 'unknown')) return run.close('unknown');
  const landed = landedIntents(run);
  const kept = await readLanded(landed, ports);
  const { runId } = run;
  // Where it cannot be read any more what a commit refers to, nothing is said about any object.
  if (kept !== undefined) {
    const { tombstones } = ports.ledger;
    const unused = without(run.objects(), kept.locations);
    await tombstones.add({ table, locations: unused, reason: 'run-abandoned', runId });
    const locations = kept.trimmedMetadataFiles;
    await tombstones.add({ table, locations, reason: 'metadata-log-trimmed', runId });
  }
  return run.close(landed.length > 0 ? 'committed' : 'abandoned');
}

function landedIntents(run: Run): readonly Intent[] {
  return run.record.intents.filter(({ state }) => state === 'applied');
}

interface Landed {
  /** Objects that the commits made part of the table. */
  readonly locations: ReadonlySet<string>;
  readonly trimmedMetadataFiles: readonly string[];
}

/** Undefined where an object that would tell is gone or corrupt. @throws unavailable, access-denied */
async function readLanded(
  intents: readonly Intent[],
  ports: SettleRunsPorts,
): Promise<Landed | undefined> {
  const locations = new Set<string>();
  const trimmedMetadataFiles: string[] = [];
  try {
    for (const intent of intents) {
      for (const location of await readCommitted(intent, ports)) locations.add(location);
      trimmedMetadataFiles.push(...(await readTrimmed(intent, ports)));
    }
  } catch (error) {
    const isLegible = !isIcebergError(error) || !ILLEGIBLE_KINDS.includes(error.kind);
    if (isLegible) throw error;
    return undefined;
  }
  return { locations, trimmedMetadataFiles };
}

const ILLEGIBLE_KINDS: readonly string[] = ['not-found', 'invalid-data', 'unsupported'];

/** What the metadata file of a commit refers to by way of its own snapshot. A GET for each object that it added. */
async function readCommitted(
  { metadataLocation, snapshotId }: Intent,
  ports: SettleRunsPorts,
): Promise<readonly string[]> {
  const metadata = await loadMetadata(metadataLocation, ports);
  const snapshot = snapshotId === undefined ? undefined : snapshotById(metadata, snapshotId);
  if (snapshot === undefined) return [metadataLocation];
  const reader = createManifestReader(ports.store);
  const locations = [metadataLocation, requireManifestList(snapshot)];
  for (const manifest of await reader.readList(metadata, snapshot)) {
    if (manifest.addedSnapshotId !== snapshotId) continue;
    locations.push(manifest.manifestPath);
    for (const entry of await reader.readEntries(metadata, manifest, { skipsMetrics: true })) {
      if (entry.status === 'added') locations.push(entry.dataFile.filePath);
    }
  }
  return locations;
}

async function readTrimmed(
  { baseMetadataLocation, metadataLocation }: Intent,
  ports: SettleRunsPorts,
): Promise<readonly string[]> {
  const base = await loadMetadata(baseMetadataLocation, ports);
  return metadataFilesTrimmed(base, await loadMetadata(metadataLocation, ports));
}

async function* without(
  locations: AsyncIterable<string>,
  kept: ReadonlySet<string>,
): AsyncIterable<string> {
  for await (const location of locations) {
    if (!kept.has(location)) yield location;
  }
}
