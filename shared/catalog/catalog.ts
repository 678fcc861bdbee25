/** A table's name: one or more namespace levels and the table, none empty, none with a dot. */
export interface TableIdentifier {
  readonly namespace: readonly string[];
  readonly name: string;
}

/** What the catalog says of a table at one moment. */
export interface TablePointer {
  readonly identifier: TableIdentifier;
  readonly metadataLocation: string;
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

/**
 * The pointer from a table's name to its current metadata file. The one place where a table changes.
 * Every method throws `access-denied` naming the action and the catalog table, and `unavailable` when the
 * service does not answer.
 */
export interface Catalog {
  /** A strongly consistent read. @throws not-found — no such table; invalid-data — not an Iceberg item */
  loadTable(identifier: TableIdentifier): Promise<TablePointer>;
  /** Identifiers of all tables, or of one namespace; may lag behind writes. */
  listTables(namespace?: readonly string[]): AsyncIterable<TableIdentifier>;
  /** Adds a table that exists as metadata. @throws commit-conflict — when the name is taken */
  registerTable(identifier: TableIdentifier, metadataLocation: string): Promise<TablePointer>;
  /**
   * One conditional write, never repeated by the SDK: the pointer moves if and only if its version is still
   * `base.version`.
   *
   * @throws commit-conflict — the condition did not hold: the pointer was not moved by this call
   * @throws commit-state-unknown — no answer arrived: it may or may not have been moved, now or later
   */
  commitTable(update: PointerUpdate): Promise<TablePointer>;
}
