import {
  assert,
  type Clock,
  IcebergError,
  isJsonObject,
  type JsonObject,
  parseJson,
  type Random,
  randomInt63,
  randomUuid,
  serializeJson,
} from '../../shared/base/index.ts';
import type { Catalog, TableIdentifier } from '../../shared/catalog/index.ts';
import {
  applyTableUpdates,
  assignFirstRowIds,
  createPartitionSpec,
  createSchema,
  createSnapshot,
  type DataFile,
  type FileOfSpec,
  type FormatVersion,
  type ManifestFile,
  type NestedField,
  type NewManifestEntry,
  newDataLocation,
  newManifestListLocation,
  newManifestLocation,
  newMetadataLocation,
  type Partition,
  type PartitionField,
  type PartitionSpec,
  parseTableMetadata,
  readManifest,
  readManifestList,
  type Schema,
  type SnapshotOperation,
  serializeTableMetadata,
  snapshotOfRef,
  specById,
  type TableMetadata,
  toManifestFile,
  writeManifest,
  writeManifestList,
} from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { loadTable, type Table } from '../../shared/table/index.ts';
import { type ParquetLayout, type Row, writeParquetDataFile } from './parquet-data-file.ts';

export interface TableWriterPorts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
}

export interface NewTable {
  readonly identifier: TableIdentifier;
  readonly location: string;
  readonly formatVersion: FormatVersion;
  readonly fields: readonly NestedField[];
  /** Unpartitioned where there are none. */
  readonly partitionFields?: readonly PartitionField[];
  readonly properties?: Readonly<Record<string, string>>;
}

export interface NewDataFile {
  readonly rows: readonly Row[];
  readonly partition?: Partition;
  /** The default spec where there is none. */
  readonly specId?: number;
  readonly fileName?: string;
  readonly layout?: ParquetLayout;
  /** Columns as they were when the file was written; the current schema where there is none. */
  readonly schema?: Schema;
}

/** A snapshot to be made of the head: manifests to add, and files to remove from those that are there. */
export interface SnapshotChange {
  readonly operation: SnapshotOperation;
  readonly branch?: string;
  /** Each list becomes one manifest of its spec and content. */
  readonly addedManifests?: readonly (readonly NewFile[])[];
  readonly removedPaths?: readonly string[];
  /** Vectors to remove, each without the others of its Puffin file. */
  readonly removedVectors?: readonly DataFile[];
  /** Files that the change was made from: it is refused unless all of them are live at the head. */
  readonly requiredPaths?: readonly string[];
  /** The table that the change was made for: it is refused when another one has the name now. */
  readonly requiredTableUuid?: string;
  /** The metadata file that the change was made from: it is refused when the table has another one now. */
  readonly requiredMetadataLocation?: string;
  readonly summary?: Readonly<Record<string, string>>;
}

export interface NewFile extends FileOfSpec {
  /** Explicit where the data is older than its commit. */
  readonly dataSequenceNumber?: bigint;
}

const OBJECT_BYTES_MAX = 1024 ** 3;

/**
 * Another writer, as tests, benches and the demo need one: makes tables, appends, deletes, evolves, through our own
 * manifest and metadata writers but none of the code that scans or commits. It wins every race, since each call
 * loads and commits at once.
 */
export class TableWriter {
  readonly identifier: TableIdentifier;
  readonly #ports: TableWriterPorts;

  constructor(identifier: TableIdentifier, ports: TableWriterPorts) {
    this.identifier = identifier;
    this.#ports = ports;
  }

  /** Writes the metadata of an empty table and registers it. */
  static async create(table: NewTable, ports: TableWriterPorts): Promise<TableWriter> {
    const metadataLocation = `${table.location}/metadata/00000-${randomUuid(ports.random)}.metadata.json`;
    const json = newMetadataJson(table, randomUuid(ports.random), ports.clock.nowMs());
    const bytes = new TextEncoder().encode(serializeJson(json));
    await ports.store.write(metadataLocation, bytes);
    await ports.catalog.registerTable(table.identifier, metadataLocation);
    return new TableWriter(table.identifier, ports);
  }

