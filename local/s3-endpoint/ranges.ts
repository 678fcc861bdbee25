import { refusal } from './answers.ts';

/** Bytes from `start` to `end` (exclusive). */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * What a `Range` header asks of an object. Undefined where there is none, or one that S3 ignores: not in
 * bytes, several ranges, or with its ends exchanged.
 */
export function parseRange(range: string | undefined, lengthBytes: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(range?.trim() ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  const asked = first === '' ? suffix(last, lengthBytes) : span(first, last, lengthBytes);
  if (asked === undefined) return undefined;
  if (asked.start < asked.end) return asked;
  throw refusal(416, 'InvalidRange', `${range}: not within ${lengthBytes} bytes`, {
    'content-range': `bytes */${lengthBytes}`,
  });
}

function suffix(length: string, lengthBytes: number): ByteRange {
  return { start: Math.max(0, lengthBytes - Number(length)), end: lengthBytes };
}

function span(first: string, last: string, lengthBytes: number): ByteRange | undefined {
  const start = Number(first);
  if (last === '') return { start, end: lengthBytes };
  if (Number(last) < start) return undefined;
  return { start, end: Math.min(Number(last) + 1, lengthBytes) };
}

/** The range of the source that a part is copied from; unlike a read's it must lie within the source. */
export function parseCopyRange(range: string | undefined, lengthBytes: number): ByteRange {
  if (range === undefined) return { start: 0, end: lengthBytes };
  const match = /^bytes=(\d+)-(\d+)$/.exec(range);
  const start = Number(match?.[1]);
  const end = Number(match?.[2]) + 1;
  if (start < end && end <= lengthBytes) return { start, end };
  throw refusal(400, 'InvalidArgument', `${range}: not within ${lengthBytes} bytes`);
}
