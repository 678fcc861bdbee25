import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Ledger } from '../../../shared/ledger/index.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import { readAll } from '../ledger-values.ts';
import type { LedgerUnderTest } from './subject.ts';

export function testRecords(subject: LedgerUnderTest): void {
  const { clock } = subject;

  describe('records', () => {
    const reads: [string, string, (ledger: Ledger, table: string) => Promise<unknown>][] = [
      [
        'lease',
        'lease#rewrite',
        (ledger, table) =>
          ledger.leases.acquire({ table, scope: 'rewrite', owner: 'o', durationMs: 1 }),
      ],
      ['run', 'run#r', (ledger, table) => ledger.runs.read(table, 'r')],
      ['open run', 'open-run#r', (ledger, table) => ledger.runs.listOpen(table)],
      ['tombstone', 'tombstone#t', (ledger, table) => readAll(ledger.tombstones.list(table))],
      [
        'report',
        'report#00000000000001#r',
        (ledger, table) => ledger.reports.list({ table, reportCountMax: 1 }),
      ],
      ['state', 'state', (ledger, table) => ledger.states.read(table)],
      ['report index', 'report-of#r', (ledger, table) => ledger.reports.read(table, 'r')],
      [
        'skip',
        'skip#rewrite-data-files',
        (ledger, table) =>
          ledger.reports.writeSkip({
            runId: 'r',
            table,
            operation: 'rewrite-data-files',
            outcome: 'skipped',
            reason: 'x',
            createdAtMs: 1,
            facts: {},
          }),
      ],
    ];
    for (const [what, sort, read] of reads) {
      test(`a ${what} of a later version is unsupported, and one that is none is invalid`, async () => {
        const bodies = [
          { kind: 'unsupported', body: { 'format-version': 2 } },
          { kind: 'invalid-data', body: { 'format-version': 1 } },
          { kind: 'invalid-data', body: { 'format-version': 0 } },
          { kind: 'invalid-data', body: { 'format-version': 'one' } },
          { kind: 'invalid-data', body: {} },
        ] as const;
        for (const [index, { kind, body }] of bodies.entries()) {
          const partition = `record.${what.replace(' ', '-')}-${index}`;
          await subject.harness.items.write({ partition, sort, revision: 'v', body }, undefined);

          await assert.rejects(read(subject.harness.ledger, partition), errorOfKind(kind));
        }
      });
    }

    test('an item too large for the store is refused before it is sent', async () => {
      const large = { text: 'x'.repeat(400_000) };
      const report = {
        runId: 'large',
        table: 'record.large',
        operation: 'x',
        outcome: 'x',
        reason: 'x',
        createdAtMs: clock.nowMs(),
        facts: large,
      };

      await assert.rejects(
        subject.harness.ledger.reports.writeRun(report),
        errorOfKind('unsupported', /exceed the limit of 393216/),
      );
    });
  });
}
