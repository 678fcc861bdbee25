import assert from 'node:assert/strict';
import { type ErrorKind, isIcebergError } from '../../shared/base/index.ts';

/** A check for `assert.rejects` and `assert.throws`: an operating error of the kind, with the message. */
export function errorOfKind(kind: ErrorKind, message?: RegExp): (error: unknown) => true {
  return (error) => {
    assert.ok(isIcebergError(error), `not an operating error: ${String(error)}`);
    assert.equal(error.kind, kind, error.message);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  };
}
