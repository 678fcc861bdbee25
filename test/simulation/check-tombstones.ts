import { parseTableMetadata } from '../../shared/iceberg/index.ts';
import { createManifestReader } from '../../shared/table/index.ts';
import { isFirn } from './checker.ts';
import { claim } from './violation.ts';
import type { World } from './world.ts';

const TABLE = 'db.orders';
const METADATA_BYTES_MAX = 1024 ** 2;

/**
 * What must hold of the tombstone list when everything is over and every run is settled:
 *
 * - every object that Firn wrote and that no pointer ever led to is on it, unless nobody can tell what became of its
 *   run;
 * - no object that the table refers to is on it.
 *
 * @throws Violation
 */
export async function checkTombstones(world: World): Promise<void> {
  const { metadataLocation } = world.pointer;
  // Nobody settles runs of a table that is gone.
  if (metadataLocation === undefined) return;
  const ledger = readLedger(world);
  claim(ledger.openRuns.length === 0, 'every run is settled', () => ledger.openRuns.join());
  const found = new Set<string>();
  for (const location of world.pointer.everyLocation()) await addReferenced(location, found, world);
  const unlisted = world.objects
    .writtenBy(isFirn)
    .filter((location) => !found.has(location) && !ledger.tombstones.has(location))
    .filter((location) => !ledger.unknown.has(location));
  claim(unlisted.length === 0, 'what came to nothing is on the tombstone list', () =>
    unlisted.join(),
  );
  const current = new Set<string>();
  await addReferenced(metadataLocation, current, world);
  const listed = [...current].filter((location) => ledger.tombstones.has(location));
  claim(listed.length === 0, 'nothing that is in use is on the tombstone list', () =>
    listed.join(),
  );
}

interface LedgerFacts {
  readonly openRuns: readonly string[];
  readonly tombstones: ReadonlySet<string>;
  /** Objects of runs whose end nobody can tell. */
  readonly unknown: ReadonlySet<string>;
}

function readLedger({ items }: World): LedgerFacts {
  const facts = {
    openRuns: [] as string[],
    tombstones: new Set<string>(),
    unknown: new Set<string>(),
  };
  for (const { sort, body } of items.snapshot(TABLE)) {
    if (sort.startsWith('tombstone#')) facts.tombstones.add(String(body['location']));
    if (!sort.startsWith('run#')) continue;
    if (body['status'] === 'open') facts.openRuns.push(sort);
    const objects = Array.isArray(body['objects']) ? body['objects'] : [];
    if (body['status'] === 'unknown') for (const each of objects) facts.unknown.add(String(each));
  }
  return facts;
}

/** Adds everything that a metadata file refers to, and the file itself. */
async function addReferenced(
  location: string,
  found: Set<string>,
  { store }: World,
): Promise<void> {
  const metadata = parseTableMetadata(await store.read(location, METADATA_BYTES_MAX), location);
  const reader = createManifestReader(store);
  found.add(location);
  for (const { metadataFile } of metadata.metadataLog) found.add(metadataFile);
  for (const snapshot of metadata.snapshots) {
    if (snapshot.manifestList === undefined) continue;
    found.add(snapshot.manifestList);
    for (const manifest of await reader.readList(metadata, snapshot)) {
      found.add(manifest.manifestPath);
      for (const entry of await reader.readEntries(metadata, manifest, { skipsMetrics: true })) {
        if (entry.status !== 'deleted') found.add(entry.dataFile.filePath);
      }
    }
  }
}
