import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Ledger, Tombstone } from '../../../shared/ledger/index.ts';
import { readAll } from '../ledger-values.ts';
import type { LedgerUnderTest } from './subject.ts';

export function testTombstones(subject: LedgerUnderTest): void {
  const { clock } = subject;

  describe('tombstones', () => {
    test('1,000 objects are on the list once, with the time they were first noted', async () => {
      const table = 'tombstone.many';
      const locations = Array.from({ length: 1000 }, (_, index) => `s3://w/data/${index}.parquet`);
      const notedAtMs = clock.nowMs();
      const batch = { table, locations, reason: 'attempt-lost', runId: 'run-1' };

      await subject.harness.ledger.tombstones.add(batch);
      clock.advanceMs(1000);
      const again = { ...batch, locations: locations.slice(400, 600) };
      await subject.harness.other.tombstones.add({ ...again, reason: 'other', runId: 'run-2' });

      const listed = await readAll(subject.harness.ledger.tombstones.list(table));
      assert.deepEqual(listed.map(({ location }) => location).sort(), [...locations].sort());
      for (const { reason, runId, notedAtMs: noted } of listed) {
        assert.deepEqual(
          { reason, runId, noted },
          {
            reason: 'attempt-lost',
            runId: 'run-1',
            noted: notedAtMs,
          },
        );
      }
    });

    test('locations are kept apart to the byte', async () => {
      const table = 'tombstone.exact';
      const locations = [
        's3://w/a',
        's3a://w/a',
        's3://w/a ',
        's3://w/A',
        's3://w/a%20b',
        's3://w/a b',
        `s3://bucket/${'ä'.repeat(500)}`,
      ];

      await subject.harness.ledger.tombstones.add({ table, locations, reason: 'x', runId: 'r' });

      const listed = await readAll(subject.harness.other.tombstones.list(table));
      assert.deepEqual(listed.map(({ location }) => location).sort(), [...locations].sort());
    });

    test('an entry is removed, once and for good, unless it has been noted anew', async () => {
      const table = 'tombstone.remove';
      const batch = { table, locations: ['s3://w/a', 's3://w/b'], reason: 'x', runId: 'r' };
      await subject.harness.ledger.tombstones.add(batch);
      const entry = await requireTombstone(subject.harness.ledger, table, 's3://w/a');

      await subject.harness.other.tombstones.remove([entry]);
      await subject.harness.other.tombstones.remove([entry]);
      assert.deepEqual(await listLocations(subject.harness.ledger, table), ['s3://w/b']);

      await subject.harness.ledger.tombstones.add(batch);
      await subject.harness.other.tombstones.remove([entry]);
      assert.deepEqual(await listLocations(subject.harness.ledger, table), [
        's3://w/a',
        's3://w/b',
      ]);
    });

    test('an empty list is empty', async () => {
      const batch = { table: 'tombstone.none', locations: [], reason: 'x', runId: 'r' };

      await subject.harness.ledger.tombstones.add(batch);

      assert.deepEqual(await listLocations(subject.harness.ledger, 'tombstone.none'), []);
    });
  });
}

async function listLocations(ledger: Ledger, table: string): Promise<string[]> {
  return (await readAll(ledger.tombstones.list(table))).map(({ location }) => location).sort();
}

async function requireTombstone(
  ledger: Ledger,
  table: string,
  location: string,
): Promise<Tombstone> {
  const listed = await readAll(ledger.tombstones.list(table));
  const found = listed.find((tombstone) => tombstone.location === location);
  assert.ok(found !== undefined, `${location} is not on the list`);
  return found;
}
