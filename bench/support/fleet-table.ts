import { type Row, writeParquetDataFile } from '../../local/table-writer/index.ts';
import {
  assert,
  type Clock,
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
  createPartitionSpec,
  createSchema,
  createSnapshot,
  type DataFile,
  type ManifestFile,
  parseTableMetadata,
  readManifestList,
  type TableMetadata,
  toManifestFile,
  writeManifest,
  writeManifestList,
} from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import type { FleetTableShape } from './fleet-shape.ts';
import { arrayText, cutArray, documentText, fieldTexts } from './metadata-text.ts';

export interface FleetPorts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
}

export const FLEET_NAMESPACE = 'fleet';
export const FLEET_LOCATION = 's3://fleet/';

const FORMAT_VERSION = 2;
const SCHEMA = createSchema(0, [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'event', isRequired: false, type: { kind: 'string' } },
  { fieldId: 3, name: 'value', isRequired: false, type: { kind: 'double' } },
]);
const SPEC = createPartitionSpec(0, []);

/** What each commit adds: a file of a few rows; its bytes are the same each time. */
const ROW_COUNT = 10;
const SMALL_FILE = writeParquetDataFile(
  SCHEMA,
  Array.from({ length: ROW_COUNT }, (_, row): Row => {
    return { 1: BigInt(row), 2: row % 2 === 0 ? 'view' : 'click', 3: row / 4 };
  }),
);

/** What a table holds at the start: one file that is as large as it should be, which nobody reads. */
const LARGE_FILE_BYTES = 512 * 1024 ** 2;
const LARGE_FILE_ROW_COUNT = 10_000_000;

const METADATA_LOG_MAX = 2;
const OBJECT_BYTES_MAX = 1024 ** 3;

/** Long enough for the longest walk of routing, the shortest for a check that is made often. */
const RECENT_SNAPSHOT_COUNT = 300;

/** The metadata as text, so that a commit to a table with thousands of snapshots is an append. */
interface Document {
  readonly metadataLocation: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly snapshots: string[];
  readonly snapshotLog: string[];
  readonly metadataLog: string[];
  readonly lastSequenceNumber: bigint;
  readonly headId: bigint;
  readonly totals: Totals;
  readonly manifests: readonly ManifestFile[];
}

interface Totals {
  readonly fileCount: number;
  readonly rowCount: number;
  readonly bytes: number;
}

/**
 * A table of the fleet and the engine that writes it: appends by conditional write, keeps every snapshot, and deletes
 * metadata files that fell off the log, as `write.metadata.delete-after-commit.enabled` asks for. It costs
 * little where the metadata is large, so that the bench measures Firn and not its writers.
 */
export class FleetTable {
  readonly shape: FleetTableShape;
  readonly identifier: TableIdentifier;
  readonly #ports: FleetPorts;
  #document: Document;
  /** Files that may be deleted once the log has them no more. */
  readonly #metadataLocations = new Set<string>();

  private constructor(shape: FleetTableShape, document: Document, ports: FleetPorts) {
    this.shape = shape;
    this.identifier = identifierOf(shape);
    this.#document = document;
    this.#ports = ports;
  }

  /** A table with a past: its snapshots are in the metadata, and what they wrote is in one large file. */
  static async create(shape: FleetTableShape, ports: FleetPorts): Promise<FleetTable> {
    const document = await pastOf(shape, ports);
    const table = new FleetTable(shape, document, ports);
    await table.#writeMetadata(document);
    await ports.catalog.registerTable(table.identifier, document.metadataLocation);
    return table;
  }

