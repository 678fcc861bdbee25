import { assert, createTurns, IcebergError } from '../base/index.ts';
import { encodeUtf8 } from '../bytes/index.ts';
import { type Intent, type IntentOutcome, type PointerWrite, trimIntents } from './intent.ts';
import type { Item } from './item-store.ts';
import {
  openRunKey,
  parseRun,
  type RunOutcome,
  type RunRecord,
  runKey,
  serializeRun,
} from './run-record.ts';
import { type LedgerPorts, removeSettled, writeSettled } from './settled-write.ts';
import { readState, type StateStore, writeState } from './state-store.ts';

export interface RunPorts extends LedgerPorts {
  readonly state: StateStore;
}

/** A run's own item names this much; more goes to the state store, so that the item stays cheap to change. */
const INLINE_BYTES_MAX = 64 * 1024;

/** Locations in one object of the state store: some 4 MB. */
const LIST_COUNT_MAX = 20_000;

/** Some 100 KB of names; with full lists, 20 million objects. */
const OBJECT_LISTS_MAX = 1000;

/** Others write a run's item a few times at most: to settle it, or as workers of the same run. */
const CONFLICTS_MAX = 20;

/**
 * One run of an operation on a table, as the ledger has it: its own process's, or one that somebody else left
 * behind. Once it is closed, by whomever, it takes no more objects and no more intents: a process that sleeps
 * through the loss of its lease is stopped at its next step. Methods may overlap; they take effect in turn.
 */
export class Run {
  readonly #ports: RunPorts;
  readonly #inTurn = createTurns();
  #record: RunRecord;
  /** As last written or seen; undefined while there is none. */
  #item: Item | undefined;

  /** @param item undefined when the run's item does not exist yet: then `record` is the first one */
  constructor(record: RunRecord, item: Item | undefined, ports: RunPorts) {
    this.#record = record;
    this.#item = item;
    this.#ports = ports;
  }

  /** As last written or seen. */
  get record(): RunRecord {
    return this.#record;
  }

  get runId(): string {
    return this.#record.runId;
  }

  /** The pointer write that may be under way; a closed run has none. */
  get openIntent(): Intent | undefined {
    return this.#record.intents.find(({ state }) => state === 'open');
  }

