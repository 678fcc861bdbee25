import assert from 'node:assert/strict';
import { type ErrorKind, isIcebergError } from '../../shared/base/index.ts';

/** Asserts that the action throws an operating error of that kind whose message matches. */
export function throwsKind(action: () => unknown, kind: ErrorKind, message?: RegExp): void {
  assert.throws(action, (error: unknown) => {
    assert.ok(isIcebergError(error), `expected an IcebergError, got ${error}`);
    assert.equal(error.kind, kind, error.message);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  });
}
