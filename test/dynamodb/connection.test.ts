import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { DynamoDbConnection } from '../../shared/dynamodb/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

// The kinds of all answers, and what is repeated, are tested through the catalog: see its faults test.

function openConnection(clock = new ManualClock(0)): DynamoDbConnection {
  return new DynamoDbConnection('ledger table', {
    tableName: 'firn',
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    clock,
    random: seededRandom(1),
  });
}

function failure(name: string): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error('the reason'), { name }));
}

test('an error names the table by its role, the action and the item', async () => {
  const connection = openConnection();
  const request = { action: 'dynamodb:PutItem', item: 'lease#rewrite of db.orders' };

  await assert.rejects(
    connection.write(request, failure('AccessDeniedException')),
    errorOfKind(
      'access-denied',
      /^ledger table firn: access denied for dynamodb:PutItem of lease#rewrite of db\.orders \(AccessDeniedException\)$/,
    ),
  );
  assert.equal(connection.subject, 'ledger table firn');
});

test('a write is sent once, and an answer that says nothing leaves its state unknown', async () => {
  let sendCount = 0;
  const send = () => {
    sendCount++;
    return failure('InternalServerError')();
  };

  await assert.rejects(
    openConnection().write({ action: 'dynamodb:PutItem' }, send),
    errorOfKind('commit-state-unknown', /no readable answer to dynamodb:PutItem \(/),
  );

  assert.equal(sendCount, 1);
});

test('a read is sent six times, with waits on the clock', async () => {
  const clock = new ManualClock(0);
  let sendCount = 0;
  const send = () => {
    sendCount++;
    return failure('InternalServerError')();
  };

  await assert.rejects(
    openConnection(clock).read({ action: 'dynamodb:GetItem' }, send),
    errorOfKind('unavailable', /no success for dynamodb:GetItem/),
  );

  assert.equal(sendCount, 6);
  assert.ok(clock.nowMs() > 0 && clock.nowMs() <= 6200, `${clock.nowMs()} ms`);
});
