import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IcebergError } from '../../shared/base/index.ts';
import { together } from '../../shared/table/together.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

describe('together', () => {
  it('gives the results in their order', async () => {
    assert.deepEqual(await together([Promise.resolve(1), Promise.resolve('two')]), [1, 'two']);
  });

  it('throws the first failure, once nothing is under way any more', async () => {
    let finish = (_: string): void => {};
    const slow = new Promise<string>((resolve) => {
      finish = resolve;
    });
    let isOver = false;
    const failed = together([
      slow,
      Promise.reject(new IcebergError('unavailable', 'first')),
      Promise.reject(new IcebergError('invalid-data', 'second')),
    ]).finally(() => {
      isOver = true;
    });
    const rejected = assert.rejects(failed, errorOfKind('unavailable', /first/));
    await Promise.resolve();
    assert.equal(isOver, false);

    finish('done');

    await rejected;
  });
});
