import { IcebergError } from '../base/index.ts';
import type { DeadLetter } from './message-queue.ts';

/** What every SQS queue takes, also those made before the limit was raised to 1 MiB. Attributes count. */
export const MESSAGE_BYTES_MAX = 256 * 1024;

/** Leaves room for the reason beside a body. */
const LETTER_BODY_BYTES_MAX = MESSAGE_BYTES_MAX - 8 * 1024;

const REASON_CHARS_MAX = 1024;

/** Characters that SQS refuses: XML 1.0 has no place for them. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** @throws invalid-data — when a queue would not take the body */
export function requireMessageBody(body: string, subject: string): void {
  const lengthBytes = Buffer.byteLength(body);
  if (lengthBytes > MESSAGE_BYTES_MAX) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: message of ${lengthBytes} bytes exceeds the limit of ${MESSAGE_BYTES_MAX}`,
    );
  }
  if (body === '') throw new IcebergError('invalid-data', `${subject}: message is empty`);
  const offset = body.search(FORBIDDEN);
  if (offset < 0) return;
  throw new IcebergError('invalid-data', `${subject}: message has a control character`, { offset });
}

/** The letter as a queue takes it, changed as little as possible; never empty. */
export function fittingLetter(letter: DeadLetter): DeadLetter {
  const clean = letter.body.replace(FORBIDDEN, '\ufffd');
  const lengthBytes = Buffer.byteLength(clean);
  const isCut = lengthBytes > LETTER_BODY_BYTES_MAX;
  const notes = [
    ...(isCut ? [`cut from ${lengthBytes} bytes`] : []),
    ...(clean === letter.body ? [] : ['characters replaced']),
    ...(clean === '' ? ['empty'] : []),
  ];
  const reason = letter.reason.replace(FORBIDDEN, '\ufffd').slice(0, REASON_CHARS_MAX);
  return {
    groupId: letter.groupId,
    body: (isCut ? cutText(clean) : clean) || '(empty)',
    // Half a surrogate pair may be left at the cut.
    reason: `${reason}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`.toWellFormed(),
  };
}

/** The beginning, up to a whole character. */
function cutText(text: string): string {
  const bytes = Buffer.from(text).subarray(0, LETTER_BODY_BYTES_MAX);
  return bytes.toString().replace(/\ufffd$/, '');
}
