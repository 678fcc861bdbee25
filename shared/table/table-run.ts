import { assert, isIcebergError, type Logger } from '../base/index.ts';
import type { IntentOutcome, PointerWrite, Run, RunOutcome, Tombstones } from '../ledger/index.ts';
import type { ObjectStore } from '../storage/index.ts';
import { guardedStore } from './guarded-store.ts';
import type { HeldLease } from './held-lease.ts';

/** Why an object that was written is part of nothing, should it come to that; a stable name of the tombstone list. */
export type UnusedReason = 'attempt-lost' | 'group-not-committed';

export interface TableRunPorts {
  readonly store: ObjectStore;
  readonly tombstones: Tombstones;
  readonly logger: Logger;
}

/** How a run was left: `open` is for the next run to settle. */
export type RunEnding = RunOutcome | 'open';

/**
 * One run that writes to a table, as the ledger is told of it: each object before it is written, each pointer write
 * before it is sent, and what became of both. It writes only while it has its lease.
 */
export class TableRun {
  /** The store to write through: it takes only objects that were named, and only under the lease. */
  readonly store: ObjectStore;
  readonly #run: Run;
  readonly #lease: HeldLease;
  readonly #ports: TableRunPorts;
  readonly #named = new Map<string, UnusedReason>();
  readonly #written = new Set<string>();
  readonly #committed = new Set<string>();
  readonly #trimmedMetadataFiles: string[] = [];
  readonly #closings = new Map<string, IntentOutcome>();
  #commitCount = 0;
  #isUnknown = false;
  #isUndecided = false;

  constructor(run: Run, lease: HeldLease, ports: TableRunPorts) {
    this.#run = run;
    this.#lease = lease;
    this.#ports = ports;
    this.store = guardedStore(ports.store, {
      beforeRead: () => lease.keepAlive(),
      beforeWrite: async (location) => {
        assert(this.#named.has(location), `${location}: is written without being named`);
        await lease.requireHeld();
        this.#written.add(location);
      },
    });
  }

  get runId(): string {
    return this.#run.runId;
  }

  get fencingNumber(): number {
    return this.#run.record.fencingNumber;
  }

  /** Whether nothing more may be tried: the lease is somebody else's, or the ledger leaves open what it was told. */
  get isStopped(): boolean {
    return this.#lease.isLost || this.#isUndecided;
  }

  /**
   * Names objects that are about to be written; without effect on those named before. One request of the ledger.
   *
   * @throws commit-conflict — when the run was settled by somebody else
   */
  async nameObjects(locations: readonly string[], unusedReason: UnusedReason): Promise<void> {
    const fresh = locations.filter((location) => !this.#named.has(location));
    if (fresh.length === 0) return;
    await this.#whileOpen(() => this.#run.nameObjects(fresh));
    for (const location of fresh) this.#named.set(location, unusedReason);
  }

  /**
   * Records a pointer write; it may be sent once this returns.
   *
   * @throws commit-conflict — when the lease is lost, or the run was settled by somebody else
   * @throws unavailable — when the ledger does not answer: then it must not be sent
   */
  async recordIntent(write: PointerWrite): Promise<void> {
    await this.#closeIntents();
    await this.#lease.requireHeld();
    // Until it is known what became of it. If this fails it may be recorded all the same, and is for others to settle.
    this.#isUndecided = true;
    await this.#whileOpen(() => this.#run.recordIntent(write));
  }

  /** Tells what became of the recorded pointer write. What the ledger misses of it is made up for later. */
  async closeIntent(version: string, outcome: IntentOutcome): Promise<void> {
    this.#isUndecided = false;
    if (outcome === 'unknown') this.#isUnknown = true;
    this.#closings.set(version, outcome);
    try {
      await this.#closeIntents();
    } catch (error) {
      if (!isIcebergError(error)) throw error;
      this.#ports.logger.warn('intent.unclosed', error.message, { kind: error.kind });
    }
  }

  /** It cannot be told yet whether an earlier write landed after all: nothing may go on the tombstone list. */
  markUnknown(): void {
    this.#isUnknown = true;
  }

  /** Ends everything: somebody else works on the table under a later lease. */
  markLost(): void {
    this.#lease.markLost();
  }

  /** Objects that a commit made part of the table, and metadata files that fell off its log. */
  keepCommitted(
    locations: Iterable<string>,
    { trimmedMetadataFiles }: { readonly trimmedMetadataFiles: readonly string[] },
  ): void {
    this.#commitCount++;
    for (const location of locations) this.#committed.add(location);
    this.#trimmedMetadataFiles.push(...trimmedMetadataFiles);
  }

  /**
   * Puts what was written for nothing on the tombstone list and closes the run. One request for each such object,
   * and three. A run that has lost its lease, or whose last pointer write is not decided, is left to the next one.
   */
  async finish(): Promise<RunEnding> {
    if (this.isStopped) return 'open';
    await this.#closeIntents();
    if (this.#isUnknown) return this.#run.close('unknown');
    for (const [reason, locations] of this.#unusedByReason()) {
      const { table, runId } = this.#run.record;
      await this.#ports.tombstones.add({ table, locations, reason, runId });
    }
    return this.#run.close(this.#commitCount > 0 ? 'committed' : 'abandoned');
  }

  /** Objects that were written and are part of no commit, for the report: their number. */
  get unusedObjectCount(): number {
    return [...this.#written].filter((location) => !this.#committed.has(location)).length;
  }

  #unusedByReason(): ReadonlyMap<string, readonly string[]> {
    const unused = [...this.#written].filter((location) => !this.#committed.has(location));
    const byReason = new Map<string, readonly string[]>(
      Map.groupBy(unused, (location) => this.#named.get(location) ?? 'group-not-committed'),
    );
    if (this.#trimmedMetadataFiles.length === 0) return byReason;
    return byReason.set('metadata-log-trimmed', this.#trimmedMetadataFiles);
  }

  /** Intents whose outcome the ledger has not heard of yet. */
  async #closeIntents(): Promise<void> {
    for (const [version, outcome] of this.#closings) {
      await this.#run.closeIntent(version, outcome);
      this.#closings.delete(version);
    }
  }

  /** A run that somebody else has closed has lost its lease before. */
  async #whileOpen(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (isIcebergError(error, 'commit-conflict')) this.#lease.markLost();
      throw error;
    }
  }
}
