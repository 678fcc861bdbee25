/** Keys of a snapshot's summary that say which run of Firn made it, and under which lease. */
export const RUN_ID_KEY = 'firn.run-id';
export const FENCING_KEY = 'firn.fencing';

/** What every snapshot of a run carries in its summary. */
export function runSummary({
  runId,
  fencingNumber,
}: {
  readonly runId: string;
  readonly fencingNumber: number;
}): Readonly<Record<string, string>> {
  return { [RUN_ID_KEY]: runId, [FENCING_KEY]: String(fencingNumber) };
}
