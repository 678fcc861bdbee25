import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import {
  assert,
  type Clock,
  IcebergError,
  parseJson,
  type Random,
  randomUuid,
  serializeJson,
} from '../base/index.ts';
import { decodeUtf8 } from '../bytes/index.ts';
import type { Catalog, PointerFence, PointerUpdate, TablePointer } from './catalog.ts';
import {
  errorCode,
  type PublishCalls,
  publishFile,
  syncFolder,
  translateFileError,
} from './publish-file.ts';
import {
  formatNamespace,
  formatTableIdentifier,
  parseTableIdentifier,
  type TableIdentifier,
} from './table-identifier.ts';
import {
  fencedRecord,
  movedRecord,
  newRecord,
  parseRecord,
  type TableRecord,
} from './table-record.ts';

export interface FileCatalogOptions {
  /** Where the catalog lives; made by the first `registerTable`. */
  readonly folder: string;
  readonly clock: Clock;
  readonly random: Random;
  /** For tests: calls that fail. */
  readonly calls?: PublishCalls;
}

interface Head {
  readonly number: number;
  readonly record: TableRecord;
  readonly pointer: TablePointer;
}

const RECORD_NAME = /^\d{8}\.json$/;
const RECORD_NUMBER_MAX = 99_999_999;
const RECORD_BYTES_MAX = 1024 * 1024;

/**
 * A catalog in a local folder, for any number of processes of **one machine**: network file systems promise too
 * little. Each table is a folder `<full name>` (percent-encoded) of records `00000001.json`, `00000002.json`,
 * ...; the highest number is the pointer, the others are its history. A write links the next number in place,
 * which the file system grants to one writer; there is no lock that could be left behind.
 *
 * To drop a table, rename its folder to a name that begins with a dot, then remove that: removing it in place
 * would bring older records to light. A table made anew under its old name while a commit to the old one is
 * between its read and its link is not guarded against.
 */
export class FileCatalog implements Catalog {
  readonly #options: FileCatalogOptions;

  constructor(options: FileCatalogOptions) {
    this.#options = options;
  }

  /** One folder listing and one small read. */
  async loadTable(identifier: TableIdentifier): Promise<TablePointer> {
    const head = await this.#readHead(identifier);
    if (head !== undefined) return head.pointer;
    const fullName = formatTableIdentifier(identifier);
    await this.#requireFolder();
    throw new IcebergError('not-found', `${this.#options.folder}: has no table ${fullName}`, {
      table: fullName,
    });
  }

