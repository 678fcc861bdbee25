import { assert, type Clock, IcebergError, type Random, randomUuid } from '../base/index.ts';
import type { Catalog, PointerFence, PointerUpdate, TablePointer } from './catalog.ts';
import {
  formatNamespace,
  formatTableIdentifier,
  type TableIdentifier,
} from './table-identifier.ts';
import {
  fencedRecord,
  movedRecord,
  newRecord,
  parseRecord,
  type TableRecord,
} from './table-record.ts';

/**
 * What may go wrong with one conditional write:
 *
 * - `conflict`: somebody else's write lands first;
 * - `throttled`: turned away, not applied;
 * - `lost-before`: no answer, never applied;
 * - `lost-after`: applied, no answer;
 * - `late`: no answer, still under way: applied, or turned away, by `deliverLateWrites`.
 */
export type WriteFault = 'conflict' | 'throttled' | 'lost-before' | 'lost-after' | 'late';

/** Asked before each request; undefined lets it pass. */
export interface CatalogFaults {
  readonly onRead?: (identifier: TableIdentifier) => 'unavailable' | undefined;
  readonly onWrite?: (base: TablePointer) => WriteFault | undefined;
}

export interface MemoryCatalogOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly faults?: CatalogFaults;
}

/** Tables in memory, for tests and simulation: faults on demand, and what other writers do by raw calls. */
export class MemoryCatalog implements Catalog {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #faults: CatalogFaults;
  readonly #records = new Map<string, TableRecord>();
  #lateWrites: (() => void)[] = [];

  constructor({ clock, random, faults = {} }: MemoryCatalogOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#faults = faults;
  }

  async loadTable(identifier: TableIdentifier): Promise<TablePointer> {
    const fullName = formatTableIdentifier(identifier);
    if (this.#faults.onRead?.(identifier) === 'unavailable') {
      throw new IcebergError('unavailable', `memory catalog: no answer for ${fullName}`);
    }
    const record = this.#records.get(fullName);
    if (record === undefined) {
      throw new IcebergError('not-found', `memory catalog: has no table ${fullName}`, {
        table: fullName,
      });
    }
    return parseRecord(record, identifier, `memory catalog: record of ${fullName}`);
  }

  async *listTables(namespace?: readonly string[]): AsyncIterable<TableIdentifier> {
    const namespaceText = namespace === undefined ? undefined : formatNamespace(namespace);
    for (const fullName of [...this.#records.keys()]) {
      const parts = fullName.split('.');
      const levels = parts.slice(0, -1);
      if (namespaceText !== undefined && levels.join('.') !== namespaceText) continue;
      yield { namespace: levels, name: parts.at(-1) ?? '' };
    }
  }

  async registerTable(
    identifier: TableIdentifier,
    metadataLocation: string,
  ): Promise<TablePointer> {
    const fullName = formatTableIdentifier(identifier);
    const version = randomUuid(this.#random);
    const pointer = { identifier, metadataLocation, version, properties: {} };
    if (this.#records.has(fullName)) {
      throw new IcebergError('commit-conflict', `memory catalog: already has a table ${fullName}`);
    }
    this.#records.set(fullName, newRecord(pointer, this.#clock.nowMs()));
    return pointer;
  }

  async commitTable(update: PointerUpdate): Promise<TablePointer> {
    const { base, metadataLocation, version } = update;
    this.#writeWithFaults(base, version, (record) =>
      movedRecord(record, update, this.#clock.nowMs()),
    );
    return { ...base, metadataLocation, previousMetadataLocation: base.metadataLocation, version };
  }

  async fenceTable(fence: PointerFence): Promise<TablePointer> {
    const { base, version } = fence;
    this.#writeWithFaults(base, version, (record) =>
      fencedRecord(record, fence, this.#clock.nowMs()),
    );
    return { ...base, version };
  }

  /** Lets writes that a `late` fault held back arrive now, in their order; their condition still counts. */
  deliverLateWrites(): void {
    const lateWrites = this.#lateWrites;
    this.#lateWrites = [];
    for (const write of lateWrites) write();
  }

  /** What another writer's drop does. */
  dropTable(identifier: TableIdentifier): void {
    this.#records.delete(formatTableIdentifier(identifier));
  }

  /** What another writer's rename does: the record under another name, with a new version. */
  renameTable(source: TableIdentifier, target: TableIdentifier): void {
    const record = this.readRecord(source);
    const { namespace, name } = target;
    const version = randomUuid(this.#random);
    this.#records.delete(formatTableIdentifier(source));
    this.writeRecord(target, { ...record, namespace, name, version });
  }

  /** What another writer's commit does, a replacement of the table included: unconditional here. */
  replaceTable(identifier: TableIdentifier, metadataLocation: string): void {
    const record = this.readRecord(identifier);
    const base = parseRecord(record, identifier, 'memory catalog');
    const update = { base, metadataLocation, version: randomUuid(this.#random) };
    this.writeRecord(identifier, movedRecord(record, update, this.#clock.nowMs()));
  }

  /** The raw record. @throws not-found */
  readRecord(identifier: TableIdentifier): TableRecord {
    const fullName = formatTableIdentifier(identifier);
    const record = this.#records.get(fullName);
    if (record !== undefined) return record;
    throw new IcebergError('not-found', `memory catalog: has no table ${fullName}`);
  }

  /** Puts a raw record in place, whatever is there. */
  writeRecord(identifier: TableIdentifier, record: TableRecord): void {
    this.#records.set(formatTableIdentifier(identifier), record);
  }

  #writeWithFaults(
    base: TablePointer,
    version: string,
    change: (record: TableRecord) => TableRecord,
  ): void {
    assert(version !== base.version, `commit: version ${version} is the base's own`);
    const fullName = formatTableIdentifier(base.identifier);
    const write = () => this.#writeIfUnchanged(fullName, base, change);
    const fault = this.#faults.onWrite?.(base);
    if (fault === 'throttled') {
      throw new IcebergError('unavailable', `memory catalog: write of ${fullName} turned away`);
    }
    if (fault === 'conflict') this.#touch(base.identifier);
    if (fault === 'lost-after') write();
    if (fault === 'late') this.#lateWrites.push(write);
    if (fault === undefined || fault === 'conflict') {
      if (write()) return;
      throw new IcebergError('commit-conflict', `memory catalog: ${fullName} is not at its base`);
    }
    throw new IcebergError('commit-state-unknown', `memory catalog: no answer for ${fullName}`);
  }

  /** Whether the record was at its base and has been changed. */
  #writeIfUnchanged(
    fullName: string,
    base: TablePointer,
    change: (record: TableRecord) => TableRecord,
  ): boolean {
    const record = this.#records.get(fullName);
    if (record?.['version'] !== base.version) return false;
    this.#records.set(fullName, change(record));
    return true;
  }

  /** Somebody else's write that changes a property, and with it the version. */
  #touch(identifier: TableIdentifier): void {
    const record = this.#records.get(formatTableIdentifier(identifier));
    if (record === undefined) return;
    const version = randomUuid(this.#random);
    this.writeRecord(identifier, fencedRecord(record, { version }, this.#clock.nowMs()));
  }
}
