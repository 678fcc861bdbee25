import { createHash } from 'node:crypto';
import { mapConcurrent } from '../base/index.ts';
import { toHex } from '../bytes/index.ts';
import type { Item, ItemKey } from './item-store.ts';
import { queryAll } from './query-all.ts';
import { itemFields, newBody } from './record.ts';
import { type LedgerPorts, removeSettled, writeSettled } from './settled-write.ts';

/** An object that nothing committed refers to, as far as the run knew that noted it. */
export interface Tombstone {
  readonly table: string;
  /** Bucket and key exactly as they are. */
  readonly location: string;
  /** Why it may go, such as `attempt-lost`; a stable name. */
  readonly reason: string;
  readonly runId: string;
  readonly notedAtMs: number;
  /** Of its item: what is removed is this entry and no later one. */
  readonly revision: string;
}

export interface TombstoneBatch {
  readonly table: string;
  readonly locations: Iterable<string> | AsyncIterable<string>;
  readonly reason: string;
  readonly runId: string;
}

const TOMBSTONE_PREFIX = 'tombstone#';

/** A partition of the table takes 1,000 writes a second; one item takes some 5 ms. */
const CONCURRENCY_MAX = 16;
const CHUNK_COUNT = 1000;

/**
 * Objects to be deleted some time, by the operations that delete and after their own checks: being on the list
 * is no permission. Each object is on it once, with the time and the reason it was first noted.
 */
export class Tombstones {
  readonly #ports: LedgerPorts;

  constructor(ports: LedgerPorts) {
    this.#ports = ports;
  }

  /** Notes objects; those on the list already stay as they are. One write for each. */
  async add({ table, locations, reason, runId }: TombstoneBatch): Promise<void> {
    const notedAtMs = this.#ports.clock.nowMs();
    const note = async (location: string): Promise<void> => {
      const body = newBody({ location, reason, 'run-id': runId, 'noted-at-ms': notedAtMs });
      // A conflict means that it is there.
      await writeSettled(
        { ...tombstoneKey(table, location), body, baseRevision: undefined },
        this.#ports,
      );
    };
    for await (const chunk of chunksOf(locations)) {
      await mapConcurrent(chunk, { concurrencyMax: CONCURRENCY_MAX }, note);
    }
  }

  /** All tombstones of a table, in no order; one query for each 500. Changes meanwhile may or may not show. */
  async *list(table: string): AsyncIterable<Tombstone> {
    const query = { partition: table, sortPrefix: TOMBSTONE_PREFIX, order: 'ascending' } as const;
    for await (const item of queryAll(this.#ports.items, query)) {
      yield parseTombstone(item);
    }
  }

  /** Takes tombstones off the list, whatever has become of their objects. One write for each. */
  async remove(tombstones: readonly Tombstone[]): Promise<void> {
    await mapConcurrent(tombstones, { concurrencyMax: CONCURRENCY_MAX }, (tombstone) => {
      const { table, location, revision } = tombstone;
      return removeSettled({ ...tombstoneKey(table, location), revision }, this.#ports);
    });
  }
}

/** A location may be longer than a sort key. */
function tombstoneKey(table: string, location: string): ItemKey {
  const hash = toHex(createHash('sha256').update(location, 'utf8').digest());
  return { partition: table, sort: `${TOMBSTONE_PREFIX}${hash}` };
}

function parseTombstone(item: Item): Tombstone {
  const fields = itemFields(item);
  return {
    table: item.partition,
    location: fields.text('location'),
    reason: fields.text('reason'),
    runId: fields.text('run-id'),
    notedAtMs: fields.count('noted-at-ms'),
    revision: item.revision,
  };
}

async function* chunksOf(
  locations: Iterable<string> | AsyncIterable<string>,
): AsyncIterable<readonly string[]> {
  let chunk: string[] = [];
  for await (const location of locations) {
    chunk.push(location);
    if (chunk.length < CHUNK_COUNT) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