  /** Size of the metadata file now. */
  get metadataBytes(): number {
    return Buffer.byteLength(textOf(this.#document));
  }

  /** Appends a file in a new snapshot; nobody comes in between. */
  async commit(): Promise<void> {
    const { catalog, store, random } = this.#ports;
    const base = await catalog.loadTable(this.identifier);
    await this.#catchUp(base.metadataLocation);
    const filePath = `${locationOf(this.shape)}/data/${randomUuid(random)}.parquet`;
    await store.write(filePath, SMALL_FILE.bytes);
    const file: DataFile = { ...SMALL_FILE.fields, filePath, partition: [] };
    const next = await appended(this.#document, file, { shape: this.shape, ports: this.#ports });
    await this.#writeMetadata(next);
    const { metadataLocation } = next;
    await catalog.commitTable({ base, metadataLocation, version: randomUuid(random) });
    this.#document = next;
    await this.#deleteOldMetadata();
  }

  /** The metadata as it is now with its last snapshots only: all that routing looks at. */
  async recentMetadata(): Promise<TableMetadata> {
    const { metadataLocation } = await this.#ports.catalog.loadTable(this.identifier);
    await this.#catchUp(metadataLocation);
    const { snapshots } = this.#document;
    const text = textOf({ ...this.#document, snapshots: snapshots.slice(-RECENT_SNAPSHOT_COUNT) });
    return parseTableMetadata(Buffer.from(text), metadataLocation);
  }

  /** Reads what somebody else has committed. */
  async #catchUp(metadataLocation: string): Promise<void> {
    if (this.#document.metadataLocation === metadataLocation) return;
    this.#document = await readDocument(metadataLocation, this.#ports);
    this.#metadataLocations.add(metadataLocation);
  }

  async #writeMetadata(document: Document): Promise<void> {
    this.#metadataLocations.add(document.metadataLocation);
    await this.#ports.store.write(document.metadataLocation, Buffer.from(textOf(document)));
  }

  async #deleteOldMetadata(): Promise<void> {
    const { metadataLocation, metadataLog } = this.#document;
    const log = metadataLog.join();
    const old = [...this.#metadataLocations].filter(
      (each) => each !== metadataLocation && !log.includes(each),
    );
    for (const each of old) this.#metadataLocations.delete(each);
    await this.#ports.store.delete(old);
  }
}

function identifierOf({ name }: FleetTableShape): TableIdentifier {
  return { namespace: [FLEET_NAMESPACE], name };
}

function locationOf({ name }: FleetTableShape): string {
  return `${FLEET_LOCATION}${name}`;
}

function metadataLocationOf(shape: FleetTableShape, version: bigint, random: Random): string {
  const number = String(version).padStart(5, '0');
  return `${locationOf(shape)}/metadata/${number}-${randomUuid(random)}.metadata.json`;
}

async function pastOf(shape: FleetTableShape, ports: FleetPorts): Promise<Document> {
  const { clock, random } = ports;
  const startMs = clock.nowMs() - shape.snapshotCount * shape.tier.gapBeforeMs;
  const large: DataFile = {
    content: 'data',
    filePath: `${locationOf(shape)}/data/large.parquet`,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: LARGE_FILE_ROW_COUNT,
    fileSizeBytes: LARGE_FILE_BYTES,
    unknownFields: [],
  };
  const fields = fieldTexts({
    'format-version': FORMAT_VERSION,
    'table-uuid': randomUuid(random),
    location: locationOf(shape),
    'last-column-id': SCHEMA.fields.length,
    schemas: [SCHEMA.source],
    'current-schema-id': 0,
    'partition-specs': [SPEC.source],
    'default-spec-id': 0,
    'last-partition-id': 999,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    'default-sort-order-id': 0,
    properties: {
      'firn.enabled': 'true',
      'write.metadata.previous-versions-max': String(METADATA_LOG_MAX),
      'write.metadata.delete-after-commit.enabled': 'true',
    },
  });
  let document: Document = {
    metadataLocation: metadataLocationOf(shape, 0n, random),
    fields,
    snapshots: [],
    snapshotLog: [],
    metadataLog: [],
    lastSequenceNumber: 0n,
    headId: -1n,
    totals: { fileCount: 1, rowCount: LARGE_FILE_ROW_COUNT, bytes: LARGE_FILE_BYTES },
    manifests: [],
  };
  for (let index = 0; index < shape.snapshotCount - 1; index++) {
    const timestampMs = startMs + index * shape.tier.gapBeforeMs;
    const past = newSnapshot(document, { shape, ports, timestampMs });
    document = { ...document, ...past, metadataLog: [] };
  }
  const timestampMs = clock.nowMs() - shape.tier.gapBeforeMs;
  const last = await appended(document, large, { shape, ports, timestampMs });
  return { ...last, metadataLog: [] };
}

interface Append {
  readonly shape: FleetTableShape;
  readonly ports: FleetPorts;
  /** Now, where it is not given. */
  readonly timestampMs?: number;
}

async function appended(base: Document, file: DataFile, append: Append): Promise<Document> {
  const { shape, ports } = append;
  const { store, random } = ports;
  const { fileCount, rowCount, bytes } = base.totals;
  const totals = {
    fileCount: fileCount + 1,
    rowCount: rowCount + file.recordCount,
    bytes: bytes + file.fileSizeBytes,
  };
  const next = newSnapshot({ ...base, totals }, append);
  const written = writeManifest({
    formatVersion: FORMAT_VERSION,
    schemas: [SCHEMA],
    spec: SPEC,
    content: 'data',
    entries: [{ status: 'added', snapshotId: next.headId, dataFile: file }],
  });
  const manifestPath = `${locationOf(shape)}/metadata/${randomUuid(random)}-m0.avro`;
  await store.write(manifestPath, written.bytes);
  const manifest = toManifestFile(written, {
    manifestPath,
    addedSnapshotId: next.headId,
    sequenceNumber: next.lastSequenceNumber,
  });
  const manifests = [manifest, ...base.manifests];
  const list = writeManifestList({
    formatVersion: FORMAT_VERSION,
    snapshotId: next.headId,
    parentSnapshotId: base.headId,
    sequenceNumber: next.lastSequenceNumber,
    manifests,
  });
  await store.write(next.manifestList, list);
  const log = { 'timestamp-ms': ports.clock.nowMs(), 'metadata-file': base.metadataLocation };
  return {
    ...base,
    ...next,
    totals,
    manifests,
    metadataLocation: metadataLocationOf(shape, next.lastSequenceNumber, random),
    metadataLog: [...base.metadataLog, serializeJson(log)].slice(-METADATA_LOG_MAX),
  };
}

/** Appends a snapshot to the texts, in place. */
function newSnapshot(base: Document, { shape, ports, timestampMs: givenMs }: Append) {
  const { random, clock } = ports;
  const snapshotId = randomInt63(random);
  const timestampMs = givenMs ?? clock.nowMs();
  const sequenceNumber = base.lastSequenceNumber + 1n;
  const manifestList = `${locationOf(shape)}/metadata/snap-${snapshotId}-1-${randomUuid(random)}.avro`;
  const { source } = createSnapshot(
    {
      snapshotId,
      ...(base.headId < 0n ? {} : { parentSnapshotId: base.headId }),
      sequenceNumber,
      timestampMs,
      manifestList,
      summary: summaryOf(base.totals),
      schemaId: 0,
    },
    FORMAT_VERSION,
  );
  base.snapshots.push(serializeJson(source));
  base.snapshotLog.push(serializeJson({ 'timestamp-ms': timestampMs, 'snapshot-id': snapshotId }));
  return { headId: snapshotId, lastSequenceNumber: sequenceNumber, manifestList };
}

/** As Spark writes them. */
function summaryOf({ fileCount, rowCount, bytes }: Totals): Readonly<Record<string, string>> {
  return {
    operation: 'append',
    'spark.app.id': 'spark-3f0c1c6f2b7e4b6f9a51d7f0d7b5e2aa',
    'added-data-files': '1',
    'added-records': String(ROW_COUNT),
    'added-files-size': String(SMALL_FILE.bytes.length),
    'changed-partition-count': '1',
    'total-records': String(rowCount),
    'total-files-size': String(bytes),
    'total-data-files': String(fileCount),
    'total-delete-files': '0',
    'total-position-deletes': '0',
    'total-equality-deletes': '0',
    'engine-version': '4.1.3',
    'app-id': 'spark-3f0c1c6f2b7e4b6f9a51d7f0d7b5e2aa',
    'engine-name': 'spark',
    'iceberg-version': 'Apache Iceberg 1.12.0',
  };
}

function textOf(document: Document): string {
  const { fields, snapshots, snapshotLog, metadataLog, lastSequenceNumber, headId } = document;
  const lastLog = snapshotLog.at(-1) ?? '';
  const [lastUpdatedMs = '0'] = /(?<="timestamp-ms":)\d+/.exec(lastLog) ?? [];
  return documentText({
    ...fields,
    'last-sequence-number': String(lastSequenceNumber),
    'last-updated-ms': lastUpdatedMs,
    'current-snapshot-id': String(headId),
    refs: `{"main":{"type":"branch","snapshot-id":${headId}}}`,
    snapshots: arrayText(snapshots),
    'snapshot-log': arrayText(snapshotLog),
    'metadata-log': arrayText(metadataLog),
  });
}

async function readDocument(metadataLocation: string, { store }: FleetPorts): Promise<Document> {
  const bytes = await store.read(metadataLocation, OBJECT_BYTES_MAX);
  const snapshots = cutArray(Buffer.from(bytes).toString(), 'snapshots');
  const snapshotLog = cutArray(snapshots.rest, 'snapshot-log');
  const metadataLog = cutArray(snapshotLog.rest, 'metadata-log');
  const fields = objectOf(metadataLog.rest);
  const head = objectOf(snapshots.elements.at(-1) ?? '');
  const summary = head['summary'];
  assert(isJsonObject(summary), `${metadataLocation}: the head has a summary`);
  const manifestList = String(head['manifest-list']);
  const list = await store.read(manifestList, OBJECT_BYTES_MAX);
  return {
    metadataLocation,
    fields: fieldTexts(fields),
    snapshots: snapshots.elements,
    snapshotLog: snapshotLog.elements,
    metadataLog: metadataLog.elements,
    lastSequenceNumber: BigInt(String(fields['last-sequence-number'])),
    headId: BigInt(String(head['snapshot-id'])),
    totals: {
      fileCount: Number(summary['total-data-files']),
      rowCount: Number(summary['total-records']),
      bytes: Number(summary['total-files-size']),
    },
    manifests: readManifestList(list, manifestList, FORMAT_VERSION),
  };
}

function objectOf(text: string): JsonObject {
  const value = parseJson(text, 'fleet metadata');
  assert(isJsonObject(value), 'fleet metadata is an object');
  return value;
}