  /**
   * Names objects that the run is about to write; to be called before they are. One write, and now and then a
   * PUT to the state store.
   *
   * @throws commit-conflict — when the run has been closed: then nothing may be written
   * @throws unsupported — beyond 1,000 lists
   */
  nameObjects(locations: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const ownLists = new Set<string>();
      await this.#change(async (record) => {
        this.#requireOpen(record);
        const known = new Set(record.objects);
        const added = [...new Set(locations)].filter((location) => !known.has(location));
        // A list of ours may be in the record although the answer of its write was lost.
        const isListed = record.objectLists.some((list) => ownLists.has(list));
        if (added.length === 0 || isListed) return record;
        const objects = [...record.objects, ...added];
        if (textBytes(objects) <= INLINE_BYTES_MAX) return { ...record, objects };
        const lists = await this.#writeLists(objects);
        for (const list of lists) ownLists.add(list);
        const objectLists = [...record.objectLists, ...lists];
        this.#requireFewLists(objectLists);
        return { ...record, objects: [], objectLists };
      });
    });
  }

  /** Every location that was named, some perhaps more than once. One GET for each 20,000 that are in lists. */
  async *objects(): AsyncIterable<string> {
    const { objects, objectLists } = this.#record;
    for (const location of objectLists) {
      yield* (await readState(location, this.#ports.state)).texts('locations');
    }
    yield* objects;
  }

  /**
   * Records a pointer write that is about to be sent; nothing may be sent before this returns. One write.
   *
   * @throws commit-conflict — when the run has been closed: then nothing may be sent
   */
  recordIntent(write: PointerWrite): Promise<void> {
    return this.#inTurn(async () => {
      const recordedAtMs = this.#ports.clock.nowMs();
      await this.#change(async (record) => {
        this.#requireOpen(record);
        if (record.intents.some(({ version }) => version === write.version)) return record;
        const open = record.intents.find(({ state }) => state === 'open');
        assert(open === undefined, `run ${record.runId}: intent ${open?.version} is still open`);
        const intent: Intent = { ...write, recordedAtMs, state: 'open' };
        return { ...record, intents: trimIntents([...record.intents, intent]) };
      });
    });
  }

  /**
   * Records what became of a pointer write. What was recorded first counts, whoever did it, and is returned;
   * only `unknown` gives way to one who knows. One write.
   */
  closeIntent(version: string, outcome: IntentOutcome): Promise<IntentOutcome> {
    return this.#inTurn(async () => {
      const changed = await this.#change(async (record) => {
        const intent = findIntent(record, version);
        const isDecided = intent.state !== 'open' && intent.state !== 'unknown';
        if (isDecided || intent.state === outcome || record.status !== 'open') return record;
        const intents = record.intents.map((other) =>
          other === intent ? { ...intent, state: outcome } : other,
        );
        return { ...record, intents };
      });
      const { state } = findIntent(changed, version);
      assert(state !== 'open', `run ${changed.runId}: is closed with an open intent ${version}`);
      return state;
    });
  }

  /**
   * Ends the run. What was recorded first counts, whoever did it, and is returned. One write, one read and one
   * removal.
   *
   * @throws commit-conflict — when an intent is open, or when the run has named more objects since this one last
   *   saw it: then it is to be settled again, with what `record` and `objects` say now
   */
  close(outcome: RunOutcome): Promise<RunOutcome> {
    return this.#inTurn(async () => {
      const closedAtMs = this.#ports.clock.nowMs();
      const seen = this.#record;
      const { status, table, runId } = await this.#change(async (record) => {
        if (record.status !== 'open') return record;
        requireSettled(record);
        if (outcome !== 'unknown') requireSameObjects(seen, record);
        return { ...record, status: outcome, closedAtMs };
      });
      assert(status !== 'open', `run ${runId}: is open after it was closed`);
      const marker = await this.#ports.items.read(openRunKey(table, runId));
      if (marker !== undefined) await removeSettled(marker, this.#ports);
      return status;
    });
  }

  /** Writes the first record; only the one who opens the run calls it. @throws commit-conflict — when it is there */
  create(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#change(async (record) => {
        this.#requireOpen(record);
        return this.#item === undefined ? { ...record } : record;
      });
    });
  }

  /** Replaces the record by what `change` makes of the current one; the same object means that nothing is to be done. */
  async #change(change: (record: RunRecord) => Promise<RunRecord>): Promise<RunRecord> {
    for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
      const record = await change(this.#record);
      if (record === this.#record) return record;
      const { table, runId } = record;
      const write = {
        ...runKey(table, runId),
        body: serializeRun(record),
        baseRevision: this.#item?.revision,
      };
      const outcome = await writeSettled(write, this.#ports);
      if (outcome.outcome === 'written') {
        this.#item = outcome.item;
        this.#record = record;
        return record;
      }
      if (outcome.current === undefined) throw runIsGone(runId);
      this.#item = outcome.current;
      this.#record = parseRun(outcome.current);
    }
    throw new IcebergError(
      'unavailable',
      `run ${this.runId}: changed by others ${CONFLICTS_MAX} times in a row`,
    );
  }

  async #writeLists(objects: readonly string[]): Promise<string[]> {
    const lists: string[] = [];
    for (let start = 0; start < objects.length; start += LIST_COUNT_MAX) {
      const locations = objects.slice(start, start + LIST_COUNT_MAX);
      const list = { folder: `runs/${this.runId}`, fields: { locations } };
      lists.push(await writeState(list, this.#ports));
    }
    return lists;
  }

  #requireFewLists(objectLists: readonly string[]): void {
    if (objectLists.length <= OBJECT_LISTS_MAX) return;
    throw new IcebergError(
      'unsupported',
      `run ${this.runId}: ${objectLists.length} lists of objects exceed the limit of ${OBJECT_LISTS_MAX}`,
    );
  }

  #requireOpen({ runId, status }: RunRecord): void {
    if (status === 'open') return;
    throw new IcebergError('commit-conflict', `run ${runId}: was closed as ${status}`, { runId });
  }
}

function requireSettled({ runId, intents }: RunRecord): void {
  const open = intents.find(({ state }) => state === 'open');
  if (open === undefined) return;
  throw new IcebergError(
    'commit-conflict',
    `run ${runId}: intent ${open.version} is open, settle it first`,
  );
}

/** Every object that was named and came to nothing is on the tombstone list before the run is closed. */
function requireSameObjects(seen: RunRecord, record: RunRecord): void {
  const isSame =
    seen.objects.length === record.objects.length &&
    seen.objectLists.length === record.objectLists.length;
  if (isSame) return;
  throw new IcebergError(
    'commit-conflict',
    `run ${record.runId}: has named more objects, settle it again`,
  );
}

function findIntent(record: RunRecord, version: string): Intent {
  const intent = record.intents.find((other) => other.version === version);
  assert(intent !== undefined, `run ${record.runId}: has no intent ${version}`);
  return intent;
}

/** Runs are never removed. */
function runIsGone(runId: string): IcebergError {
  return new IcebergError('invalid-data', `run ${runId}: its item is gone`, { runId });
}

function textBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + encodeUtf8(text).length, 0);
}
