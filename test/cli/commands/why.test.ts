import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { why } from '../../../cli/commands/why.ts';
import type { JsonObject } from '../../../shared/base/index.ts';
import type { OperationState } from '../../../shared/ledger/index.ts';
import { answerOf, createTable, memoryWarehouse, smallFiles } from '../command-fixture.ts';

const TABLE = 'db.orders';
const HOUR_MS = 3_600_000;

async function openTable(properties: Readonly<Record<string, string>> = {}) {
  const warehouse = memoryWarehouse();
  const writer = await createTable(warehouse, TABLE, { properties });
  await writer.append(smallFiles(['eu', 'us']));
  const run = (isJson = false) =>
    answerOf((session) => why({ table: TABLE, branch: 'main' }, session), warehouse, { isJson });
  const remember = (operation: Partial<OperationState>) =>
    warehouse.openLedger().states.change(TABLE, (state) => ({
      ...state,
      operations: { 'rewrite-data-files': { roundCount: 0, failureCount: 0, ...operation } },
    }));
  return { warehouse, writer, run, remember, nowMs: warehouse.clock.nowMs() };
}

describe('why: routing', () => {
  it('says of a table that no deployment knows what would be due', async () => {
    const { run } = await openTable();

    const { lines } = await run();

    assert.ok(
      lines.includes('rewrite-data-files: waiting until 2026-11-30 14:00:00Z (never-planned)'),
      lines.join('\n'),
    );
    assert.ok(lines.includes('no deployment has looked at the table yet'));
  });

  it('shows each trigger with its value, its threshold and its property, and the next look', async () => {
    const { run, remember, writer, nowMs } = await openTable({ 'firn.enabled': 'true' });
    const { metadata } = await writer.load();
    const snapshotId = metadata.currentSnapshotId ?? -1n;
    const atMs = nowMs - HOUR_MS;
    await remember({ plan: { snapshotId, atMs, untilMs: nowMs, mode: 'commit' } });
    await writer.append(smallFiles(['eu', 'eu', 'us']));
    await remember({
      plan: { snapshotId, atMs, untilMs: nowMs - 1, mode: 'commit' },
      dueAtMs: nowMs + HOUR_MS,
    });

    const { lines } = await run();
    const { document } = await run(true);

    const property = 'firn.rewrite-data-files.trigger.commit-count';
    assert.ok(
      lines.some(
        (line) => line.includes('commit-count: 2 of 10 commits') && line.endsWith(property),
      ),
      lines.join('\n'),
    );
    assert.ok(
      lines.some((line) => /interval: 60 of 360 min +met at 2026-11-30 17:00:00Z/.test(line)),
    );
    assert.ok(lines.includes('next look: with the next commit, or from 2026-11-30 13:00:00Z on'));
    const routing = document?.['routing'] as JsonObject;
    assert.equal(routing['nextLookAtMs'], nowMs + HOUR_MS);
    const [compaction] = routing['operations'] as readonly JsonObject[];
    assert.deepEqual(
      [compaction?.['standing'], compaction?.['reason'], compaction?.['dueAtMs']],
      ['waiting', 'interval', nowMs + 5 * HOUR_MS],
    );
  });

  it('takes a table that was allowed at its last plan to be allowed', async () => {
    const { run, remember, writer, nowMs } = await openTable();
    const { metadata } = await writer.load();
    const plan = { snapshotId: metadata.currentSnapshotId ?? -1n, atMs: nowMs, untilMs: nowMs };

    await remember({ plan: { ...plan, mode: 'observe' } });
    const observed = await run();
    await remember({ plan: { ...plan, mode: 'commit' } });
    const allowed = await run();

    for (const { lines } of [observed, allowed]) {
      assert.ok(lines.includes('rewrite-data-files: idle (nothing-added)'), lines.join('\n'));
      assert.ok(lines.includes('next look: with the next commit'));
    }
  });

  it('says so where the table is off', async () => {
    const { lines } = await (await openTable({ 'firn.enabled': 'false' })).run();

    assert.ok(lines.includes('rewrite-data-files: off (table-disabled)'), lines.join('\n'));
  });

  it('refuses a trigger that is malformed', async () => {
    const key = 'firn.rewrite-data-files.trigger.commit-count';

    const { errorText } = await (await openTable({ [key]: 'ten' })).run();

    assert.match(errorText, /invalid-config.*commit-count: value ten/);
  });
});
