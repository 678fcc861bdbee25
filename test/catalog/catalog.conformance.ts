import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ManualClock } from '../../shared/base/index.ts';
import {
  type Catalog,
  formatTableIdentifier,
  parseTableIdentifier,
  type TableIdentifier,
} from '../../shared/catalog/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

/** What other writers and people do to a catalog, without the port. */
export interface RawCatalog {
  drop(identifier: TableIdentifier): Promise<void>;
  rename(source: TableIdentifier, target: TableIdentifier): Promise<void>;
  /** Another writer's commit. */
  replace(identifier: TableIdentifier, metadataLocation: string): Promise<void>;
  /** Puts an attribute that Firn knows nothing of on a table. */
  setAttribute(identifier: TableIdentifier, attribute: string, text: string): Promise<void>;
  readAttribute(identifier: TableIdentifier, attribute: string): Promise<string | undefined>;
  readTimes(
    identifier: TableIdentifier,
  ): Promise<{ readonly createdAtMs: number; readonly updatedAtMs: number }>;
}

export interface CatalogHarness {
  /** An empty catalog on `clock`. */
  readonly catalog: Catalog;
  /** Another client of the same catalog, as another process would have. */
  readonly other: Catalog;
  readonly raw: RawCatalog;
  close(): Promise<void>;
}

const START_MS = Date.UTC(2026, 10, 30);

