import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertNever,
  assert as assertOwn,
  ERROR_KINDS,
  IcebergError,
  isIcebergError,
  silentLogger,
} from '../../shared/base/index.ts';

test('an error carries kind, message, context and cause', () => {
  const cause = new TypeError('inner');
  const error = new IcebergError('not-found', 'x: gone', { offset: 7n }, cause);

  assert.equal(error.kind, 'not-found');
  assert.equal(error.message, 'x: gone');
  assert.deepEqual(error.context, { offset: 7n });
  assert.equal(error.cause, cause);
});

test('an error without a cause has no cause of its own', () => {
  assert.equal(Object.hasOwn(new IcebergError('not-found', 'x: gone'), 'cause'), false);
});

test('isIcebergError tells the kind', () => {
  const error = new IcebergError('deadline', 'x: late');

  assert.equal(isIcebergError(error), true);
  assert.equal(isIcebergError(error, 'deadline'), true);
  assert.equal(isIcebergError(error, 'unavailable'), false);
  assert.equal(isIcebergError(new TypeError('x')), false);
  assert.equal(isIcebergError({ kind: 'deadline' }), false);
});

test('only an unknown commit state keeps staged files, and it is not retried', () => {
  const keeping = Object.entries(ERROR_KINDS).filter(([, rule]) => rule.keepsStagedFiles);
  const retryable = Object.entries(ERROR_KINDS).filter(([, rule]) => rule.isRetryable);

  assert.deepEqual(
    keeping.map(([kind]) => kind),
    ['commit-state-unknown'],
  );
  assert.deepEqual(retryable.map(([kind]) => kind).sort(), ['commit-conflict', 'unavailable']);
});

test('a broken promise between our own functions is no operating error', () => {
  assertOwn(true, 'holds');
  for (const broken of [
    () => assertOwn(false, 'x: broken'),
    () => assertNever('other' as never, 'codec'),
  ]) {
    assert.throws(broken, (error) => !isIcebergError(error) && error instanceof Error);
  }
});

test('silentLogger takes every level', () => {
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    assert.equal(silentLogger[level]('plan.created', 'message', { table: 'db.t' }), undefined);
  }
});
