import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compact } from '../../../cli/commands/compact.ts';
import { history } from '../../../cli/commands/history.ts';
import { why } from '../../../cli/commands/why.ts';
import { IcebergError, type JsonObject } from '../../../shared/base/index.ts';
import type { Warehouse } from '../../../shared/warehouse/index.ts';
import {
  answerOf,
  createTable,
  LOWERED_GUARDS,
  memoryWarehouse,
  smallFiles,
} from '../command-fixture.ts';

const SIX_FILES = ['eu', 'eu', 'eu', 'eu', 'eu', 'us'];
const TABLE = 'db.orders';

async function openTable() {
  const warehouse = memoryWarehouse();
  const writer = await createTable(warehouse, TABLE);
  await writer.append(smallFiles(SIX_FILES));
  return { warehouse, writer };
}

const NO_OPTIONS = { branch: 'main', dryRun: false, optionTexts: [], guards: LOWERED_GUARDS };

function runCompact(warehouse: Warehouse) {
  return answerOf((session) => compact({ table: TABLE, ...NO_OPTIONS }, session), warehouse);
}

function runHistory(warehouse: Warehouse, options: { isJson?: boolean; limit?: number } = {}) {
  const { limit = 20, ...others } = options;
  const request = { table: TABLE, reportCountMax: limit };
  return answerOf((session) => history(request, session), warehouse, others);
}

function runWhy(warehouse: Warehouse, options: { isJson?: boolean } = {}) {
  return answerOf((session) => why({ table: TABLE, branch: 'main' }, session), warehouse, options);
}

describe('history', () => {
  it('lists what was done and why, the newest first', async () => {
    const { warehouse } = await openTable();
    await runCompact(warehouse);

    const { exitCode, lines } = await runHistory(warehouse);

    assert.equal(exitCode, 0);
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? '', /^when +operation +outcome +why +what +took +price +run$/);
    assert.match(
      lines[1] ?? '',
      /^2026-11-30 12:00:00Z +rewrite-data-files +committed +enough-input-files +files 6 -> 2, 2\.4 KiB -> 3\.0 KiB +0 ms +\$0\.0000\d\d +[0-9a-f-]{36}$/,
    );
  });

  it('tells the message of a run that failed', async () => {
    const { warehouse, writer } = await openTable();
    const { metadata } = await writer.load();
    await warehouse.store.delete([metadata.snapshots[0]?.manifestList ?? '']);
    await runCompact(warehouse);

    const { lines } = await runHistory(warehouse);

    assert.match(lines[1] ?? '', /failed +not-found +.*snap-/);
  });

  it('has nothing to tell of a table that Firn never saw, and ends so', async () => {
    const { warehouse } = await openTable();

    const { exitCode, lines } = await runHistory(warehouse);

    assert.deepEqual([exitCode, lines], [3, ['db.orders: no reports']]);
  });

  it('fails for a table that does not exist', async () => {
    const { exitCode, lines, errorText } = await runHistory(memoryWarehouse());

    assert.deepEqual([exitCode, lines], [1, []]);
    assert.match(errorText, /^error \(not-found\): memory catalog: has no table db\.orders\n/);
  });

  it('still tells what was done to a table that is gone', async () => {
    const { warehouse, writer } = await openTable();
    await runCompact(warehouse);
    warehouse.catalog.dropTable(writer.identifier);

    const { exitCode, lines } = await runHistory(warehouse);

    assert.deepEqual([exitCode, lines.length], [0, 2]);
  });

  it('stops at the limit, and says so', async () => {
    const { warehouse, writer } = await openTable();
    await runCompact(warehouse);
    await writer.append(smallFiles(SIX_FILES));
    await runCompact(warehouse);

    const { lines } = await runHistory(warehouse, { limit: 1 });

    assert.equal(lines.at(-1), 'the newest 1; more with --limit');
  });

  it('with --json has all facts of each report', async () => {
    const { warehouse, writer } = await openTable();
    await runCompact(warehouse);

    const { document } = await runHistory(warehouse, { isJson: true });

    const reports = (document?.['reports'] ?? []) as readonly JsonObject[];
    const facts = reports[0]?.['facts'] as JsonObject | undefined;
    const { metadata } = await writer.load();
    assert.deepEqual(facts?.['snapshotIds'], [String(metadata.currentSnapshotId)]);
  });
});

