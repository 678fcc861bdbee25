import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type ErrorKind,
  IcebergError,
  isJsonObject,
  type JsonObject,
  mapConcurrent,
  parseJson,
  type Random,
  serializeJson,
} from '../base/index.ts';
import { decodeUtf8, encodeUtf8 } from '../bytes/index.ts';
import { LocalObjectStore } from '../storage/index.ts';
import type { DueItem, DueQuery, Item, ItemKey, ItemQuery, ItemStore } from './item-store.ts';
import { pickDue } from './pick-due.ts';
import { pickSorts } from './pick-sorts.ts';
import { RecordFields } from './record.ts';

export interface FileItemStoreOptions {
  /** Where the ledger lives; made by the first write. */
  readonly folder: string;
  readonly random: Random;
}

interface Head {
  /** Of the newest record; 0 when there is none. */
  readonly number: number;
  /** Undefined when the newest record says that the item was removed. */
  readonly item: Item | undefined;
}

const KINDS: Readonly<Record<string, ErrorKind>> = {
  EACCES: 'access-denied',
  EPERM: 'access-denied',
  // A table's name that no folder can have.
  ENAMETOOLONG: 'invalid-config',
};

const RECORD_NAME = /^\d{8}\.json$/;
const RECORD_NUMBER_MAX = 99_999_999;
const RECORD_BYTES_MAX = 4 * 1024 * 1024;
const READ_CONCURRENCY = 16;

/**
 * Items in a local folder, for any number of processes of **one machine**. Each item is a folder
 * `<partition>/<sort key>` (percent-encoded) of records `00000001.json`, `00000002.json`, ...; the highest number
 * counts, and may say that the item was removed. A write links the next number in place, which the file system
 * grants to one writer. Nothing is ever cleaned up: made for trials and small teams, not for years.
 */
export class FileItemStore implements ItemStore {
  readonly #folder: string;
  readonly #store: LocalObjectStore;

  constructor({ folder, random }: FileItemStoreOptions) {
    this.#folder = resolve(folder);
    this.#store = new LocalObjectStore({ root: this.#folder, random });
  }

  /** One folder listing and one small read. */
  async read(key: ItemKey): Promise<Item | undefined> {
    return (await this.#readHead(key)).item;
  }

  /** A folder listing, and a read for each item and each removed one. */
  async query(query: ItemQuery): Promise<readonly Item[]> {
    const { partition, itemCountMax } = query;
    const names = await listNames(`${this.#folder}/${encodeURIComponent(partition)}`);
    const sorts = pickSorts(names.map(decodeURIComponent).sort(), query);
    const found: Item[] = [];
    for (
      let start = 0;
      start < sorts.length && found.length < itemCountMax;
      start += itemCountMax
    ) {
      const heads = await mapConcurrent(
        sorts.slice(start, start + itemCountMax),
        { concurrencyMax: READ_CONCURRENCY },
        (sort) => this.#readHead({ partition, sort }),
      );
      found.push(...heads.flatMap(({ item }) => item ?? []));
    }
    return found.slice(0, itemCountMax);
  }

  /** A listing of all tables, and a listing and a read for each that has such an item. */
  async queryDue(query: DueQuery): Promise<readonly DueItem[]> {
    const names = await listNames(this.#folder);
    const items = await mapConcurrent(names, { concurrencyMax: READ_CONCURRENCY }, (name) =>
      this.read({ partition: decodeURIComponent(name), sort: query.sort }),
    );
    return pickDue(
      items.filter((item) => item !== undefined),
      query,
    );
  }

  async write(item: Item, baseRevision: string | undefined): Promise<void> {
    await this.#writeNext(item, baseRevision, {
      revision: item.revision,
      body: item.body,
      ...(item.expiresAtMs === undefined ? {} : { 'expires-at-ms': item.expiresAtMs }),
      ...(item.dueAtMs === undefined ? {} : { 'due-at-ms': item.dueAtMs }),
    });
  }

  async remove(key: ItemKey, baseRevision: string): Promise<void> {
    await this.#writeNext(key, baseRevision, { 'is-removed': true });
  }

  async #writeNext(
    key: ItemKey,
    baseRevision: string | undefined,
    record: JsonObject,
  ): Promise<void> {
    const head = await this.#readHead(key);
    const path = this.#itemFolder(key);
    if (head.item?.revision !== baseRevision) {
      throw new IcebergError('commit-conflict', `${path}: is not at its base`);
    }
    const number = head.number + 1;
    if (number > RECORD_NUMBER_MAX) {
      throw new IcebergError('unsupported', `${path}: ${number} records, ${RECORD_NUMBER_MAX} fit`);
    }
    const bytes = encodeUtf8(`${serializeJson(record)}\n`);
    await this.#store.write(`${path}/${recordName(number)}`, bytes, { mustBeNew: true });
  }

  async #readHead(key: ItemKey): Promise<Head> {
    const folder = this.#itemFolder(key);
    const names = (await listNames(folder)).filter((name) => RECORD_NAME.test(name)).sort();
    const name = names.at(-1);
    if (name === undefined) return { number: 0, item: undefined };
    const path = `${folder}/${name}`;
    const text = decodeUtf8(await this.#store.read(path, RECORD_BYTES_MAX), path);
    return { number: Number.parseInt(name, 10), item: parseItem(text, { key, path }) };
  }

  #itemFolder({ partition, sort }: ItemKey): string {
    return `${this.#folder}/${encodeURIComponent(partition)}/${encodeURIComponent(sort)}`;
  }
}

function recordName(number: number): string {
  return `${String(number).padStart(8, '0')}.json`;
}

function parseItem(
  text: string,
  { key, path }: { readonly key: ItemKey; readonly path: string },
): Item | undefined {
  const record = parseJson(text, path);
  if (isJsonObject(record) && record['is-removed'] === true) return undefined;
  const fields = new RecordFields(record, path);
  return {
    partition: key.partition,
    sort: key.sort,
    revision: fields.text('revision'),
    body: fields.object('body'),
    ...(fields.has('expires-at-ms') ? { expiresAtMs: fields.count('expires-at-ms') } : {}),
    ...(fields.has('due-at-ms') ? { dueAtMs: fields.count('due-at-ms') } : {}),
  };
}

/** Names in a folder; none when it is not there. */
async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (code === 'ENOENT') return [];
    const kind = KINDS[code] ?? 'unavailable';
    throw new IcebergError(kind, `${folder}: no success in list (${code})`, {}, cause);
  }
}
