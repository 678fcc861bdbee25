import { formatTableIdentifier } from '../../shared/catalog/index.ts';
import type { Stage } from './scenario.ts';
import { tablesOf } from './script.ts';
import { claim } from './violation.ts';
import { identifierOf, isFirn, type World } from './world.ts';

/**
 * What must hold of the tombstone list when everything is over and every run is settled: every object that Firn wrote
 * and that no pointer ever led to is on it, unless nobody can tell what became of its run.
 *
 * @throws Violation
 */
export async function checkTombstones({ world, checker: { oracle } }: Stage): Promise<void> {
  const pointers = [...tablesOf(world.script).keys()].map((table) =>
    world.pointerOf(identifierOf(table)),
  );
  // Nobody settles runs of a table that is gone.
  if (pointers.some(({ metadataLocation }) => metadataLocation === undefined)) return;
  const ledger = readLedger(world);
  claim(ledger.openRuns.length === 0, 'every run is settled', () => ledger.openRuns.join());
  const found = new Set<string>();
  for (const location of pointers.flatMap((pointer) => pointer.everyLocation())) {
    const document = await oracle.document(location);
    for (const each of document.logged) found.add(each);
    for (const each of await oracle.objectsOf(document)) found.add(each);
  }
  const unlisted = world.objects
    .writtenBy(isFirn)
    .filter((location) => !found.has(location) && !ledger.tombstones.has(location))
    .filter((location) => !ledger.unknown.has(location));
  claim(unlisted.length === 0, 'what came to nothing is on the tombstone list', () =>
    unlisted.join(),
  );
}

/** No object that the table refers to is on the tombstone list, at any time. @throws Violation */
export function checkNothingInUse(inUse: ReadonlySet<string>, tombstoned: readonly string[]): void {
  const listed = tombstoned.filter((location) => inUse.has(location));
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

function readLedger({ items, script }: World): LedgerFacts {
  const facts = {
    openRuns: [] as string[],
    tombstones: new Set<string>(),
    unknown: new Set<string>(),
  };
  const all = [...tablesOf(script).keys()].flatMap((table) =>
    items.snapshot(formatTableIdentifier(identifierOf(table))),
  );
  for (const { sort, body } of all) {
    if (sort.startsWith('tombstone#')) facts.tombstones.add(String(body['location']));
    if (!sort.startsWith('run#')) continue;
    if (body['status'] === 'open') facts.openRuns.push(sort);
    const objects = Array.isArray(body['objects']) ? body['objects'] : [];
    if (body['status'] === 'unknown') for (const each of objects) facts.unknown.add(String(each));
  }
  return facts;
}
