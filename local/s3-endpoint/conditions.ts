import { noSuchKey, preconditionFailed, refusal } from './answers.ts';
import type { StoredObject } from './body-store.ts';
import { header, type S3Call } from './call.ts';

/** Tests `If-Match` and `If-None-Match` of a read. */
export function checkReadConditions(call: S3Call, object: StoredObject): void {
  const ifMatch = header(call, 'if-match');
  if (ifMatch !== undefined && !matches(ifMatch, object)) throw preconditionFailed('If-Match');
  const ifNoneMatch = header(call, 'if-none-match');
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, object)) {
    throw refusal(304, 'NotModified', 'If-None-Match: does not hold', { etag: object.etag });
  }
}

/**
 * Tests `If-None-Match: *` and `If-Match` of a write against what is there. Call it in the same synchronous step
 * as the write itself.
 */
export function checkWriteConditions(call: S3Call, current: StoredObject | undefined): void {
  const ifNoneMatch = header(call, 'if-none-match');
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw refusal(501, 'NotImplemented', `If-None-Match: ${ifNoneMatch} is not served for writes`);
  }
  if (ifNoneMatch !== undefined && current !== undefined) throw preconditionFailed('If-None-Match');
  const ifMatch = header(call, 'if-match');
  if (ifMatch === undefined) return;
  if (current === undefined) throw noSuchKey(call.key);
  if (!matches(ifMatch, current)) throw preconditionFailed('If-Match');
}

/** Tests the conditions on the source of a copy. */
export function checkCopyConditions(call: S3Call, source: StoredObject): void {
  const ifMatch = header(call, 'x-amz-copy-source-if-match');
  const ifNoneMatch = header(call, 'x-amz-copy-source-if-none-match');
  if (ifMatch !== undefined && !matches(ifMatch, source)) {
    throw preconditionFailed('x-amz-copy-source-if-match');
  }
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, source)) {
    throw preconditionFailed('x-amz-copy-source-if-none-match');
  }
}

function matches(condition: string, { etag }: StoredObject): boolean {
  return condition.split(',').some((one) => {
    const tag = one.trim();
    return tag === '*' || bare(tag) === bare(etag);
  });
}

function bare(etag: string): string {
  return etag.replace(/^W\//, '').replaceAll('"', '');
}
