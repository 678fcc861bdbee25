import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SQSEvent } from 'aws-lambda';
import { serializeMaintenanceRequest } from '../../../events/index.ts';
import { createHandler } from '../../../functions/rewrite-deletes/handler.ts';
import { type JsonObject, parseJson } from '../../../shared/base/index.ts';
import type { FunctionSettings } from '../../../shared/deployment/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import {
  append,
  commitDeletes,
  createWarehouse,
  equalityDelete,
  liveDeletes,
  type Warehouse,
} from '../../operations/rewrite-deletes/deletes-fixture.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';
import { memoryQueues } from '../../support/memory-deployment.ts';

const SETTINGS: FunctionSettings = {
  enabledTables: ['db.orders'],
  isObserving: false,
  guards: LOWERED_GUARD_SETTINGS,
  routingIntervalMsFloor: 60_000,
  messageVisibilityMs: 180_000,
  logLevel: 'info',
};

/** The function, and a table with one equality delete. */
async function deployed(settings: Partial<FunctionSettings> = {}) {
  const warehouse = await createWarehouse({ formatVersion: 3 });
  const file = await append(warehouse, 0);
  await commitDeletes(warehouse, [await equalityDelete(warehouse, file, [{ 1: 2n }])]);
  const { catalog, store, ledger, clock, random } = warehouse;
  const queues = memoryQueues({ clock, random });
  const lines: JsonObject[] = [];
  const handler = createHandler({
    settings: { ...SETTINGS, ...settings },
    warehouse: { catalogUrl: 'memory:', catalog, store, openLedger: () => ledger },
    queues: queues.queues,
    eventDeadLetters: queues.eventDeadLetters,
    clock,
    random,
    logDestination: { write: (line) => lines.push(parseJson(line, 'log line') as JsonObject) },
  });
  const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 900_000 };
  return { warehouse, queues, lines, handler, context };
}

function messageFor(
  { clock }: Warehouse,
  operation: 'rewrite-deletes' | 'rewrite-data-files' = 'rewrite-deletes',
): SQSEvent {
  const request = { operation, table: 'db.orders', reason: 'a test', correlationId: 'c', round: 0 };
  const body = serializeMaintenanceRequest(request);
  const attributes = {
    ApproximateReceiveCount: '1',
    SentTimestamp: String(clock.nowMs()),
    MessageGroupId: 'db.orders',
  };
  const record = { messageId: 'm0', receiptHandle: 'r', body, attributes };
  return { Records: [record] } as unknown as SQSEvent;
}

describe('the function of rewrite-deletes', () => {
  it('rewrites the deletes of the table that a message names, and tells it in one line', async () => {
    const { warehouse, lines, handler, context } = await deployed();

    const answer = await handler(messageFor(warehouse), context);

    assert.deepEqual(answer, { batchItemFailures: [] });
    assert.deepEqual(
      (await liveDeletes(warehouse)).map(({ kind }) => kind),
      ['vector'],
    );
    const [finished] = lines.filter(({ event }) => event === 'run.finished');
    assert.equal(finished?.['message'], '1 delete files became 1 in 1 commits');
    assert.equal(finished?.['operation'], 'rewrite-deletes');
    assert.equal(finished?.['removedDeleteFileCount'], 1);
    assert.equal(lines.filter(({ event }) => event === 'commit.succeeded').length, 1);
  });

  it('remembers its plan apart from that of compaction', async () => {
    const { warehouse, handler, context } = await deployed();

    await handler(messageFor(warehouse), context);

    const state = await warehouse.ledger.states.read('db.orders');
    assert.equal(state?.operations['rewrite-deletes']?.plan?.mode, 'commit');
    assert.equal(state?.operations['rewrite-data-files']?.plan, undefined);
  });

  it('observes a table that nobody allows', async () => {
    const { warehouse, lines, handler, context } = await deployed({ enabledTables: [] });

    await handler(messageFor(warehouse), context);

    assert.deepEqual(
      (await liveDeletes(warehouse)).map(({ kind }) => kind),
      ['equality'],
    );
    const [finished] = lines.filter(({ event }) => event === 'run.finished');
    assert.equal(finished?.['message'], 'would rewrite 1 delete files');
  });

  it('buries a message for another operation, and refuses an execution', async () => {
    const { warehouse, queues, handler, context } = await deployed();

    const answer = await handler(messageFor(warehouse, 'rewrite-data-files'), context);

    assert.deepEqual(answer, { batchItemFailures: [] });
    assert.equal(queues.deletesQueue.deadLetters().length, 1);
    await assert.rejects(handler({ version: 1 }, context), errorOfKind('invalid-data'));
  });
});
