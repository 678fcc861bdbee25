import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judgeReports } from '../../local/demo/judge-reports.ts';
import { noteOfLogLine } from '../../local/demo/log-notes.ts';
import { momentLine, noteLine } from '../../local/demo/timeline.ts';
import type { JsonObject } from '../../shared/base/index.ts';
import type { Report } from '../../shared/ledger/index.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

describe('a line of the timeline', () => {
  const moment = {
    elapsedMs: 12_345,
    fileCount: 100,
    writerCommitCount: 12,
    firnCommitCount: 3,
    dollars: 0.000412,
    hasCommitted: true,
  };

  test('shows files to an eighth of a column, commits and dollars', () => {
    const line = momentLine(moment, 150);

    assert.equal(
      line,
      `  12 s   ${'█'.repeat(21)}▍${' '.repeat(10)} 100      12     3 ▼   $0.000412`,
    );
  });

  test('is as wide with no file and with more files than expected', () => {
    const widths = [0, 75, 500].map(
      (fileCount) => momentLine({ ...moment, fileCount }, 150).length,
    );

    assert.equal(new Set(widths).size, 1);
  });

  test('is followed by notes that fit the terminal', () => {
    assert.equal(noteLine('routing', 'x'.repeat(200), 80).length, 80);
  });
});

describe('notes of log lines', () => {
  const note = (fields: JsonObject) => noteOfLogLine(JSON.stringify({ level: 'info', ...fields }));

  test('say who did what to which table, and what was left alone', () => {
    const run = { event: 'run.finished', operation: 'rewrite-data-files', table: 'demo.events' };

    assert.deepEqual(note({ ...run, message: '9 files became 1', skipped: 'too-young: 8' }), {
      who: 'rewrite-data-files',
      text: 'demo.events: 9 files became 1 (left alone: too-young: 8)',
    });
    assert.deepEqual(note({ event: 'look.failed', operation: 'routing', message: 'no answer' }), {
      who: 'routing',
      text: 'no answer',
    });
  });

  test('show messages that are queued, and nothing else for machines', () => {
    const queued = { level: 'debug', event: 'operation.queued', message: 'it for a.b: why' };

    assert.deepEqual(note(queued), { who: 'routing', text: 'queues it for a.b: why' });
    assert.equal(note({ level: 'debug', event: 'request.retried', message: 'm' }), undefined);
    assert.equal(note({ event: 'sweep.finished', message: 'm' }), undefined);
    assert.equal(noteOfLogLine('7'), undefined);
  });
});

describe('the judgement of reports', () => {
  const base: Report = {
    runId: 'run-1',
    table: 'demo.events',
    operation: 'rewrite-data-files',
    outcome: 'committed',
    reason: 'too-small',
    createdAtMs: 0,
    facts: {},
  };

  async function judge(
    reports: readonly Report[],
    skippedFiles: JsonObject = { 'too-young': { fileCount: 1 } },
  ): Promise<string[]> {
    const ledger = memoryLedger();
    const details = { plan: { skippedFiles, skippedGroups: { 'too-few-files': {} } } };
    for (const report of reports) await ledger.reports.writeRun(report, details);
    return judgeReports(reports, ledger);
  }

  test('finds nothing where groups were committed or left for an expected reason', async () => {
    assert.deepEqual(await judge([base]), []);
  });

  test('finds that there is no commit', async () => {
    assert.deepEqual(await judge([{ ...base, outcome: 'held-back' }]), [
      'no commit of Firn in 1 report',
    ]);
  });

  test('finds files that were left for another reason', async () => {
    assert.deepEqual(await judge([base], { 'unsupported-format': { fileCount: 1 } }), [
      'run run-1: skipped for unsupported-format',
    ]);
  });

  test('finds runs that failed, and groups that were lost', async () => {
    const failed = { ...base, runId: 'run-2', outcome: 'failed', reason: 'unavailable' };
    const partial = { ...base, facts: { droppedGroupCount: 2, failedGroupCount: 0 } };

    assert.deepEqual(await judge([failed, partial]), [
      'run run-1: droppedGroupCount 2',
      'run run-2: failed, unavailable',
    ]);
  });
});