/** The contract of `Catalog`, on any adapter. Every test works on tables of its own. */
export function testCatalogConformance(
  adapter: string,
  open: (clock: ManualClock) => Promise<CatalogHarness>,
): void {
  describe(`${adapter}: catalog conformance`, () => {
    const clock = new ManualClock(START_MS);
    let harness: CatalogHarness;
    before(async () => {
      harness = await open(clock);
    });
    after(async () => {
      await harness.close();
    });

    const register = (text: string) =>
      harness.catalog.registerTable(parseTableIdentifier(text), `s3://w/${text}/0.json`);

    test('loads what was registered', async () => {
      const identifier = parseTableIdentifier('load.eu.orders');

      const registered = await harness.catalog.registerTable(identifier, 's3://w/orders/0.json');
      const loaded = await harness.other.loadTable(identifier);

      assert.deepEqual(loaded, registered);
      assert.equal(loaded.metadataLocation, 's3://w/orders/0.json');
      assert.equal(loaded.previousMetadataLocation, undefined);
      assert.deepEqual(loaded.properties, {});
      assert.match(loaded.version, /^[0-9a-f-]{36}$/);
    });

    test('names the table that is not there', async () => {
      await register('missing.other');
      const load = harness.catalog.loadTable(parseTableIdentifier('missing.orders'));

      await assert.rejects(load, errorOfKind('not-found', /missing\.orders/));
      // By this a table that was dropped is told from a catalog that is not there.
      await assert.rejects(load, { context: { table: 'missing.orders' } });
    });

    test('refuses an identifier that would be another table', async () => {
      const identifier = { namespace: ['bad'], name: 'a.b' };

      await assert.rejects(harness.catalog.loadTable(identifier), errorOfKind('invalid-config'));
      await assert.rejects(
        harness.catalog.registerTable(identifier, 's3://w/0.json'),
        errorOfKind('invalid-config'),
      );
    });

    test('refuses to register a name that is taken, and leaves the table as it is', async () => {
      const pointer = await register('taken.orders');

      const again = harness.other.registerTable(pointer.identifier, 's3://w/another.json');

      await assert.rejects(again, errorOfKind('commit-conflict'));
      assert.deepEqual(await harness.catalog.loadTable(pointer.identifier), pointer);
    });

    test('lets one of 10 registrations of a name succeed', async () => {
      const identifier = parseTableIdentifier('race.register');
      const locations = Array.from({ length: 10 }, (_, index) => `s3://w/${index}.json`);

      const outcomes = await Promise.allSettled(
        locations.map((location, index) =>
          pick(harness, index).registerTable(identifier, location),
        ),
      );

      const winner = requireOneWinner(outcomes);
      assert.deepEqual(await harness.catalog.loadTable(identifier), winner);
    });

    test('lists one namespace, without those below it or beside it', async () => {
      for (const name of ['list.a', 'list.b', 'list.below.c', 'listed.d']) await register(name);

      assert.deepEqual(await listNames(harness.catalog, ['list']), ['list.a', 'list.b']);
      assert.deepEqual(await listNames(harness.catalog, ['list', 'below']), ['list.below.c']);
      assert.deepEqual(await listNames(harness.catalog, ['list', 'nothing']), []);
    });

    test('lists every table of every namespace', async () => {
      for (const name of ['all.a', 'all.b', 'all.below.c']) await register(name);

      const names = await listNames(harness.catalog);

      for (const name of ['all.a', 'all.b', 'all.below.c']) assert.ok(names.includes(name));
      assert.equal(new Set(names).size, names.length);
    });

    test('moves the pointer, and remembers the previous location', async () => {
      const base = await register('commit.orders');

      const committed = await harness.catalog.commitTable({
        base,
        metadataLocation: 's3://w/1.json',
        version: 'version-1',
      });

      assert.deepEqual(committed, {
        ...base,
        metadataLocation: 's3://w/1.json',
        previousMetadataLocation: base.metadataLocation,
        version: 'version-1',
      });
      assert.deepEqual(await harness.other.loadTable(base.identifier), committed);
    });

    test('sets the update time and keeps the creation time', async () => {
      const createdAtMs = clock.nowMs();
      const base = await register('times.orders');
      clock.advanceMs(1234);

      await harness.catalog.commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' });

      assert.deepEqual(await harness.raw.readTimes(base.identifier), {
        createdAtMs,
        updatedAtMs: createdAtMs + 1234,
      });
    });

    test('commits again on what its own commit returned', async () => {
      const base = await register('chain.orders');

      const first = await harness.catalog.commitTable({
        base,
        metadataLocation: 's3://w/1.json',
        version: 'v1',
      });
      const second = await harness.other.commitTable({
        base: first,
        metadataLocation: 's3://w/2.json',
        version: 'v2',
      });

      assert.deepEqual(await harness.catalog.loadTable(base.identifier), second);
      assert.equal(second.previousMetadataLocation, 's3://w/1.json');
    });

    test('refuses a commit on a base that has been passed, and moves nothing', async () => {
      const base = await register('stale.orders');
      await harness.other.commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' });

      const stale = harness.catalog.commitTable({
        base,
        metadataLocation: 's3://w/2.json',
        version: 'v2',
      });

      await assert.rejects(stale, errorOfKind('commit-conflict', /stale\.orders/));
      const loaded = await harness.catalog.loadTable(base.identifier);
      assert.equal(loaded.metadataLocation, 's3://w/1.json');
      assert.equal(loaded.version, 'v1');
    });

    test('lets one of 20 commits on one base win', async () => {
      const base = await register('race.commit');

      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          pick(harness, index).commitTable({
            base,
            metadataLocation: `s3://w/${index}.json`,
            version: `version-${index}`,
          }),
        ),
      );

      const winner = requireOneWinner(outcomes);
      assert.deepEqual(await harness.catalog.loadTable(base.identifier), winner);
    });

    test('answers a conflict when the table was dropped', async () => {
      const base = await register('drop.orders');
      await harness.raw.drop(base.identifier);

      const commit = harness.catalog.commitTable({
        base,
        metadataLocation: 's3://w/1.json',
        version: 'v1',
      });

      await assert.rejects(commit, errorOfKind('commit-conflict'));
      await assert.rejects(
        harness.catalog.loadTable(base.identifier),
        errorOfKind('not-found', /drop\.orders/),
      );
    });

    test('answers a conflict when the table was dropped and made anew at the same location', async () => {
      const base = await register('recreate.orders');
      await harness.raw.drop(base.identifier);
      const anew = await harness.other.registerTable(base.identifier, base.metadataLocation);

      const commit = harness.catalog.commitTable({
        base,
        metadataLocation: 's3://w/1.json',
        version: 'v1',
      });

      await assert.rejects(commit, errorOfKind('commit-conflict'));
      assert.deepEqual(await harness.catalog.loadTable(base.identifier), anew);
    });

    test('answers a conflict when the table was renamed, under either name', async () => {
      const base = await register('rename.before');
      const target = parseTableIdentifier('rename.later');
      await harness.raw.rename(base.identifier, target);
      const update = { metadataLocation: 's3://w/1.json', version: 'v1' };

      await assert.rejects(
        harness.catalog.commitTable({ base, ...update }),
        errorOfKind('commit-conflict'),
      );
      await assert.rejects(
        harness.catalog.commitTable({ base: { ...base, identifier: target }, ...update }),
        errorOfKind('commit-conflict'),
      );
      const renamed = await harness.catalog.loadTable(target);
      assert.equal(renamed.metadataLocation, base.metadataLocation);
    });

    test('answers a conflict when another writer replaced the table', async () => {
      const base = await register('replace.orders');
      await harness.raw.replace(base.identifier, 's3://elsewhere/0.json');

      const commit = harness.catalog.commitTable({
        base,
        metadataLocation: 's3://w/1.json',
        version: 'v1',
      });

      await assert.rejects(commit, errorOfKind('commit-conflict'));
      const loaded = await harness.catalog.loadTable(base.identifier);
      assert.equal(loaded.metadataLocation, 's3://elsewhere/0.json');
      assert.equal(loaded.previousMetadataLocation, base.metadataLocation);
    });

    test('keeps attributes that it does not know', async () => {
      const { identifier } = await register('unknown.orders');
      await harness.raw.setAttribute(identifier, 'x-owner', 'team-a');
      const base = await harness.catalog.loadTable(identifier);

      const first = await harness.catalog.commitTable({
        base,
        metadataLocation: 's3://w/1.json',
        version: 'v1',
      });
      await harness.catalog.fenceTable({ base: first, version: 'v2' });

      assert.equal(await harness.raw.readAttribute(identifier, 'x-owner'), 'team-a');
    });

    test('fences off a write on the old version, and moves no location', async () => {
      const base = await register('fence.orders');

      const fenced = await harness.other.fenceTable({ base, version: 'fence-1' });
      const late = harness.catalog.commitTable({
        base,
        metadataLocation: 's3://w/1.json',
        version: 'v1',
      });

      await assert.rejects(late, errorOfKind('commit-conflict'));
      assert.deepEqual(fenced, { ...base, version: 'fence-1' });
      assert.deepEqual(await harness.catalog.loadTable(base.identifier), fenced);
    });

    test('refuses a fence on a version that has been passed', async () => {
      const base = await register('fence.passed');
      await harness.raw.replace(base.identifier, 's3://w/1.json');

      const fence = harness.catalog.fenceTable({ base, version: 'fence-1' });

      await assert.rejects(fence, errorOfKind('commit-conflict'));
    });

    test('stops a caller who brings no new version', async () => {
      const base = await register('same.version');
      const { version } = base;

      const commit = harness.catalog.commitTable({ base, metadataLocation: 's3://w/1', version });

      await assert.rejects(commit, { name: 'AssertionFailed' });
    });

    test('takes names with blanks, slashes and letters of any script', async () => {
      const identifier = { namespace: ['näme space', 'a/b%2F'], name: '表 /😀' };

      const registered = await harness.catalog.registerTable(identifier, 's3://w/0.json');

      assert.deepEqual(await harness.other.loadTable(identifier), registered);
      assert.deepEqual(await listNames(harness.catalog, identifier.namespace), [
        formatTableIdentifier(identifier),
      ]);
    });
  });
}

function pick(harness: CatalogHarness, index: number): Catalog {
  return index % 2 === 0 ? harness.catalog : harness.other;
}

async function listNames(catalog: Catalog, namespace?: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for await (const identifier of catalog.listTables(namespace)) {
    names.push(formatTableIdentifier(identifier));
  }
  return names.sort();
}

function requireOneWinner<Value>(outcomes: readonly PromiseSettledResult<Value>[]): Value {
  const winners = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  assert.equal(winners.length, 1);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') errorOfKind('commit-conflict')(outcome.reason);
  }
  return winners[0]!.value;
}
