import { assert } from '../base/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { RequestCounts } from '../storage/index.ts';
import {
  type BusyOutcome,
  type CommitPorts,
  createManifestReader,
  refreshTable,
  requireStateOutside,
  type Table,
  type TableRun,
  workUnderLease,
} from '../table/index.ts';
import { createMeter, type Meter } from './meter.ts';
import { type ReportPorts, reportFailure, reportSettledRuns } from './report-run.ts';

/** What every request to maintain a table says. */
export interface OperationRequest {
  readonly table: Table;
  /** `observe` plans and changes nothing. */
  readonly mode: 'observe' | 'commit';
  /** Unique to this run; goes into the snapshot's summary as `firn.run-id`. */
  readonly runId: string;
  /** Who or what asked for the run, for its report. */
  readonly trigger?: string;
}

export interface OperationPorts extends Omit<CommitPorts, 'reader' | 'run'> {
  /** Without one, nothing is remembered: not even that the table was looked at. A run that commits needs one. */
  readonly ledger?: Ledger;
}

/** What planning and running may use. */
export interface PlanPorts extends Omit<CommitPorts, 'run'> {
  /** Called once there is something to write. */
  readonly openRun?: () => Promise<TableRun>;
  /** As in `OperationPorts`. */
  readonly ledger?: Ledger;
}

/** What is particular to an operation. */
export interface OperationSteps<Outcome> {
  /** Its name in events, leases and reports. */
  readonly operation: string;
  /** On the table as it is under the lease. */
  readonly planAndRun: (table: Table, ports: PlanPorts) => Promise<Outcome>;
  /** Tells the ledger of a run, or why there was none if that is news. */
  readonly reportOutcome: (outcome: Outcome, ports: ReportPorts) => Promise<void>;
}

/** How a run ended: by itself, or because another one has the table's lease. */
export type OperationOutcome<Outcome> = (Outcome | BusyOutcome) & {
  readonly requests: RequestCounts;
};

/**
 * Plans, and unless it only observes, runs and commits, under the table's lease and on its current state. A run that
 * commits reports what it did, one that does not why, unless that has been reported before.
 *
 * @throws as `planAndRun` and `workUnderLease`
 */
export async function runOperation<Outcome>(
  request: OperationRequest,
  ports: OperationPorts,
  steps: OperationSteps<Outcome>,
): Promise<OperationOutcome<Outcome>> {
  const meter = createMeter(ports);
  const metered = { ...ports, ...meter.ports };
  const outcome =
    request.mode === 'commit'
      ? await runUnderLease(request, { ...metered, meter }, steps)
      : await observe(request, { ...metered, meter }, steps);
  return { ...outcome, requests: meter.s3Requests() };
}

interface MeteredPorts extends OperationPorts {
  readonly meter: Meter;
}

/** Takes no lease and writes nothing; tells the ledger what it saw, if that is news. */
async function observe<Outcome>(
  { table }: OperationRequest,
  { meter, ...ports }: MeteredPorts,
  { planAndRun, reportOutcome }: OperationSteps<Outcome>,
): Promise<Outcome> {
  const { ledger } = ports;
  const reader = createManifestReader(ports.store);
  const outcome = await planAndRun(table, { ...ports, reader });
  if (ledger !== undefined) await reportOutcome(outcome, { ledger, meter });
  return outcome;
}

async function runUnderLease<Outcome>(
  request: OperationRequest,
  { ledger, meter, ...ports }: MeteredPorts,
  { operation, planAndRun, reportOutcome }: OperationSteps<Outcome>,
): Promise<Outcome | BusyOutcome> {
  assert(ledger !== undefined, 'a run that commits has a ledger');
  const { table, runId } = request;
  const { identifier } = table;
  const reported = { ...request, operation };
  const reportPorts = { ledger, meter };
  return workUnderLease(
    { identifier, operation, runId },
    { ...ports, ledger },
    {
      work: async ({ store, openRun }) => {
        const leased = { ...ports, ledger, store, reader: createManifestReader(store), openRun };
        const current = await refreshTable(table, leased);
        requireStateOutside(ledger.statePrefix, current.metadata);
        return planAndRun(current, leased);
      },
      report: async ({ settledRuns, ...ending }) => {
        await reportSettledRuns(settledRuns, reported, reportPorts);
        if ('error' in ending) await reportFailure(ending.error, reported, reportPorts);
        else await reportOutcome(ending.result, reportPorts);
      },
    },
  );
}