  load(): Promise<Table> {
    return loadTable(this.identifier, this.#ports);
  }

  /** Writes a Parquet file of the rows; no snapshot has it yet. */
  async writeDataFile(file: NewDataFile): Promise<FileOfSpec> {
    const { metadata } = await this.load();
    const specId = file.specId ?? metadata.defaultSpecId;
    const spec = specById(metadata, specId);
    const partition = file.partition ?? spec.fields.map(() => null);
    const fileName = file.fileName ?? `${randomUuid(this.#ports.random)}.parquet`;
    const schema = file.schema ?? currentSchemaOf(metadata);
    const { bytes, fields } = writeParquetDataFile(schema, file.rows, file.layout);
    const filePath = newDataLocation(metadata, spec, partition, fileName);
    await this.#ports.store.write(filePath, bytes);
    return { specId, dataFile: { ...fields, filePath, partition } };
  }

  /** Writes the files and appends them in one snapshot, one manifest for each spec. */
  async append(files: readonly NewDataFile[], branch = 'main'): Promise<readonly FileOfSpec[]> {
    const written: FileOfSpec[] = [];
    for (const file of files) written.push(await this.writeDataFile(file));
    const addedManifests = [...Map.groupBy(written, (file) => file.specId).values()];
    await this.commit({ operation: 'append', branch, addedManifests });
    return written;
  }

  /** Makes a snapshot and moves the branch to it. */
  async commit(change: SnapshotChange): Promise<bigint> {
    const { metadata, metadataLocation, pointer } = await this.load();
    requireTable(metadata, change.requiredTableUuid);
    requireMetadata(metadataLocation, change.requiredMetadataLocation);
    const updated = await this.#applySnapshot(metadata, metadataLocation, change);
    await this.#publish(updated.metadata, metadataLocation, pointer);
    return updated.snapshotId;
  }

  /** Changes the metadata document itself: schemas, specs, properties, refs, format version. */
  async edit(change: (json: JsonObject, metadata: TableMetadata) => JsonObject): Promise<void> {
    const { metadata, metadataLocation, pointer } = await this.load();
    const text = new TextDecoder().decode(serializeTableMetadata(metadata, 'plain.metadata.json'));
    const json = parseJson(text, 'metadata');
    assert(isJsonObject(json), 'metadata is an object');
    const bytes = new TextEncoder().encode(serializeJson(change(json, metadata)));
    const edited = parseTableMetadata(bytes, 'edited.metadata.json');
    const log = applyTableUpdates(
      metadata,
      [...metadata.refs].slice(0, 1).map(([refName, ref]) => ({
        ...ref,
        action: 'set-snapshot-ref' as const,
        refName,
      })),
      { nowMs: this.#ports.clock.nowMs(), metadataLocationBefore: metadataLocation },
    ).metadataLog;
    await this.#publish({ ...edited, metadataLog: log }, metadataLocation, pointer);
  }

  setProperties(properties: Readonly<Record<string, string>>): Promise<void> {
    return this.edit((json, metadata) => ({
      ...json,
      properties: { ...metadata.properties, ...properties },
    }));
  }

  /** Adds a spec and makes it the default one. */
  async evolveSpec(fields: readonly PartitionField[]): Promise<number> {
    let specId = 0;
    await this.edit((json, metadata) => {
      specId = Math.max(...metadata.partitionSpecs.map((spec) => spec.specId)) + 1;
      const specs = [...metadata.partitionSpecs, createPartitionSpec(specId, fields)];
      const fieldIds = fields.map((field) => field.fieldId);
      return {
        ...json,
        'partition-specs': specs.map(({ source }) => source),
        'default-spec-id': specId,
        'last-partition-id': Math.max(metadata.lastPartitionId, ...fieldIds),
      };
    });
    return specId;
  }

  /** Adds a schema and makes it the current one; its fields may depend on what the table has by then. */
  async evolveSchema(
    fields: readonly NestedField[] | ((metadata: TableMetadata) => readonly NestedField[]),
  ): Promise<Schema> {
    let schema: Schema | undefined;
    await this.edit((json, metadata) => {
      const schemaId = Math.max(...metadata.schemas.map((each) => each.schemaId)) + 1;
      schema = createSchema(schemaId, typeof fields === 'function' ? fields(metadata) : fields);
      const fieldIds = schema.fields.map((field) => field.fieldId);
      return {
        ...json,
        schemas: [...metadata.schemas, schema].map(({ source }) => source),
        'current-schema-id': schemaId,
        'last-column-id': Math.max(metadata.lastColumnId, ...fieldIds),
      };
    });
    return schema!;
  }

  /** Points a new branch or tag to a snapshot; main's head where none is given. */
  async addRef(name: string, type: 'branch' | 'tag', snapshotId?: bigint): Promise<void> {
    await this.edit((json, metadata) => ({
      ...json,
      refs: {
        ...(isJsonObject(json['refs']) ? json['refs'] : {}),
        [name]: { type, 'snapshot-id': snapshotId ?? metadata.currentSnapshotId ?? -1 },
      },
    }));
  }

  upgrade(formatVersion: FormatVersion): Promise<void> {
    return this.edit((json) => ({
      ...json,
      'format-version': formatVersion,
      'last-sequence-number': json['last-sequence-number'] ?? 0,
      ...(formatVersion === 3 ? { 'next-row-id': json['next-row-id'] ?? 0 } : {}),
    }));
  }

  async #publish(
    metadata: TableMetadata,
    metadataLocation: string,
    base: Table['pointer'],
  ): Promise<void> {
    const { store, catalog, random } = this.#ports;
    const next = newMetadataLocation(metadata, metadataLocation, randomUuid(random));
    await store.write(next, serializeTableMetadata(metadata, next));
    await catalog.commitTable({ base, metadataLocation: next, version: randomUuid(random) });
  }

  async #applySnapshot(
    metadata: TableMetadata,
    metadataLocation: string,
    change: SnapshotChange,
  ): Promise<{ readonly metadata: TableMetadata; readonly snapshotId: bigint }> {
    const { store, clock, random } = this.#ports;
    const branch = change.branch ?? 'main';
    const head = snapshotOfRef(metadata, branch);
    const names = { snapshotId: randomInt63(random), commitUuid: randomUuid(random), attempt: 1 };
    const sequenceNumber = metadata.formatVersion === 1 ? 0n : metadata.lastSequenceNumber + 1n;
    const writer: ManifestWriter = { ...names, metadata, store, sequenceNumber, count: 0 };
    const added: ManifestFile[] = [];
    for (const files of change.addedManifests ?? []) added.push(await writeAdded(writer, files));
    const kept = await this.#keptManifests(writer, head?.manifestList, change);
    const rows = assignRowIds(metadata, [...added, ...kept]);
    const manifestList = newManifestListLocation(metadata, names);
    await store.write(
      manifestList,
      writeManifestList({
        formatVersion: metadata.formatVersion,
        snapshotId: names.snapshotId,
        ...(head === undefined ? {} : { parentSnapshotId: head.snapshotId }),
        sequenceNumber,
        ...(rows.firstRowId === undefined ? {} : { firstRowId: rows.firstRowId }),
        manifests: rows.manifests,
      }),
    );
    const timestampMs = Math.max(clock.nowMs(), metadata.lastUpdatedMs);
    const snapshot = createSnapshot(
      {
        snapshotId: names.snapshotId,
        ...(head === undefined ? {} : { parentSnapshotId: head.snapshotId }),
        sequenceNumber,
        timestampMs,
        manifestList,
        summary: {
          ...addedCounts(change),
          ...totals(rows.manifests),
          ...change.summary,
          operation: change.operation,
        },
        schemaId: metadata.currentSchemaId,
        ...(rows.firstRowId === undefined ? {} : { firstRowId: rows.firstRowId }),
        ...(rows.addedRows === undefined ? {} : { addedRows: rows.addedRows }),
      },
      metadata.formatVersion,
    );
    const updated = applyTableUpdates(
      metadata,
      [
        { action: 'add-snapshot', snapshot },
        {
          action: 'set-snapshot-ref',
          refName: branch,
          type: 'branch',
          snapshotId: names.snapshotId,
        },
      ],
      { nowMs: timestampMs, metadataLocationBefore: metadataLocation },
    );
    return { metadata: updated, snapshotId: names.snapshotId };
  }

