import {
  type Clock,
  IcebergError,
  isIcebergError,
  type JsonObject,
  type Random,
  randomFraction,
  randomUuid,
  serializeJson,
} from '../base/index.ts';
import { encodeUtf8 } from '../bytes/index.ts';
import type { Item, ItemKey, ItemStore } from './item-store.ts';

/** What a change of the ledger needs of the world. */
export interface LedgerPorts {
  readonly items: ItemStore;
  readonly clock: Clock;
  readonly random: Random;
}

export interface ItemWrite extends ItemKey {
  readonly body: JsonObject;
  readonly expiresAtMs?: number;
  readonly dueAtMs?: number;
  /** Of the item that the body was made from; undefined when there was none. */
  readonly baseRevision: string | undefined;
}

export type WriteOutcome =
  | { readonly outcome: 'written'; readonly item: Item }
  /** Somebody else's item is there, or none; one's own may have been there in between. */
  | { readonly outcome: 'conflict'; readonly current: Item | undefined };

/** DynamoDB takes 400 KB; names, keys and other attributes need little. */
const BODY_BYTES_MAX = 384 * 1024;

/** Six attempts with full jitter: at most 3.1 s of waiting. */
const WRITE_ATTEMPTS_MAX = 6;
const WRITE_WAIT_MS_FIRST = 100;

/**
 * One conditional write whose outcome is known. When an answer is lost, the item is read back: our own revision
 * means that it was applied. While the base still stands, the very same write is sent again: of all copies, a
 * late one included, only one can meet the base. Costs one write; each thing that goes wrong, a read and a write.
 *
 * @throws unavailable — it may or may not have been applied, now or later
 * @throws unsupported — when the body exceeds 384 KiB
 */
export async function writeSettled(write: ItemWrite, ports: LedgerPorts): Promise<WriteOutcome> {
  const { baseRevision, ...content } = write;
  requireFitting(write);
  const item: Item = { ...content, revision: randomUuid(ports.random) };
  const send = () => ports.items.write(item, baseRevision);
  for (const attempts = new Attempts(ports, item); ; await attempts.waitForNext()) {
    if (await attempts.try(send)) return { outcome: 'written', item };
    const current = await ports.items.read(item);
    if (current?.revision === item.revision) return { outcome: 'written', item };
    if (current?.revision !== baseRevision) return { outcome: 'conflict', current };
  }
}

/**
 * Removes an item unless it has been changed; without effect on one that is gone.
 *
 * @throws unavailable — it may or may not have been removed, now or later
 */
export async function removeSettled(
  item: ItemKey & Pick<Item, 'revision'>,
  ports: LedgerPorts,
): Promise<void> {
  const send = () => ports.items.remove(item, item.revision);
  for (const attempts = new Attempts(ports, item); ; await attempts.waitForNext()) {
    if (await attempts.try(send)) return;
    const current = await ports.items.read(item);
    if (current?.revision !== item.revision) return;
  }
}

/** How often one write has been sent, and why it has to be sent again. */
class Attempts {
  readonly #ports: LedgerPorts;
  readonly #key: ItemKey;
  #count = 0;
  #failure: IcebergError | undefined;

  constructor(ports: LedgerPorts, key: ItemKey) {
    this.#ports = ports;
    this.#key = key;
  }

  /** False when only the item itself can tell whether the write was applied. */
  async try(send: () => Promise<void>): Promise<boolean> {
    this.#count++;
    try {
      await send();
      return true;
    } catch (error) {
      if (!isOpen(error)) throw error;
      this.#failure = error;
      return false;
    }
  }

  async waitForNext(): Promise<void> {
    if (this.#count === WRITE_ATTEMPTS_MAX) {
      throw new IcebergError(
        'unavailable',
        `ledger item ${this.#key.sort} of ${this.#key.partition}: not written after ${this.#count} attempts`,
        { ...pickKey(this.#key) },
        this.#failure,
      );
    }
    const waitMsMax = WRITE_WAIT_MS_FIRST * 2 ** (this.#count - 1);
    await this.#ports.clock.sleepMs(Math.floor(randomFraction(this.#ports.random) * waitMsMax));
  }
}

/** Some stores also answer a conflict while another write is under way, and some lose the answer of a conflict. */
function isOpen(error: unknown): error is IcebergError {
  return (
    isIcebergError(error, 'commit-conflict') ||
    isIcebergError(error, 'commit-state-unknown') ||
    isIcebergError(error, 'unavailable')
  );
}

function requireFitting({ partition, sort, body }: ItemWrite): void {
  const bodyBytes = encodeUtf8(serializeJson(body)).length;
  if (bodyBytes <= BODY_BYTES_MAX) return;
  throw new IcebergError(
    'unsupported',
    `ledger item ${sort} of ${partition}: ${bodyBytes} bytes exceed the limit of ${BODY_BYTES_MAX}`,
  );
}

function pickKey({ partition, sort }: ItemKey): {
  readonly partition: string;
  readonly sort: string;
} {
  return { partition, sort };
}
