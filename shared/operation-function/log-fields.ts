import type { LogFields } from '../base/index.ts';
import { type GuardVerdict, heldBackUntilMs } from '../guards/index.ts';
import type { RequestCounts } from '../storage/index.ts';

/** What a run asked of the store. */
export function requestFields(requests: RequestCounts): LogFields {
  return {
    s3ReadCount: requests.read + requests.readRange + requests.head,
    s3WriteCount: requests.write + requests.openWriter,
    bytesRead: requests.bytesRead,
    bytesWritten: requests.bytesWritten,
  };
}

/** Which rules hold the run back, which were overruled, and when the last of the former would let it go on. */
export function guardFields(verdicts: readonly GuardVerdict[]): LogFields {
  if (verdicts.length === 0) return {};
  return {
    guards: verdicts.map(({ guard, state }) => `${guard}: ${state}`).join(', '),
    heldBackUntilMs: heldBackUntilMs(verdicts),
  };
}
