import type { TableIdentifier } from './table-identifier.ts';

/** What the catalog says of a table at one moment. */
export interface TablePointer {
  readonly identifier: TableIdentifier;
  readonly metadataLocation: string;
  /** The pointer before the last move; absent on a new table. */
  readonly previousMetadataLocation?: string;
  /** Changes with every write of the item; the optimistic lock (`v` on DynamoDB). */
  readonly version: string;
  /** Other catalog properties of the table, without any prefix. */
  readonly properties: Readonly<Record<string, string>>;
}

export interface PointerUpdate {
  /** The pointer that the new metadata was built on. */
  readonly base: TablePointer;
  readonly metadataLocation: string;
  /** The version the item gets; fresh for each attempt, chosen by the caller so that it can be recognised. */
  readonly version: string;
}

export interface PointerFence {
  /** The pointer as it was read; writes that are conditional on its version can no longer land. */
  readonly base: TablePointer;
  /** The version the item gets; unlike any before, and fixed for one settlement. */
  readonly version: string;
}

/**
 * The pointer from a table's name to its current metadata file. The one place where a table changes.
 *
 * Every method throws `access-denied` naming the action and the catalog's table or file, `invalid-config` for
 * an identifier that is no table name or a request that the catalog refuses as malformed, and `not-found` when
 * the catalog itself does not exist. Reads repeat what may succeed later, then throw `unavailable`. A write is
 * sent once: `unavailable` means that it was certainly not applied (throttled, never connected), and
 * `commit-state-unknown` that it may or may not have been, now or later.
 */
export interface Catalog {
  /**
   * A strongly consistent read.
   *
   * @throws not-found — no such table; unlike for a catalog that does not exist, the context has `table`
   * @throws invalid-data — not an Iceberg item
   */
  loadTable(identifier: TableIdentifier): Promise<TablePointer>;
  /**
   * Identifiers of all tables, or of exactly one namespace (not of namespaces below it), in no order; may lag
   * behind writes, and says nothing of what kind of tables they are.
   */
  listTables(namespace?: readonly string[]): AsyncIterable<TableIdentifier>;
  /**
   * Adds a table that exists as metadata; one conditional write.
   *
   * @throws commit-conflict — when the name is taken
   * @throws commit-state-unknown — no answer arrived
   */
  registerTable(identifier: TableIdentifier, metadataLocation: string): Promise<TablePointer>;
  /**
   * One conditional write, never repeated: the pointer moves if and only if its version is still
   * `base.version`. Attributes that are not part of a pointer stay as they are.
   *
   * @throws commit-conflict — the condition did not hold (also: the table is gone); this call moved nothing
   * @throws commit-state-unknown — no answer arrived: it may or may not have been moved, now or later
   */
  commitTable(update: PointerUpdate): Promise<TablePointer>;
  /**
   * Changes the version and nothing else, under the same condition and with the same errors as `commitTable`:
   * once it succeeds, no write conditional on `base.version` can land any more.
   */
  fenceTable(fence: PointerFence): Promise<TablePointer>;
}
