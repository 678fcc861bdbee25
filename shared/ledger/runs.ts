import type { Lease } from './lease.ts';
import type { Leases } from './leases.ts';
import { queryAll } from './query-all.ts';
import { Run, type RunPorts } from './run.ts';
import {
  OPEN_RUN_PREFIX,
  openRunKey,
  parseRun,
  type RunRecord,
  runKey,
  serializeRun,
} from './run-record.ts';
import { removeSettled, writeSettled } from './settled-write.ts';

export interface OpenRun {
  readonly run: Run;
  /** Whether its lease is no longer its own, or has expired: then it is for the next run to settle. */
  readonly isAbandoned: boolean;
}

/** What each run on a table does: the objects it may have written, and its pointer writes. */
export class Runs {
  readonly #ports: RunPorts;
  readonly #leases: Leases;

  constructor(ports: RunPorts, leases: Leases) {
    this.#ports = ports;
    this.#leases = leases;
  }

  /**
   * Opens the run that owns the lease; its id is the lease's owner. Two writes.
   *
   * @throws commit-conflict — when the lease was lost so long ago that the run has been closed already
   */
  async open(lease: Lease, operation: string): Promise<Run> {
    const record: RunRecord = {
      runId: lease.owner,
      table: lease.table,
      operation,
      leaseScope: lease.scope,
      fencingNumber: lease.fencingNumber,
      openedAtMs: this.#ports.clock.nowMs(),
      status: 'open',
      objects: [],
      objectLists: [],
      intents: [],
    };
    // First, so that no run can be open and not be found.
    await writeSettled(
      {
        ...openRunKey(record.table, record.runId),
        body: serializeRun(record),
        baseRevision: undefined,
      },
      this.#ports,
    );
    const run = new Run(record, undefined, this.#ports);
    await run.create();
    return run;
  }

  /** A run in any state, such as one that goes on in another process. One read. */
  async read(table: string, runId: string): Promise<Run | undefined> {
    const item = await this.#ports.items.read(runKey(table, runId));
    return item === undefined ? undefined : new Run(parseRun(item), item, this.#ports);
  }

  /** Runs of a table that are not closed, in no order. One query, and for each run two reads. */
  async listOpen(table: string): Promise<OpenRun[]> {
    const { items } = this.#ports;
    const query = { partition: table, sortPrefix: OPEN_RUN_PREFIX, order: 'ascending' } as const;
    const found: OpenRun[] = [];
    for await (const marker of queryAll(items, query)) {
      const first = parseRun(marker);
      const item = await items.read(runKey(table, first.runId));
      const record = item === undefined ? first : parseRun(item);
      if (record.status !== 'open') {
        // Its process ended between closing it and removing this.
        await removeSettled(marker, this.#ports);
        continue;
      }
      const { runId, leaseScope, fencingNumber } = record;
      const grant = { table, scope: leaseScope, owner: runId, fencingNumber };
      const isAbandoned = !(await this.#leases.isHeld(grant));
      found.push({ run: new Run(record, item, this.#ports), isAbandoned });
    }
    return found;
  }
}
