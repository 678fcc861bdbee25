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

/** Rows whose keys are read and looked up in a millisecond at least; short ones take half as long. */
const KEYS_PER_MS_MIN = 400;

/** How long a group takes at most, from its deletes to its last output. */
export function neededMs(work: TreatmentEstimate, group: PlannedGroup, base: PlanBase): number {
  return keyCountOf(group.files) / KEYS_PER_MS_MIN + rewriteMs(work, group, base);
}

/** The same once its deletes are read. Verifying all rows takes about as long again as copying them. */
export function rewriteMs(
  { decodedBytes, copiedBytes }: TreatmentEstimate,
  { inputBytes }: PlannedGroup,
  { verifiesRows }: PlanBase,
): number {
  return (
    decodedBytes / DECODED_BYTES_PER_MS_MIN +
    copiedBytes / BYTES_PER_MS_MIN +
    (verifiesRows ? inputBytes / BYTES_PER_MS_MIN : 0)
  );
}

/** Rows of data files that equality deletes apply to. */
export function keyCountOf(files: PlannedGroup['files']): number {
  return files
    .filter(({ deletes }) => deletes !== undefined && deletes.equality.fileCount > 0)
    .reduce((sum, { recordCount }) => sum + recordCount, 0);
}
