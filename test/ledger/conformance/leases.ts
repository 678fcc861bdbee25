import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Ledger } from '../../../shared/ledger/index.ts';
import { LEASE_MS, type LedgerHarness, type LedgerUnderTest } from './subject.ts';

export function testLeases(subject: LedgerUnderTest): void {
  const { acquire, clock, requireLease } = subject;

  describe('leases', () => {
    test('a free lease is granted, with what was asked for', async () => {
      const lease = await requireLease('lease.free');

      assert.equal(lease.table, 'lease.free');
      assert.equal(lease.scope, 'rewrite');
      assert.equal(lease.fencingNumber, 1);
      assert.equal(lease.remainingMs(), LEASE_MS);
      assert.equal(await subject.harness.other.leases.isHeld(lease), true);
    });

    test('of 20 requests at once, one is granted, and the others learn whose it is', async () => {
      const owners = Array.from({ length: 20 }, (_, index) => `owner-${index}`);

      const outcomes = await Promise.all(
        owners.map((owner, index) =>
          acquire(
            'lease.race',
            index % 2 === 0 ? subject.harness.ledger : subject.harness.other,
            owner,
          ),
        ),
      );

      const granted = outcomes.flatMap((each) => (each.outcome === 'acquired' ? each.lease : []));
      assert.equal(granted.length, 1);
      assert.equal(granted[0]?.fencingNumber, 1);
      const busy = outcomes.filter((each) => each.outcome === 'busy');
      assert.equal(busy.length, 19);
      for (const each of busy) {
        assert.equal(each.owner, granted[0]?.owner);
        assert.equal(each.expiresAtMs, clock.nowMs() + LEASE_MS);
      }
    });

    test('it is busy until the millisecond of its expiry, by the clock of who asks', async () => {
      const lease = await requireLease('lease.expiry');

      clock.advanceMs(LEASE_MS - 1);
      assert.equal((await acquire('lease.expiry', subject.harness.other)).outcome, 'busy');
      assert.equal(await subject.harness.other.leases.isHeld(lease), true);
      clock.advanceMs(1);
      assert.equal(await subject.harness.other.leases.isHeld(lease), false);
      const next = await requireLease('lease.expiry', subject.harness.other);

      assert.equal(next.fencingNumber, 2);
      assert.equal(lease.remainingMs(), 0);
    });

    test('the fencing number grows with every grant: after release, after expiry', async () => {
      const numbers: number[] = [];
      for (let round = 0; round < 6; round++) {
        const lease = await requireLease('lease.fencing', pick(subject.harness, round));
        numbers.push(lease.fencingNumber);
        if (round % 2 === 0) await lease.release();
        else clock.advanceMs(LEASE_MS);
      }

      assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6]);
    });

    test('leases of other scopes and other tables are other leases', async () => {
      await requireLease('lease.scopes');

      const scope = await subject.harness.ledger.leases.acquire({
        table: 'lease.scopes',
        scope: 'statistics',
        owner: 'other',
        durationMs: LEASE_MS,
      });

      assert.equal(scope.outcome, 'acquired');
      assert.equal((await acquire('lease.scopes.below')).outcome, 'acquired');
    });

    test('renewing sets the expiry anew, again and again', async () => {
      const lease = await requireLease('lease.renew');

      for (let round = 0; round < 3; round++) {
        clock.advanceMs(LEASE_MS - 1);
        assert.equal(await lease.renew(LEASE_MS), 'renewed');
        assert.equal(lease.remainingMs(), LEASE_MS);
      }

      clock.advanceMs(LEASE_MS - 1);
      assert.equal((await acquire('lease.renew', subject.harness.other)).outcome, 'busy');
    });

    test('an expired lease that nobody took can be renewed', async () => {
      const lease = await requireLease('lease.late-renewal');
      clock.advanceMs(2 * LEASE_MS);

      assert.equal(await lease.renew(LEASE_MS), 'renewed');

      assert.equal(await subject.harness.other.leases.isHeld(lease), true);
    });

    test('a lease that somebody else took is lost: no renewal, no release', async () => {
      const lease = await requireLease('lease.lost');
      clock.advanceMs(LEASE_MS);
      const next = await requireLease('lease.lost', subject.harness.other);

      assert.equal(await lease.renew(LEASE_MS), 'lost');
      assert.equal(await lease.release(), 'lost');

      assert.equal(lease.remainingMs(), 0);
      assert.equal(await subject.harness.ledger.leases.isHeld(next), true);
      assert.equal(await subject.harness.ledger.leases.isHeld(lease), false);
    });

    test('a released lease is free at once, and over for its owner', async () => {
      const lease = await requireLease('lease.release');

      assert.equal(await lease.release(), 'released');

      assert.equal(lease.remainingMs(), 0);
      assert.equal(await lease.renew(LEASE_MS), 'lost');
      assert.equal((await acquire('lease.release', subject.harness.other)).outcome, 'acquired');
    });

    test('renewals and a release that overlap take effect in turn', async () => {
      const lease = await requireLease('lease.turns');

      const outcomes = await Promise.all([
        lease.renew(LEASE_MS),
        lease.renew(LEASE_MS),
        lease.release(),
        lease.renew(LEASE_MS),
      ]);

      assert.deepEqual(outcomes, ['renewed', 'renewed', 'released', 'lost']);
    });

    test('a lease that was never granted is not held', async () => {
      const grant = { table: 'lease.none', scope: 'rewrite', owner: 'a', fencingNumber: 1 };

      assert.equal(await subject.harness.ledger.leases.isHeld(grant), false);
    });
  });
}

function pick(harness: LedgerHarness, index: number): Ledger {
  return index % 2 === 0 ? harness.ledger : harness.other;
}
