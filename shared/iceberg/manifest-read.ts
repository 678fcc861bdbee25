import { type AvroFile, type AvroValue, parseAvroFile } from '../avro/index.ts';
import { IcebergError } from '../base/index.ts';
import { decodeUtf8 } from '../bytes/index.ts';
import { ManifestCounts } from './manifest-counts.ts';
import {
  compileDataFileReader,
  type DataFileReader,
  isMetricsField,
} from './manifest-data-file.ts';
import { MANIFEST_ENTRY, type ManifestField } from './manifest-fields.ts';
import { fileFormatVersion } from './manifest-list.ts';
import { present, StructReader, type StructShape, structShape } from './manifest-struct.ts';
import type { DataFile, ManifestEntry, ManifestFile } from './manifest-types.ts';
import { partitionType } from './partition-spec.ts';
import type { PartitionSpec, Schema } from './types.ts';

export interface ManifestContext {
  /** The table's specs; the manifest's is found by its id. */
  readonly specs: readonly PartitionSpec[];
  /** The table's schemas, the current one first and the others newest first. */
  readonly schemas: readonly Schema[];
  /** Leaves out the metrics maps, which are most of a manifest and of the memory of its entries. */
  readonly skipsMetrics?: boolean;
}

/** Data sequence number of a deleted entry that does not say it. */
const UNKNOWN_SEQUENCE_NUMBER = -1n;

const MANIFEST_ENTRY_IDS = Object.values(MANIFEST_ENTRY).map((field) => field.id);
const STATUSES = ['existing', 'added', 'deleted'] as const;

/**
 * Reads the entries of a committed manifest, deleted ones too, with what they inherit from the entry of the
 * manifest list: snapshot id, sequence numbers of added files, and row ids. Header and types are checked at
 * once, each entry when it is reached, the manifest list's counts after the last one; so what comes before an
 * error must not be used. Memory is one block of the file and one entry.
 *
 * Row ids as Iceberg Java gives them: live data files without one get the manifest's `firstRowId` plus the
 * rows of the live files before them that had none either; where the manifest has no `firstRowId`, no entry has.
 *
 * @throws invalid-data — when the file is corrupt or contradicts its entry in the manifest list
 * @throws unsupported — for versions, codecs and sizes that Firn does not read
 * @see Iceberg spec, "Manifests", "Sequence Number Inheritance", "First Row ID Inheritance"
 */
export function readManifest(
  bytes: Uint8Array,
  manifest: ManifestFile,
  context: ManifestContext,
): Generator<ManifestEntry, void> {
  const subject = `manifest ${manifest.manifestPath}`;
  if (bytes.length !== manifest.manifestLengthBytes) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: ${bytes.length} bytes, the manifest list says ${manifest.manifestLengthBytes}`,
    );
  }
  const file = parseAvroFile(bytes, subject);
  requireSameHeader(file, manifest, subject);
  const spec = context.specs.find((each) => each.specId === manifest.partitionSpecId);
  if (spec === undefined) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: partition spec ${manifest.partitionSpecId} is not in the table metadata`,
    );
  }
  const shape = structShape(file.type, MANIFEST_ENTRY_IDS, subject);
  const readDataFile = compileDataFileReader(
    shape.fieldsById.get(MANIFEST_ENTRY.dataFile.id)?.type,
    spec,
    partitionType(spec, context.schemas),
    subject,
  );
  const records = file.records(
    context.skipsMetrics ? (field) => isMetricsField(field.source['field-id']) : undefined,
  );
  return readEntries(records, { manifest, shape, readDataFile, subject });
}

interface EntryReader {
  readonly manifest: ManifestFile;
  readonly shape: StructShape;
  readonly readDataFile: DataFileReader;
  readonly subject: string;
}

function* readEntries(
  records: Iterable<AvroValue>,
  reader: EntryReader,
): Generator<ManifestEntry, void> {
  const { manifest, subject } = reader;
  const counts = new ManifestCounts();
  let nextRowId = manifest.firstRowId;
  for (const record of records) {
    const { firstRowId: ownRowId, ...entry } = readEntry(record, reader);
    counts.add(entry.status, entry.dataFile.recordCount);
    counts.requireWithin(manifest, subject);
    requireSequenceNumbers(entry, manifest, subject);
    let firstRowId = manifest.firstRowId === undefined ? undefined : ownRowId;
    if (nextRowId !== undefined && firstRowId === undefined && entry.status !== 'deleted') {
      firstRowId = nextRowId;
      nextRowId += BigInt(entry.dataFile.recordCount);
    }
    yield firstRowId === undefined
      ? entry
      : { ...entry, dataFile: { ...entry.dataFile, firstRowId } };
  }
  counts.requireEqual(manifest, subject);
}