  /** One folder listing. */
  async *listTables(namespace?: readonly string[]): AsyncIterable<TableIdentifier> {
    const namespaceText = namespace === undefined ? undefined : formatNamespace(namespace);
    await this.#requireFolder();
    for (const entry of await readdir(this.#options.folder, { withFileTypes: true })) {
      const identifier = entry.isDirectory() ? parseFolderName(entry.name) : undefined;
      if (identifier === undefined) continue;
      if (namespaceText === undefined || identifier.namespace.join('.') === namespaceText) {
        yield identifier;
      }
    }
  }

  async registerTable(
    identifier: TableIdentifier,
    metadataLocation: string,
  ): Promise<TablePointer> {
    const version = randomUuid(this.#options.random);
    const pointer = { identifier, metadataLocation, version, properties: {} };
    const folder = this.#tableFolder(identifier);
    try {
      await mkdir(folder, { recursive: true });
      await syncFolder(this.#options.folder);
    } catch (cause) {
      throw translateFileError(cause, 'write', folder, 'unavailable');
    }
    // A table with history has its first number, too.
    await this.#publish(identifier, 1, newRecord(pointer, this.#options.clock.nowMs()));
    return pointer;
  }

  async commitTable(update: PointerUpdate): Promise<TablePointer> {
    const { base, metadataLocation, version } = update;
    await this.#writeNext(base, version, (record) =>
      movedRecord(record, update, this.#options.clock.nowMs()),
    );
    return { ...base, metadataLocation, previousMetadataLocation: base.metadataLocation, version };
  }

  async fenceTable(fence: PointerFence): Promise<TablePointer> {
    await this.#writeNext(fence.base, fence.version, (record) =>
      fencedRecord(record, fence, this.#options.clock.nowMs()),
    );
    return { ...fence.base, version: fence.version };
  }

  async #writeNext(
    base: TablePointer,
    version: string,
    change: (record: TableRecord) => TableRecord,
  ): Promise<void> {
    assert(version !== base.version, `commit: version ${version} is the base's own`);
    const head = await this.#readHead(base.identifier);
    if (head === undefined || head.pointer.version !== base.version) {
      throw this.#conflict(base.identifier, 'is not at its base');
    }
    await this.#publish(base.identifier, head.number + 1, change(head.record));
  }

  async #publish(identifier: TableIdentifier, number: number, record: TableRecord): Promise<void> {
    const { calls, random } = this.#options;
    if (number > RECORD_NUMBER_MAX) {
      const folder = this.#tableFolder(identifier);
      throw new IcebergError(
        'unsupported',
        `${folder}: ${number} records, ${RECORD_NUMBER_MAX} fit`,
      );
    }
    const outcome = await publishFile({
      folder: this.#tableFolder(identifier),
      fileName: recordName(number),
      temporaryName: `.${randomUuid(random)}.tmp`,
      text: `${serializeJson(record, 2)}\n`,
      ...(calls === undefined ? {} : { calls }),
    });
    if (outcome === 'taken') throw this.#conflict(identifier, `already has record ${number}`);
    if (outcome === 'folder-gone') throw this.#conflict(identifier, 'has been dropped');
  }

  /** The record of the highest number; undefined when the table has none, or has been dropped meanwhile. */
  async #readHead(identifier: TableIdentifier): Promise<Head | undefined> {
    const folder = this.#tableFolder(identifier);
    try {
      const names = (await readdir(folder)).filter((name) => RECORD_NAME.test(name));
      const name = names.sort().at(-1);
      if (name === undefined) return undefined;
      const record = await readRecord(`${folder}/${name}`);
      const pointer = parseRecord(record, identifier, `${folder}/${name}`);
      return { number: Number.parseInt(name, 10), record, pointer };
    } catch (cause) {
      if (cause instanceof IcebergError) throw cause;
      if (errorCode(cause) === 'ENOENT') return undefined;
      throw translateFileError(cause, 'read', folder, 'unavailable');
    }
  }

  async #requireFolder(): Promise<void> {
    try {
      await readdir(this.#options.folder);
    } catch (cause) {
      throw translateFileError(cause, 'list', this.#options.folder, 'unavailable');
    }
  }

  #tableFolder(identifier: TableIdentifier): string {
    return `${this.#options.folder}/${folderName(identifier)}`;
  }

  #conflict(identifier: TableIdentifier, problem: string): IcebergError {
    const fullName = formatTableIdentifier(identifier);
    return new IcebergError('commit-conflict', `${this.#options.folder}: ${fullName} ${problem}`);
  }
}

function folderName(identifier: TableIdentifier): string {
  return encodeURIComponent(formatTableIdentifier(identifier));
}

function recordName(number: number): string {
  return `${String(number).padStart(8, '0')}.json`;
}

async function readRecord(path: string): Promise<TableRecord> {
  const { size } = await stat(path);
  if (size > RECORD_BYTES_MAX) {
    throw new IcebergError('invalid-data', `${path}: ${size} bytes, at most ${RECORD_BYTES_MAX}`);
  }
  return parseJson(decodeUtf8(await readFile(path), path), path) as TableRecord;
}

/** Undefined for folders that are not ours. */
function parseFolderName(name: string): TableIdentifier | undefined {
  try {
    const identifier = parseTableIdentifier(decodeURIComponent(name));
    return folderName(identifier) === name ? identifier : undefined;
  } catch {
    // Neither percent-encoded text nor a table's name: somebody else's folder.
    return undefined;
  }
}
