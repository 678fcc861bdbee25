import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERROR_KINDS, type ErrorKind, IcebergError } from '../../shared/base/index.ts';
import { endingOfError } from '../../shared/operation-function/index.ts';

/** The column "Lambda outcome": what goes to the dead letters, what is done again by itself, how loud it is. */
const EXPECTED: Readonly<Record<ErrorKind, string>> = {
  'invalid-data': 'letter error failed',
  unsupported: 'done warn failed',
  'invalid-config': 'letter error failed',
  'access-denied': 'letter error failed',
  'not-found': 'letter error failed',
  'commit-conflict': 'done warn failed',
  'commit-rejected': 'letter error failed',
  'commit-state-unknown': 'letter error failed',
  unavailable: 'done warn failed',
  deadline: 'done info out-of-time',
  invariant: 'letter error failed',
};

describe('endingOfError', () => {
  for (const kind of Object.keys(ERROR_KINDS) as ErrorKind[]) {
    it(`${kind}: ${EXPECTED[kind]}`, () => {
      const { isLetter, level, run } = endingOfError(new IcebergError(kind, 'subject: problem'));

      assert.equal(`${isLetter ? 'letter' : 'done'} ${level} ${run?.ending}`, EXPECTED[kind]);
    });
  }

  it('a dropped table: done, with nothing to remember', () => {
    const error = new IcebergError('not-found', 'catalog: has no table a.b', { table: 'a.b' });

    assert.deepEqual(endingOfError(error), {
      level: 'warn',
      outcome: 'skipped',
      isLetter: false,
      run: undefined,
    });
  });

  it('anything else that is thrown: a letter, and an error', () => {
    for (const error of [new TypeError('x'), 'text', undefined]) {
      assert.equal(endingOfError(error).isLetter, true);
      assert.equal(endingOfError(error).level, 'error');
    }
  });
});