type UnassignedEntry = ManifestEntry & { readonly firstRowId: bigint | undefined };

function readEntry(record: AvroValue, reader: EntryReader): UnassignedEntry {
  const { manifest, shape, subject } = reader;
  const struct = new StructReader(shape, record, subject);
  const number = struct.requireInt(MANIFEST_ENTRY.status);
  const status = STATUSES[number];
  if (status === undefined) {
    throw struct.invalid(MANIFEST_ENTRY.status, `${number} is not 0, 1 or 2`);
  }
  const { firstRowId, ...dataFile } = reader.readDataFile(struct.value(MANIFEST_ENTRY.dataFile));
  requireSameContent(dataFile, manifest, subject);
  const inherited =
    status === 'added' || manifest.sequenceNumber === 0n ? manifest.sequenceNumber : undefined;
  return {
    status,
    snapshotId: struct.long(MANIFEST_ENTRY.snapshotId) ?? manifest.addedSnapshotId,
    dataSequenceNumber: dataSequenceNumber(struct, status, inherited),
    ...present(
      'fileSequenceNumber',
      struct.unsignedLong(MANIFEST_ENTRY.fileSequenceNumber) ?? inherited,
    ),
    specId: manifest.partitionSpecId,
    dataFile,
    unknownFields: struct.unknownFields(),
    firstRowId,
  };
}

function dataSequenceNumber(
  struct: StructReader,
  status: ManifestEntry['status'],
  inherited: bigint | undefined,
): bigint {
  const field: ManifestField = MANIFEST_ENTRY.sequenceNumber;
  const known = struct.unsignedLong(field) ?? inherited;
  if (known === undefined && status === 'deleted') return UNKNOWN_SEQUENCE_NUMBER;
  return struct.require(field, known);
}

/**
 * A live file lies within the sequence numbers that the manifest list gives its manifest: delete files are
 * matched by these numbers, and skipped by the list's.
 */
function requireSequenceNumbers(
  {
    status,
    dataSequenceNumber,
    fileSequenceNumber = 0n,
    dataFile,
  }: Omit<UnassignedEntry, 'firstRowId'>,
  { sequenceNumber, minSequenceNumber }: ManifestFile,
  subject: string,
): void {
  if (status === 'deleted') return;
  if (
    dataSequenceNumber >= minSequenceNumber &&
    dataSequenceNumber <= sequenceNumber &&
    fileSequenceNumber <= sequenceNumber
  )
    return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: sequence numbers ${dataSequenceNumber} and ${fileSequenceNumber} of a file are not within ${minSequenceNumber} to ${sequenceNumber}, which the manifest list says`,
    { filePath: dataFile.filePath },
  );
}

/** Header entries that are there must agree with the manifest list; writers leave some out. */
function requireSameHeader(file: AvroFile, manifest: ManifestFile, subject: string): void {
  // Refuses versions that Firn does not know; between those that it knows nothing depends on it here.
  fileFormatVersion(file, subject);
  const content = headerText(file, 'content', subject);
  const specId = headerText(file, 'partition-spec-id', subject);
  if (content !== undefined && content !== manifest.content) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: content is ${content.slice(0, 16)}, the manifest list says ${manifest.content}`,
    );
  }
  if (specId !== undefined && specId !== String(manifest.partitionSpecId)) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: partition spec is ${specId.slice(0, 16)}, the manifest list says ${manifest.partitionSpecId}`,
    );
  }
}

function headerText(file: AvroFile, key: string, subject: string): string | undefined {
  const bytes = file.metadata.get(key);
  return bytes === undefined ? undefined : decodeUtf8(bytes, `${subject}: ${key}`);
}

function requireSameContent(file: DataFile, manifest: ManifestFile, subject: string): void {
  if ((file.content === 'data') === (manifest.content === 'data')) return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: a file of content ${file.content} in a manifest of ${manifest.content}`,
    { filePath: file.filePath },
  );
}
