import { after, before, describe } from 'node:test';
import type { ManualClock } from '../../shared/base/index.ts';
import { testItems } from './conformance/items.ts';
import { testLeases } from './conformance/leases.ts';
import { testRecords } from './conformance/records.ts';
import { testReports } from './conformance/reports.ts';
import { testRuns } from './conformance/runs.ts';
import { testStates } from './conformance/states.ts';
import { type LedgerHarness, LedgerUnderTest } from './conformance/subject.ts';
import { testTombstones } from './conformance/tombstones.ts';

/** The contract of `Ledger`, on any adapter. Every test works on tables of its own. */
export function testLedgerConformance(
  adapter: string,
  open: (clock: ManualClock) => Promise<LedgerHarness>,
): void {
  describe(`${adapter}: ledger conformance`, () => {
    const subject = new LedgerUnderTest();
    before(() => subject.open(open));
    after(() => subject.harness.close());

    testLeases(subject);
    testRuns(subject);
    testTombstones(subject);
    testReports(subject);
    testStates(subject);
    testRecords(subject);
    testItems(subject);
  });
}