describe('why', () => {
  it('says what is due, what is not and why, who works on it, and what was before', async () => {
    const { warehouse } = await openTable();
    await warehouse
      .openLedger()
      .leases.acquire({ table: TABLE, scope: 'rewrite', owner: 'run-7', durationMs: 60_000 });

    const { exitCode, lines } = await runWhy(warehouse);

    assert.equal(exitCode, 3);
    assert.ok(lines.includes('to rewrite: nothing'), lines.join('\n'));
    assert.ok(lines.some((line) => /6 +2\.4 KiB +written so lately/.test(line)));
    assert.ok(lines.some((line) => line.startsWith('the first young file may be rewritten at')));
    assert.ok(
      lines.includes(
        'the table has no firn.enabled: deployments change it only if their list names it',
      ),
    );
    assert.ok(lines.includes('run run-7 is working on it until 2026-11-30 12:01:00Z or later'));
    assert.equal(lines.at(-1), 'db.orders: no reports');
  });

  it('tells what a deployment planned last, and what its next plan begins with', async () => {
    const { warehouse } = await openTable();
    const dayMs = 24 * 60 * 60_000;
    const atMs = Date.UTC(2026, 10, 30);
    const plan = {
      snapshotId: 7n,
      atMs,
      untilMs: 0,
      mode: 'commit',
      fullAtMs: atMs - dayMs,
    } as const;
    const remember = (stateLocation?: string) =>
      warehouse.openLedger().states.change(TABLE, (state) => ({
        ...state,
        operations: {
          'rewrite-data-files': {
            plan: { ...plan, ...(stateLocation === undefined ? {} : { stateLocation }) },
            roundCount: 0,
            failureCount: 0,
          },
        },
      }));

    await remember();
    const whole = await runWhy(warehouse);
    await remember('s3://firn-state/plan');
    const goingOn = await runWhy(warehouse);
    const { document } = await runWhy(warehouse, { isJson: true });

    const last =
      'planned last: 2026-11-30 00:00:00Z, snapshot 7; the whole table: 2026-11-29 00:00:00Z; ';
    assert.ok(whole.lines.includes(`${last}the next plan will be of the whole table`));
    assert.ok(goingOn.lines.includes(`${last}the next plan goes on from what it kept`));
    assert.deepEqual(document?.['lastPlan'], {
      atMs,
      snapshotId: '7',
      fullAtMs: atMs - dayMs,
      stateLocation: 's3://firn-state/plan',
    });
  });

  it('writes nothing, not even a report', async () => {
    const { warehouse } = await openTable();

    await runWhy(warehouse);

    assert.deepEqual((await runHistory(warehouse)).lines, ['db.orders: no reports']);
  });

  it('goes without a ledger, and says so', async () => {
    const { warehouse } = await openTable();
    const openLedger = () => {
      throw new IcebergError('invalid-config', 'ledger: nothing says where its state goes');
    };

    const { lines } = await runWhy({ ...warehouse, openLedger });
    const { document } = await runWhy({ ...warehouse, openLedger }, { isJson: true });

    assert.equal(lines.at(-1), 'no history: ledger: nothing says where its state goes');
    assert.deepEqual(document?.['ledger'], {
      problem: 'ledger: nothing says where its state goes',
    });
  });
});

describe('compact of a busy table', () => {
  it('says who works on it, and fails', async () => {
    const { warehouse } = await openTable();
    await warehouse
      .openLedger()
      .leases.acquire({ table: TABLE, scope: 'rewrite', owner: 'run-7', durationMs: 60_000 });

    const { exitCode, lines } = await runCompact(warehouse);

    assert.equal(exitCode, 1);
    assert.deepEqual(lines.slice(0, 1), [
      'db.orders: busy, run run-7 is working on it until 2026-11-30 12:01:00Z or later; nothing was done',
    ]);
  });
});
