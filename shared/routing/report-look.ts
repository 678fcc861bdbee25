import { type Clock, type IcebergError, type Random, randomUuid } from '../base/index.ts';
import type { Ledger } from '../ledger/index.ts';

export interface LookReportPorts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
}

/** The name under which looks that fail are reported. */
const REPORT_OPERATION = 'routing';

/** Reports that a table cannot be read, unless the last thing reported was the same kind of failure. As `writeSkip`. */
export function reportUnreadable(
  table: string,
  { error, metadataLocation }: { readonly error: IcebergError; readonly metadataLocation: string },
  ports: LookReportPorts,
): Promise<'written' | 'unchanged'> {
  return ports.ledger.reports.writeSkip({
    ...newReport(table, ports),
    outcome: 'failed',
    reason: error.kind,
    facts: { message: error.message, metadataLocation },
  });
}

/** Reports that it can be read again, so that the same failure is news when it comes back. */
export async function reportReadable(table: string, ports: LookReportPorts): Promise<void> {
  const report = newReport(table, ports);
  await ports.ledger.reports.writeSkip({
    ...report,
    outcome: 'looked',
    reason: 'readable-again',
    facts: {},
  });
}

function newReport(table: string, { random, clock }: LookReportPorts) {
  return {
    runId: randomUuid(random),
    table,
    operation: REPORT_OPERATION,
    createdAtMs: clock.nowMs(),
  };
}
