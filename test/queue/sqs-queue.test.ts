import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ErrorKind, ManualClock, seededRandom } from '../../shared/base/index.ts';
import { createSqsClient, SqsQueue } from '../../shared/queue/index.ts';
import { type ScriptedAnswer, startScriptedServer } from '../storage/scripted-server.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { testQueueConformance } from './message-queue.conformance.ts';
import { openSqsHarness } from './sqs-harness.ts';
import { startSqsServer } from './sqs-server.ts';

testQueueConformance('SQS protocol', async () => {
  const server = await startSqsServer();
  const harness = await openSqsHarness(server.endpoint);
  return {
    ...harness,
    close: async () => {
      await harness.close();
      await server.close();
    },
  };
});

/** A queue whose service gives these answers in turn, then the last one for ever. */
async function openScripted(answers: readonly ScriptedAnswer[]) {
  const server = await startScriptedServer(answers);
  const client = createSqsClient({
    region: 'us-east-1',
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const clock = new ManualClock(0);
  const queue = new SqsQueue({
    client,
    queueUrl: `${server.endpoint}/000000000000/work`,
    deadLetterQueueUrl: `${server.endpoint}/000000000000/dead`,
    clock,
    random: seededRandom(1),
  });
  return {
    server,
    clock,
    queue,
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await server.close();
    },
  };
}

function refusal(name: string, status = 400): ScriptedAnswer {
  return {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: JSON.stringify({ __type: `com.amazonaws.sqs#${name}`, message: 'no' }),
  };
}

/** MD5 of `work`, which the SDK compares. */
const SENT: ScriptedAnswer = {
  status: 200,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: '{"MessageId":"1","MD5OfMessageBody":"67e92c8765a9bc7fb2d335c459de9eb5"}',
};

const MESSAGE = { body: 'work', groupId: 'a.t' };

describe('SqsQueue', () => {
  for (const [name, status, kind] of [
    ['QueueDoesNotExist', 400, 'not-found'],
    ['AccessDeniedException', 403, 'access-denied'],
    ['InvalidSecurity', 403, 'access-denied'],
    ['InvalidMessageContents', 400, 'invalid-data'],
    ['InvalidParameterValueException', 400, 'invalid-config'],
    ['SomethingNew', 404, 'not-found'],
  ] as const satisfies readonly (readonly [string, number, ErrorKind])[]) {
    test(`takes ${name} with status ${status} for ${kind}, at once`, async () => {
      await using scripted = await openScripted([refusal(name, status)]);

      await assert.rejects(scripted.queue.send(MESSAGE), errorOfKind(kind, /sqs:SendMessage/));
      assert.equal(scripted.server.requestCount(), 1);
    });
  }

  test('sends again after throttling, an internal error and a broken answer', async () => {
    const broken = { status: 200, headers: { 'content-length': '100' }, body: '{', breaks: true };
    await using scripted = await openScripted([
      refusal('RequestThrottled'),
      refusal('InternalError', 500),
      broken,
      SENT,
    ]);

    await scripted.queue.send(MESSAGE);

    assert.equal(scripted.server.requestCount(), 4);
    assert.ok(scripted.clock.nowMs() > 0);
  });

  test('gives up after four attempts', async () => {
    await using scripted = await openScripted([refusal('ServiceUnavailable', 503)]);

    await assert.rejects(scripted.queue.send(MESSAGE), errorOfKind('unavailable'));

    assert.equal(scripted.server.requestCount(), 4);
    assert.ok(scripted.clock.nowMs() <= 1_400);
  });

  test('sends a dead letter to the queue of dead letters', async () => {
    await using scripted = await openScripted([SENT]);

    await scripted.queue.sendToDeadLetters({ ...MESSAGE, reason: 'is broken' });

    const request = JSON.parse(scripted.server.bodies[0] ?? '') as Record<string, unknown>;
    assert.match(String(request['QueueUrl']), /\/dead$/);
    assert.deepEqual(request['MessageAttributes'], {
      'firn-reason': { DataType: 'String', StringValue: 'is broken' },
    });
  });

  test('rounds visibility up to whole seconds, and knows more than one word for gone', async () => {
    await using scripted = await openScripted([
      { ...SENT, body: '{}' },
      refusal('MessageNotInflight'),
      refusal('ReceiptHandleIsInvalid', 404),
    ]);

    assert.equal(await scripted.queue.extendVisibility('r', 1_001), 'extended');
    assert.equal(await scripted.queue.extendVisibility('r', 1), 'gone');
    assert.equal(await scripted.queue.extendVisibility('r', 1), 'gone');

    const timeouts = scripted.server.bodies.map(
      (body) => (JSON.parse(body) as { VisibilityTimeout: number }).VisibilityTimeout,
    );
    assert.deepEqual(timeouts, [2, 1, 1]);
  });

  test('does not ask for more than SQS allows', async () => {
    await using scripted = await openScripted([SENT]);

    await assert.rejects(scripted.queue.extendVisibility('r', 12 * 3_600_000 + 1), /12 hours/);
    await assert.rejects(scripted.queue.extendVisibility('r', 0), /12 hours/);
    assert.equal(scripted.server.requestCount(), 0);
  });

  test('sends a group that SQS would refuse as its hash', async () => {
    await using scripted = await openScripted([SENT]);

    await scripted.queue.send({ body: 'work', groupId: 'späte.klicks' });

    const { MessageGroupId } = JSON.parse(scripted.server.bodies[0] ?? '') as Record<
      string,
      unknown
    >;
    assert.match(String(MessageGroupId), /^sha256-[0-9a-f]{64}$/);
  });
});
