import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compact } from '../../cli/commands/compact.ts';
import { history } from '../../cli/commands/history.ts';
import { inspect } from '../../cli/commands/inspect.ts';
import { why } from '../../cli/commands/why.ts';
import { COPY_COUNT } from '../../local/demo/parameters.ts';
import { isJsonObject, type JsonObject } from '../../shared/base/index.ts';
import { createShippedDeployment, type ShippedDeployment } from './shipped-deployment.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Files that would be rewritten, of each table with work; the others say why they have none. */
const DUE: Readonly<Record<string, number>> = {
  'demo.clicks': 24,
  // Those that Spark wrote, and the demo's copies of each.
  'demo.events': 48 * (1 + COPY_COUNT),
  'own.small_v1': 12,
  'own.small_v2': 12,
  'own.small_v3': 12,
};

const NOT_ALLOWED = 'neither the deployment nor the table allows it';

const COMPACT = { branch: 'main', optionTexts: [], guards: {} } as const;

/** With files that are two days old, so that none is too young. */
async function openOldTables(): Promise<ShippedDeployment> {
  const deployment = await createShippedDeployment();
  deployment.clock.advanceMs(2 * DAY_MS);
  return deployment;
}

function outcomeOf(table: string): string {
  if (table === 'own.empty') return 'no-snapshot';
  return Object.hasOwn(DUE, table) ? 'observed' : 'nothing-planned';
}

describe('the shipped defaults, when every table is woken for', () => {
  it('write nothing to any table, and log what would have been done', async () => {
    const deployment = await openOldTables();
    const before = await deployment.photograph();

    const { answer, lines } = await deployment.wakeForAll();

    assert.deepEqual(await deployment.photograph(), before);
    assert.deepEqual(answer, { batchItemFailures: [] });
    assert.deepEqual(
      lines.map(({ table, outcome, permission }) => [table, outcome, permission]),
      deployment.tableNames.map((name) => [name, outcomeOf(name), NOT_ALLOWED]),
    );
    const due = lines.flatMap(({ table, outcome, plannedFileCount }) =>
      outcome === 'observed' ? [[table, plannedFileCount]] : [],
    );
    assert.deepEqual(Object.fromEntries(due), DUE);
  });

  it('leave a report of each table, once, and no run, lease, intent or tombstone', async () => {
    const deployment = await openOldTables();
    await deployment.wakeForAll();

    await deployment.wakeForAll();

    const { ledger, items, tableNames } = deployment;
    for (const table of tableNames) {
      const { reports } = await ledger.reports.list({ table, reportCountMax: 10 });
      const planned = reports.map(({ facts }) => facts['plannedFileCount']);
      assert.deepEqual([table, reports.map(({ outcome }) => outcome)], [table, [outcomeOf(table)]]);
      if (Object.hasOwn(DUE, table)) {
        assert.equal(reports[0]?.reason, 'observing');
        assert.deepEqual([table, planned], [table, [DUE[table]]]);
      }
      const kinds = items.snapshot(table).map(({ sort }) => sort.split('#')[0]);
      assert.deepEqual(kinds, ['report', 'report-of', 'skip', 'state'], table);
    }
  });

  it('leave young files alone, and say so', async () => {
    const deployment = await createShippedDeployment();
    const before = await deployment.photograph();

    const { lines } = await deployment.wakeForAll();

    assert.deepEqual(await deployment.photograph(), before);
    const skipped = new Map(lines.map(({ table, skipped: text }) => [table, String(text)]));
    assert.equal(skipped.get('own.small_v2'), 'too-young: 12');
    // Those that Spark wrote are hours old, the copies are not.
    assert.equal(skipped.get('demo.events'), `too-young: ${48 * COPY_COUNT}`);
  });
});

describe('the first table that is allowed', () => {
  it('is compacted by the same deployment, and no other', async () => {
    const deployment = await openOldTables();
    const writer = deployment.writerOf('own.small_v2');
    await writer.setProperties({ 'firn.enabled': 'true' });
    const before = await deployment.photograph();

    const { lines } = await deployment.wakeForAll();

    assert.notDeepEqual(await deployment.photograph(), before);
    const changed = lines.flatMap(({ table, outcome }) =>
      outcome !== undefined && outcome !== outcomeOf(String(table)) ? [[table, outcome]] : [],
    );
    assert.deepEqual(changed, [['own.small_v2', 'committed']]);
  });
});

describe('the firn command, as shipped', () => {
  it('inspects, explains, prices and looks back without writing anything to a table', async () => {
    const deployment = await openOldTables();
    await deployment.wakeForAll();
    const before = await deployment.photograph();

    for (const table of deployment.tableNames) {
      const exitCode = Object.hasOwn(DUE, table) ? 0 : 3;
      const inspected = await deployment.firn((session) =>
        inspect(table, { files: true }, session),
      );
      const explained = await deployment.firn((session) => why({ table, branch: 'main' }, session));
      const planned = await deployment.firn((session) =>
        compact({ table, dryRun: true, ...COMPACT }, session),
      );
      const told = await deployment.firn((session) =>
        history({ table, reportCountMax: 20 }, session),
      );

      assert.deepEqual(
        [table, inspected, explained, planned, told].map((each) =>
          typeof each === 'string' ? each : each.exitCode,
        ),
        [table, 0, exitCode, exitCode, 0],
      );
      assert.match(told.text, new RegExp(` rewrite-data-files +${outcomeOf(table)} `), table);
    }

    assert.deepEqual(await deployment.photograph(), before);
  });

  it('says of each table with work how much, why and for what price', async () => {
    const deployment = await openOldTables();
    await deployment.wakeForAll();

    for (const [table, fileCount] of Object.entries(DUE)) {
      const explained = await deployment.firn((session) => why({ table, branch: 'main' }, session));
      const planned = await deployment.firn((session) =>
        compact({ table, dryRun: true, ...COMPACT }, session),
      );
      const told = await deployment.firn((session) =>
        history({ table, reportCountMax: 20 }, session),
      );

      for (const { text } of [explained, planned]) {
        assert.match(text, new RegExp(`^to rewrite: ${fileCount} files, .* in \\d+ groups?$`, 'm'));
        assert.match(text, /5 files or more/);
      }
      assert.match(explained.text, /^the table has no firn\.enabled: /m);
      assert.match(planned.text, /^estimated price on AWS: \$0\.00/m);
      assert.match(planned.text, /^dry run: nothing was written$/m);
      assert.match(told.text, new RegExp(` observed +observing +${fileCount} files to rewrite `));
    }
  });

  it('gives programs the same plan, group by group', async () => {
    const deployment = await openOldTables();

    const { document } = await deployment.firn(
      (session) => compact({ table: 'own.small_v2', dryRun: true, ...COMPACT }, session),
      true,
    );

    assert.equal(document?.['outcome'], 'observed');
    const plan = document['plan'];
    assert.ok(isJsonObject(plan) && Array.isArray(plan['groups']));
    const groups = plan['groups'] as readonly JsonObject[];
    assert.deepEqual(
      groups.map(({ files, reason }) => [Array.isArray(files) && files.length, reason]),
      [[12, 'enough-input-files']],
    );
  });

  it('compacts on a person’s word, but no young files', async () => {
    const deployment = await createShippedDeployment();
    const before = await deployment.photograph();

    const { exitCode, text } = await deployment.firn((session) =>
      compact({ table: 'own.small_v2', dryRun: false, ...COMPACT }, session),
    );

    assert.equal(exitCode, 3);
    assert.match(text, /written so lately that other jobs may be working on them/);
    assert.deepEqual(await deployment.photograph(), before);
  });
});
