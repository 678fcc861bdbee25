import type { TreatmentEstimate } from '../../datafile/index.ts';
import type { PlannedGroup } from './group-files.ts';
import type { PlanBase } from './plan.ts';

/**
 * What a group moves in a millisecond at least, so that none is begun that cannot be finished. Copied pages are much
 * faster, but a column may have to be encoded anew for the schema's sake.
 */
const BYTES_PER_MS_MIN = 16 * 1024;

/** Rows left out of what is decoded and encoded anew: 10 to 14 MB a second. */
const DECODED_BYTES_PER_MS_MIN = 9 * 1024;

/** Keys of a column read and looked up in a millisecond at least. */
const KEYS_PER_MS_MIN = 1_000;

/** How long a group takes at most, from its deletes to its last output; verifying all rows takes about as long again. */
export function neededMs(
  { decodedBytes, copiedBytes }: TreatmentEstimate,
  { inputBytes, files }: PlannedGroup,
  { verifiesRows }: PlanBase,
): number {
  const keyCount = files.reduce(
    (sum, { recordCount, deletes }) =>
      sum + ((deletes?.equality.fileCount ?? 0) > 0 ? recordCount : 0),
    0,
  );
  return (
    decodedBytes / DECODED_BYTES_PER_MS_MIN +
    copiedBytes / BYTES_PER_MS_MIN +
    keyCount / KEYS_PER_MS_MIN +
    (verifiesRows ? inputBytes / BYTES_PER_MS_MIN : 0)
  );
}
