import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endingOfError } from '../../../functions/rewrite-data-files/ending.ts';
import { ERROR_KINDS, type ErrorKind, IcebergError } from '../../../shared/base/index.ts';

/** The column "Lambda outcome", as far as it goes without a client for the dead-letter queue. */
const EXPECTED: Readonly<Record<ErrorKind, string>> = {
  'invalid-data': 'returned error',
  unsupported: 'acknowledged warn',
  'invalid-config': 'returned error',
  'access-denied': 'returned error',
  'not-found': 'returned error',
  'commit-conflict': 'returned warn',
  'commit-rejected': 'returned error',
  'commit-state-unknown': 'returned error',
  unavailable: 'returned warn',
  deadline: 'acknowledged info',
  invariant: 'returned error',
};

describe('endingOfError', () => {
  for (const kind of Object.keys(ERROR_KINDS) as ErrorKind[]) {
    it(`${kind}: ${EXPECTED[kind]}`, () => {
      const { isAcknowledged, level } = endingOfError(new IcebergError(kind, 'subject: problem'));

      assert.equal(`${isAcknowledged ? 'acknowledged' : 'returned'} ${level}`, EXPECTED[kind]);
    });
  }

  it('a dropped table: acknowledged warn', () => {
    const error = new IcebergError('not-found', 'catalog: has no table a.b', { table: 'a.b' });

    assert.deepEqual(endingOfError(error), {
      isAcknowledged: true,
      level: 'warn',
      outcome: 'skipped',
    });
  });

  it('anything else that is thrown: returned error', () => {
    for (const error of [new TypeError('x'), 'text', undefined]) {
      assert.equal(endingOfError(error).isAcknowledged, false);
      assert.equal(endingOfError(error).level, 'error');
    }
  });
});