  async #keptManifests(
    writer: ManifestWriter,
    manifestList: string | undefined,
    { removedPaths = [], removedVectors = [], requiredPaths = [] }: SnapshotChange,
  ): Promise<readonly ManifestFile[]> {
    const missingPaths = new Set(requiredPaths);
    if (manifestList === undefined) return requireNone(missingPaths);
    const { store } = this.#ports;
    const { metadata, snapshotId } = writer;
    const bytes = await store.read(manifestList, OBJECT_BYTES_MAX);
    const manifests = readManifestList(bytes, manifestList, metadata.formatVersion);
    if (removedPaths.length + removedVectors.length + requiredPaths.length === 0) return manifests;
    const isGone = ({ filePath, contentOffset }: DataFile) =>
      removedPaths.includes(filePath) ||
      removedVectors.some(
        (vector) => vector.filePath === filePath && vector.contentOffset === contentOffset,
      );
    const kept: ManifestFile[] = [];
    for (const manifest of manifests) {
      const manifestBytes = await store.read(manifest.manifestPath, OBJECT_BYTES_MAX);
      const entries = [...readManifest(manifestBytes, manifest, schemasOf(metadata))];
      const live = entries.filter((entry) => entry.status !== 'deleted');
      for (const { dataFile } of live) missingPaths.delete(dataFile.filePath);
      if (!live.some((entry) => isGone(entry.dataFile))) {
        kept.push(manifest);
        continue;
      }
      const filtered = live.map(({ specId: _, ...entry }): NewManifestEntry => {
        const isRemoved = isGone(entry.dataFile);
        return isRemoved
          ? { ...entry, status: 'deleted', snapshotId }
          : { ...entry, status: 'existing' };
      });
      kept.push(
        await writeNewManifest(writer, manifest.partitionSpecId, manifest.content, filtered),
      );
    }
    requireNone(missingPaths);
    return kept;
  }
}

