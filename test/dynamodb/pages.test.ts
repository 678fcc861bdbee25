import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPages } from '../../shared/dynamodb/pages.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

test('readPages gives up on a service that always has another page', async () => {
  let pageCount = 0;
  const pages = readPages(async () => {
    pageCount++;
    return { LastEvaluatedKey: { identifier: { S: 'x' } } };
  }, 'catalog table x');

  await assert.rejects(
    pages[Symbol.asyncIterator]().next(),
    errorOfKind('unsupported', /exceeds 10000 pages/),
  );

  assert.equal(pageCount, 10_000);
});

test('readPages reads no page before its items are asked for', async () => {
  const startKeys: unknown[] = [];
  const key = { identifier: { S: 'a' } };
  const pages = readPages(async (startKey) => {
    startKeys.push(startKey);
    return startKey === undefined ? { Items: [key], LastEvaluatedKey: key } : {};
  }, 'catalog table x')[Symbol.asyncIterator]();

  assert.deepEqual(await pages.next(), { done: false, value: key });
  assert.deepEqual(startKeys, [undefined]);
  assert.equal((await pages.next()).done, true);
  assert.deepEqual(startKeys, [undefined, key]);
});
