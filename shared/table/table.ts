import { type Clock, IcebergError, isIcebergError } from '../base/index.ts';
import {
  type Catalog,
  formatTableIdentifier,
  type TableIdentifier,
  type TablePointer,
} from '../catalog/index.ts';
import {
  isEncrypted,
  parseTableMetadata,
  type Snapshot,
  snapshotOfRef,
  type TableMetadata,
} from '../iceberg/index.ts';
import type { ObjectStore } from '../storage/index.ts';

/** A table as the catalog and its metadata show it at one moment. */
export interface Table {
  readonly identifier: TableIdentifier;
  readonly pointer: TablePointer;
  readonly metadataLocation: string;
  readonly metadata: TableMetadata;
}

export interface TablePorts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
}

/** Largest metadata file as stored; the parser bounds what it may become when it is decompressed. */
const METADATA_FILE_BYTES_MAX = 256 * 1024 * 1024;

/** How often a metadata file is asked for, beyond the store's own retries, and the first wait in between. */
const READS_MAX = 3;
const READ_WAIT_MS = 500;

/**
 * Loads a table that Firn may change. One consistent read of the pointer and one GET.
 *
 * @throws not-found — no such table, or its metadata file is gone
 * @throws invalid-data — when the metadata breaks the specification
 * @throws unsupported — for versions above 3 and encrypted tables
 */
export async function loadTable(identifier: TableIdentifier, ports: TablePorts): Promise<Table> {
  const pointer = await ports.catalog.loadTable(identifier);
  const metadata = await loadMetadata(pointer.metadataLocation, ports);
  return { identifier, pointer, metadataLocation: pointer.metadataLocation, metadata };
}

/**
 * The table as it is now. One consistent read of the pointer, and a GET where it has moved.
 *
 * @throws commit-rejected — when another table has its name now
 * @throws as `loadTable`
 */
export async function refreshTable(table: Table, ports: TablePorts): Promise<Table> {
  return tableAt(table, await ports.catalog.loadTable(table.identifier), ports);
}

/** The table where its pointer is now. A GET where that has moved. @throws as `refreshTable` */
export async function tableAt(
  table: Table,
  pointer: TablePointer,
  ports: Omit<TablePorts, 'catalog'>,
): Promise<Table> {
  const { metadataLocation } = pointer;
  if (metadataLocation === table.metadataLocation) return { ...table, pointer };
  const metadata = await loadMetadata(metadataLocation, ports);
  // Old v1 tables have no uuid.
  const isSameTable =
    metadata.tableUuid === table.metadata.tableUuid &&
    (metadata.tableUuid !== undefined || metadata.location === table.metadata.location);
  if (isSameTable) return { identifier: table.identifier, pointer, metadataLocation, metadata };
  throw new IcebergError(
    'commit-rejected',
    `table ${formatTableIdentifier(table.identifier)}: was replaced by ${metadata.tableUuid ?? metadata.location}`,
  );
}

/** Reads a metadata file. @throws as `loadTable` */
export async function loadMetadata(
  metadataLocation: string,
  { store, clock }: Omit<TablePorts, 'catalog'>,
): Promise<TableMetadata> {
  const bytes = await readPatiently(metadataLocation, { store, clock });
  const metadata = parseNamed(bytes, metadataLocation);
  if (isEncrypted(metadata)) {
    throw new IcebergError('unsupported', `${metadataLocation}: the table is encrypted`);
  }
  return metadata;
}

/** Reports keep the message of an error alone, so that it has to name the file. */
function parseNamed(bytes: Uint8Array, metadataLocation: string): TableMetadata {
  try {
    return parseTableMetadata(bytes, metadataLocation);
  } catch (error) {
    if (!isIcebergError(error) || error.message.includes(metadataLocation)) throw error;
    const { kind, message, context, cause } = error;
    throw new IcebergError(kind, `${metadataLocation}: ${message}`, context, cause);
  }
}

async function readPatiently(
  location: string,
  { store, clock }: Omit<TablePorts, 'catalog'>,
): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.read(location, METADATA_FILE_BYTES_MAX);
    } catch (error) {
      if (!isIcebergError(error, 'unavailable') || attempt === READS_MAX) throw error;
      await clock.sleepMs(READ_WAIT_MS * 2 ** (attempt - 1));
    }
  }
}

/**
 * The snapshot that a branch points to, or undefined where the table has none yet.
 *
 * @throws invalid-config — when the name is a tag's, or no branch has it and it is not `main`
 */
export function headOfBranch(
  { identifier, metadata }: Table,
  branch: string,
): Snapshot | undefined {
  const type = metadata.refs.get(branch)?.type;
  if (type === 'branch') return snapshotOfRef(metadata, branch);
  if (type === undefined && branch === 'main') return undefined;
  throw new IcebergError(
    'invalid-config',
    `table ${formatTableIdentifier(identifier)}: ${branch} is ${type === undefined ? 'no branch' : 'a tag'}`,
  );
}