function requireTable({ tableUuid = '' }: TableMetadata, requiredTableUuid = tableUuid): void {
  if (tableUuid === requiredTableUuid) return;
  throw new IcebergError('commit-rejected', `table ${requiredTableUuid}: is now ${tableUuid}`);
}

function requireMetadata(found: string, required = found): void {
  if (found === required) return;
  throw new IcebergError('commit-rejected', `${required}: the table has ${found} now`);
}

function requireNone(missingPaths: ReadonlySet<string>): readonly [] {
  const [missing] = missingPaths;
  if (missing === undefined) return [];
  throw new IcebergError('commit-rejected', `${missing}: is not live at the head`);
}

/** The state of writing one snapshot's manifests. */
interface ManifestWriter {
  readonly metadata: TableMetadata;
  readonly store: ObjectStore;
  readonly snapshotId: bigint;
  readonly commitUuid: string;
  readonly sequenceNumber: bigint;
  count: number;
}

function writeAdded(writer: ManifestWriter, files: readonly NewFile[]): Promise<ManifestFile> {
  const first = files[0];
  assert(first !== undefined, 'a manifest has files');
  const entries = files.map(
    ({ dataFile, dataSequenceNumber }): NewManifestEntry => ({
      status: 'added',
      snapshotId: writer.snapshotId,
      dataFile,
      ...(dataSequenceNumber === undefined ? {} : { dataSequenceNumber }),
    }),
  );
  const content = first.dataFile.content === 'data' ? 'data' : 'deletes';
  return writeNewManifest(writer, first.specId, content, entries);
}

async function writeNewManifest(
  writer: ManifestWriter,
  specId: number,
  content: 'data' | 'deletes',
  entries: readonly NewManifestEntry[],
): Promise<ManifestFile> {
  const { metadata, store, snapshotId, commitUuid, sequenceNumber } = writer;
  const written = writeManifest({
    formatVersion: metadata.formatVersion,
    schemas: schemasOf(metadata).schemas,
    spec: specById(metadata, specId),
    content,
    entries,
  });
  const manifestPath = newManifestLocation(metadata, commitUuid, writer.count++);
  await store.write(manifestPath, written.bytes);
  return toManifestFile(written, { manifestPath, addedSnapshotId: snapshotId, sequenceNumber });
}

