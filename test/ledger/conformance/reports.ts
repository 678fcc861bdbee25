import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Report } from '../../../shared/ledger/index.ts';
import type { LedgerUnderTest } from './subject.ts';

export function testReports(subject: LedgerUnderTest): void {
  const { clock, openRun } = subject;

  describe('reports', () => {
    const report = (table: string, runId: string, more: Partial<Report> = {}): Report => ({
      runId,
      table,
      operation: 'rewrite-data-files',
      outcome: 'committed',
      reason: 'small-files',
      createdAtMs: clock.nowMs(),
      facts: { files: 12, 'snapshot-id': 9_007_199_254_740_993n },
      ...more,
    });

    test('are listed the newest first, page after page', async () => {
      const table = 'report.pages';
      for (let index = 0; index < 7; index++) {
        clock.advanceMs(1);
        await subject.harness.ledger.reports.writeRun(report(table, `run-${index}`));
      }

      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await subject.harness.other.reports.list({
          table,
          reportCountMax: 3,
          ...(cursor === undefined ? {} : { cursor }),
        });
        pages.push(page.reports.map(({ runId }) => runId));
        cursor = page.cursor;
      } while (cursor !== undefined);

      assert.deepEqual(pages, [
        ['run-6', 'run-5', 'run-4'],
        ['run-3', 'run-2', 'run-1'],
        ['run-0'],
      ]);
    });

    test('are read by run id, with their details', async () => {
      const table = 'report.details';
      const plan = { groups: [{ files: ['s3://w/a'], bytes: 123 }] };
      await subject.harness.ledger.reports.writeRun(report(table, 'with'), plan);
      await subject.harness.ledger.reports.writeRun(report(table, 'without'));

      assert.deepEqual(await subject.harness.other.reports.read(table, 'with'), {
        report: report(table, 'with'),
        details: plan,
      });
      assert.deepEqual(await subject.harness.other.reports.read(table, 'without'), {
        report: report(table, 'without'),
      });
      assert.equal(await subject.harness.other.reports.read(table, 'none'), undefined);
      assert.deepEqual(
        await subject.harness.other.reports.list({ table: 'report.none', reportCountMax: 5 }),
        {
          reports: [],
        },
      );
    });

    test('large details go to the state store, and come back', async () => {
      const table = 'report.large';
      const plan = { files: Array.from({ length: 40_000 }, (_, index) => `s3://w/${index}`) };

      await subject.harness.ledger.reports.writeRun(report(table, 'large'), plan);

      const stored = await subject.harness.other.reports.read(table, 'large');
      assert.deepEqual(stored?.details, plan);
    });

    test('of two reports of one run the first counts', async () => {
      const table = 'report.twice';
      const first = report(table, 'run');
      await subject.harness.ledger.reports.writeRun(first);
      clock.advanceMs(10);

      await subject.harness.other.reports.writeRun(report(table, 'run', { outcome: 'partial' }));

      const page = await subject.harness.ledger.reports.list({ table, reportCountMax: 10 });
      assert.deepEqual(page.reports, [first]);
    });

    test('a skip is reported when its reason differs from the last one, or a run came between', async () => {
      const table = 'report.skips';
      const { reports } = subject.harness.ledger;
      let count = 0;
      const skip = (reason: string, operation = 'rewrite-data-files') => {
        clock.advanceMs(1);
        const more = { outcome: 'skipped', reason, operation };
        return reports.writeSkip(report(table, `skip-${++count}`, more));
      };

      assert.equal(await skip('files-too-young'), 'written');
      assert.equal(await skip('files-too-young'), 'unchanged');
      assert.equal(await skip('files-too-young', 'rewrite-manifests'), 'written');
      assert.equal(await skip('lease-busy'), 'written');
      assert.equal(await skip('files-too-young'), 'written');
      clock.advanceMs(1);
      await reports.writeRun(report(table, 'run'));
      assert.equal(await skip('files-too-young'), 'written');

      const { reports: listed } = await reports.list({ table, reportCountMax: 10 });
      assert.deepEqual(
        listed.map(({ runId }) => runId),
        ['skip-6', 'run', 'skip-5', 'skip-4', 'skip-3', 'skip-1'],
      );
    });

    test('are gone after 92 days, whatever the store still has', async () => {
      const table = 'report.expired';
      await subject.harness.ledger.reports.writeRun(report(table, 'old'));
      clock.advanceMs(92 * 24 * 3_600_000 - 1);
      assert.equal(
        (await subject.harness.ledger.reports.list({ table, reportCountMax: 5 })).reports.length,
        1,
      );

      clock.advanceMs(1000);

      assert.deepEqual(await subject.harness.ledger.reports.list({ table, reportCountMax: 5 }), {
        reports: [],
      });
      assert.equal(await subject.harness.ledger.reports.read(table, 'old'), undefined);
    });

    test('only reports and their places have an end', async () => {
      const table = 'report.lifetime';
      const { lease, run } = await openRun(table);
      await subject.harness.ledger.tombstones.add({
        table,
        locations: ['s3://w/a'],
        reason: 'x',
        runId: 'r',
      });
      await subject.harness.ledger.reports.writeRun(report(table, run.runId));
      await subject.harness.ledger.reports.writeSkip(report(table, 'skip', { operation: 'other' }));
      await lease.release();

      const query = {
        partition: table,
        sortPrefix: '',
        order: 'ascending',
        itemCountMax: 100,
      } as const;
      const ending = (await subject.harness.items.query({ ...query, sortPrefix: 'r' })).filter(
        ({ expiresAtMs }) => expiresAtMs !== undefined,
      );

      assert.equal(ending.length, 4);
      assert.ok(ending.every(({ sort }) => sort.startsWith('report')));
      for (const sortPrefix of ['lease', 'open-run', 'run', 'skip', 'tombstone']) {
        for (const item of await subject.harness.items.query({ ...query, sortPrefix })) {
          assert.equal(item.expiresAtMs, undefined, item.sort);
        }
      }
    });
  });
}
