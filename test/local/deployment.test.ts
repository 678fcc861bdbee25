import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deployLocally } from '../../local/deployment/index.ts';
import { ItemStream, type StreamFaults } from '../../local/stream/index.ts';
import { TableWriter } from '../../local/table-writer/index.ts';
import { isJsonObject, ManualClock, parseJson, seededRandom } from '../../shared/base/index.ts';
import {
  type Catalog,
  formatNamespace,
  formatTableIdentifier,
  MemoryCatalog,
  parseTableIdentifier,
  type TableIdentifier,
} from '../../shared/catalog/index.ts';
import { DEFAULT_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const MINUTE_MS = 60_000;
const TABLE = 'db.orders';

/** As shipped, but for the table that is allowed. */
const SETTINGS = {
  enabledTables: [TABLE],
  isObserving: false,
  guards: DEFAULT_GUARD_SETTINGS,
  routingIntervalMsFloor: MINUTE_MS,
  messageVisibilityMs: 180_000,
  logLevel: 'info',
} as const;

async function open(faults: StreamFaults = {}) {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(4);
  const limits = { shardCount: 2, viewType: 'KEYS_ONLY' } as const;
  const stream = new ItemStream({
    tableName: 'iceberg',
    region: 'us-east-1',
    ...limits,
    clock,
    random: seededRandom(5),
    faults,
  });
  const catalog = withStream(new MemoryCatalog({ clock, random }), stream);
  const store = new MemoryObjectStore({ clock });
  const ledger = memoryLedger({ clock });
  const warehouse = { catalogUrl: 'memory:', catalog, store, openLedger: () => ledger };
  const outcomes: string[] = [];
  const firn = deployLocally({
    cloud: { warehouse, clock, random },
    stream,
    settings: SETTINGS,
    logDestination: {
      write: (line) => {
        const fields = parseJson(line, 'log line');
        if (!isJsonObject(fields)) return;
        if (String(fields['event']).startsWith('run.')) outcomes.push(String(fields['outcome']));
      },
    },
  });
  const writer = await TableWriter.create(
    {
      identifier: parseTableIdentifier(TABLE),
      location: 's3://bucket/orders',
      formatVersion: 2,
      fields: [{ fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } }],
    },
    { catalog, store, clock, random },
  );
  /** Lets time pass: whatever comes due is done when it is due. */
  const runForMs = async (durationMs: number): Promise<void> => {
    const endMs = clock.nowMs() + durationMs;
    for (;;) {
      await firn.host.runDue();
      const nextMs = firn.host.nextDueAtMs() ?? endMs;
      if (nextMs > endMs) break;
      clock.advanceMs(Math.max(0, nextMs - clock.nowMs()));
    }
    clock.advanceMs(endMs - clock.nowMs());
  };
  const commitEachMinute = async (commitCount: number): Promise<void> => {
    for (let commit = 0; commit < commitCount; commit++) {
      await writer.append([{ rows: [{ 1: BigInt(commit) }] }]);
      await runForMs(MINUTE_MS);
    }
  };
  const look = async () => {
    const { metadata } = await writer.load();
    const { tables } = await ledger.states.listDue({
      dueAtMsMax: Number.MAX_SAFE_INTEGER,
      tableCountMax: 10,
    });
    return {
      fileCount: Number(metadata.snapshots.at(-1)?.summary['total-data-files']),
      rowCount: Number(metadata.snapshots.at(-1)?.summary['total-records']),
      firnCommitCount: metadata.snapshots.filter(({ summary }) => 'firn.run-id' in summary).length,
      dueTableCount: tables.length,
      messageCount: firn.rewriteQueue.counts().visible + firn.rewriteQueue.counts().hidden,
      deadLetterCount:
        firn.rewriteQueue.counts().deadLetters + firn.eventDeadLetters.counts().deadLetters,
    };
  };
  return { clock, firn, outcomes, runForMs, commitEachMinute, look };
}

/** A catalog whose writes are followed by records in a stream, as DynamoDB's are. */
function withStream(catalog: MemoryCatalog, stream: ItemStream): Catalog {
  const written = <Pointer extends { readonly identifier: TableIdentifier }>(pointer: Pointer) => {
    const { identifier } = pointer;
    const keys = {
      identifier: { S: formatTableIdentifier(identifier) },
      namespace: { S: formatNamespace(identifier.namespace) },
    };
    stream.append({ tableName: 'iceberg', keys, newImage: keys });
    return pointer;
  };
  return {
    loadTable: (identifier) => catalog.loadTable(identifier),
    listTables: (namespace) => catalog.listTables(namespace),
    registerTable: async (identifier, location) =>
      written(await catalog.registerTable(identifier, location)),
    commitTable: async (update) => written(await catalog.commitTable(update)),
    fenceTable: async (fence) => written(await catalog.fenceTable(fence)),
  };
}

describe('all of Firn on a clock that jumps', () => {
  for (const [what, faults] of [
    ['a stream that works', {}],
    ['a stream that loses every record', { lossFraction: 1 }],
    [
      'a stream that loses, doubles and delays',
      {
        lossFraction: 0.3,
        duplicateFraction: 0.3,
        delayFraction: 0.5,
        delayMsMax: 5 * MINUTE_MS,
      },
    ],
  ] as const satisfies readonly (readonly [string, StreamFaults])[]) {
    test(`keeps a table healthy that is committed to each minute, with ${what}`, async () => {
      const { commitEachMinute, runForMs, look } = await open(faults);

      await commitEachMinute(75);
      const during = await look();
      await runForMs(10 * 60 * MINUTE_MS);
      const after = await look();

      assert.ok(during.firnCommitCount >= 1, `${during.firnCommitCount} commits`);
      assert.ok(during.fileCount < 60, `${during.fileCount} files`);
      assert.deepEqual(after, {
        fileCount: 1,
        rowCount: 75,
        firnCommitCount: after.firnCommitCount,
        dueTableCount: 0,
        messageCount: 0,
        deadLetterCount: 0,
      });
    });
  }

  test('does not touch a table again that nothing happens to', async () => {
    const { commitEachMinute, runForMs, look, outcomes } = await open();
    await commitEachMinute(12);
    await runForMs(10 * 60 * MINUTE_MS);
    const before = await look();
    const runCount = outcomes.length;

    await runForMs(2 * 24 * 60 * MINUTE_MS);

    assert.deepEqual(await look(), before);
    assert.equal(outcomes.length, runCount);
  });

  test('compacts when somebody asks on the bus, and keeps what it does not understand', async () => {
    const { commitEachMinute, runForMs, look, firn } = await open();
    await commitEachMinute(5);
    await runForMs(4 * 60 * MINUTE_MS);
    const before = await look();
    const request = {
      id: '6a7e8feb-b491-4cf7-a9f1-bf3703467718',
      'detail-type': 'firn.request',
      source: 'test',
      detail: { version: 1, operation: 'compact', table: TABLE, reason: 'because' },
    };

    await firn.putEvent(request);
    await firn.putEvent({ ...request, detail: { ...request.detail, table: 'orders' } });
    await runForMs(MINUTE_MS);

    const after = await look();
    assert.equal(after.fileCount, 1);
    assert.equal(after.firnCommitCount, before.firnCommitCount + 1);
    assert.match(firn.eventDeadLetters.deadLetters()[0]?.reason ?? '', /has no namespace/);
  });
});