function assignRowIds(
  metadata: TableMetadata,
  manifests: readonly ManifestFile[],
): {
  readonly manifests: readonly ManifestFile[];
  readonly firstRowId?: bigint;
  readonly addedRows?: bigint;
} {
  if (metadata.formatVersion < 3) return { manifests };
  const firstRowId = metadata.nextRowId ?? 0n;
  return { firstRowId, ...assignFirstRowIds(manifests, firstRowId) };
}

/** What engines count of the files that a commit adds; what is 0 is left out, as they do. */
function addedCounts({ addedManifests = [] }: SnapshotChange): Record<string, string> {
  const files = addedManifests.flat().map(({ dataFile }) => dataFile);
  const data = files.filter(({ content }) => content === 'data');
  const sum = (some: readonly DataFile[], amountOf: (file: DataFile) => number): number =>
    some.reduce((total, file) => total + amountOf(file), 0);
  const counts = {
    'added-data-files': data.length,
    'added-records': sum(data, ({ recordCount }) => recordCount),
    'added-delete-files': files.length - data.length,
    'added-files-size': sum(files, ({ fileSizeBytes }) => fileSizeBytes),
  };
  const counted = Object.entries(counts).filter(([, count]) => count > 0);
  return Object.fromEntries(counted.map(([key, count]) => [key, String(count)]));
}

function totals(manifests: readonly ManifestFile[]): Record<string, string> {
  const data = manifests.filter((manifest) => manifest.content === 'data');
  const sum = (count: (manifest: ManifestFile) => number | undefined): string =>
    String(data.reduce((total, manifest) => total + (count(manifest) ?? 0), 0));
  return {
    'total-records': sum((each) => (each.addedRowsCount ?? 0) + (each.existingRowsCount ?? 0)),
    'total-data-files': sum((each) => (each.addedFilesCount ?? 0) + (each.existingFilesCount ?? 0)),
  };
}

function currentSchemaOf(metadata: TableMetadata): Schema {
  return schemasOf(metadata).schemas[0];
}

function schemasOf(metadata: TableMetadata): {
  readonly specs: readonly PartitionSpec[];
  readonly schemas: readonly [Schema, ...Schema[]];
} {
  const [current, ...others] = metadata.schemas.toSorted((one, other) => {
    if (one.schemaId === metadata.currentSchemaId) return -1;
    if (other.schemaId === metadata.currentSchemaId) return 1;
    return other.schemaId - one.schemaId;
  });
  assert(current !== undefined, 'a table has a schema');
  return { specs: metadata.partitionSpecs, schemas: [current, ...others] };
}

function newMetadataJson(table: NewTable, tableUuid: string, nowMs: number): JsonObject {
  const schema = createSchema(0, table.fields);
  const spec = createPartitionSpec(0, table.partitionFields ?? []);
  return {
    'format-version': table.formatVersion,
    'table-uuid': tableUuid,
    location: table.location,
    ...(table.formatVersion > 1 ? { 'last-sequence-number': 0 } : {}),
    'last-updated-ms': nowMs,
    'last-column-id': Math.max(...table.fields.map((field) => field.fieldId)),
    schemas: [schema.source],
    'current-schema-id': 0,
    'partition-specs': [spec.source],
    'default-spec-id': 0,
    'last-partition-id': Math.max(999, ...spec.fields.map((field) => field.fieldId)),
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
    properties: table.properties ?? {},
    ...(table.formatVersion === 3 ? { 'next-row-id': 0 } : {}),
    snapshots: [],
    'snapshot-log': [],
    'metadata-log': [],
    refs: {},
  };
}

/** A file of deletes as its entry describes it; nothing reads the object in these tests. */
export function deleteFileOf(
  { specId, dataFile }: FileOfSpec,
  content: 'position-deletes' | 'equality-deletes',
  other: Partial<DataFile>,
): FileOfSpec {
  return {
    specId,
    dataFile: {
      content,
      filePath: `${dataFile.filePath}.deletes`,
      fileFormat: 'PARQUET',
      partition: dataFile.partition,
      recordCount: 1,
      fileSizeBytes: 100,
      unknownFields: [],
      ...(content === 'equality-deletes' ? { equalityIds: [1] } : {}),
      ...other,
    },
  };
}
