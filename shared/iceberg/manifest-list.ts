import { type AvroFile, parseAvroFile } from '../avro/index.ts';
import { IcebergError } from '../base/index.ts';
import { decodeUtf8 } from '../bytes/index.ts';
import { FIELD_SUMMARY, MANIFEST_FILE, type ManifestField } from './manifest-fields.ts';
import {
  present,
  StructReader,
  type StructShape,
  structShape,
  withoutOption,
} from './manifest-struct.ts';
import type { FieldSummary, ManifestFile } from './manifest-types.ts';
import type { FormatVersion } from './metadata-types.ts';

/** Far above what a table that still answers queries has; bounds the memory of a hostile list. */
export const MANIFESTS_PER_LIST_MAX = 200_000;

const MANIFEST_FILE_IDS = Object.values(MANIFEST_FILE).map((field) => field.id);
const FIELD_SUMMARY_IDS = Object.values(FIELD_SUMMARY).map((field) => field.id);

/**
 * Reads a manifest list. Fields are found by id; what v1 leaves out gets the spec's defaults.
 *
 * @param formatVersion of the table; lists of earlier versions remain valid after an upgrade
 * @throws invalid-data — when the file is corrupt, a required field is missing or a value out of range
 * @throws unsupported — when the list is of a later version than Firn knows, or beyond the limits
 * @see Iceberg spec, "Manifest Lists"
 */
export function readManifestList(
  bytes: Uint8Array,
  location: string,
  formatVersion: FormatVersion,
): ManifestFile[] {
  const subject = `manifest list ${location}`;
  const file = parseAvroFile(bytes, subject);
  const version = fileFormatVersion(file, subject);
  if (version > formatVersion) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: format version ${version} exceeds the table's ${formatVersion}`,
    );
  }
  const shape = structShape(file.type, MANIFEST_FILE_IDS, subject);
  const summaryShape = shapeOfSummaries(shape, subject);
  const manifests: ManifestFile[] = [];
  for (const record of file.records()) {
    if (manifests.length === MANIFESTS_PER_LIST_MAX) {
      throw new IcebergError('unsupported', `${subject}: over ${MANIFESTS_PER_LIST_MAX} manifests`);
    }
    const struct = new StructReader(shape, record, subject);
    manifests.push(toManifestFile({ struct, summaryShape, version, subject }));
  }
  return manifests;
}

/**
 * The format version in the header of a manifest or manifest list; 1 where there is none.
 *
 * @throws unsupported — for a version that Firn does not know
 */
export function fileFormatVersion(file: AvroFile, subject: string): FormatVersion {
  const bytes = file.metadata.get('format-version');
  const text = bytes === undefined ? '1' : decodeUtf8(bytes, subject);
  if (text === '1') return 1;
  if (text === '2') return 2;
  if (text === '3') return 3;
  throw new IcebergError('unsupported', `${subject}: format version ${text.slice(0, 16)}`);
}

interface ListEntry {
  readonly struct: StructReader;
  readonly summaryShape: StructShape | undefined;
  readonly version: FormatVersion;
  readonly subject: string;
}

function toManifestFile(entry: ListEntry): ManifestFile {
  const { struct } = entry;
  const content = parseContent(entry);
  const firstRowId = struct.unsignedLong(MANIFEST_FILE.firstRowId);
  if (firstRowId !== undefined && content === 'deletes') {
    throw struct.invalid(MANIFEST_FILE.firstRowId, 'is set for a delete manifest');
  }
  return {
    manifestPath: struct.requireText(MANIFEST_FILE.manifestPath),
    manifestLengthBytes: struct.requireCount(MANIFEST_FILE.manifestLength),
    partitionSpecId: struct.requireInt(MANIFEST_FILE.partitionSpecId),
    content,
    sequenceNumber: sequenceNumber(entry, MANIFEST_FILE.sequenceNumber),
    minSequenceNumber: sequenceNumber(entry, MANIFEST_FILE.minSequenceNumber),
    addedSnapshotId: struct.requireLong(MANIFEST_FILE.addedSnapshotId),
    ...counts(entry),
    ...present('partitions', toFieldSummaries(entry)),
    ...present('keyMetadata', struct.bytes(MANIFEST_FILE.keyMetadata)),
    ...present('firstRowId', firstRowId),
    unknownFields: struct.unknownFields(),
  };
}

function parseContent({ struct, version }: ListEntry): 'data' | 'deletes' {
  const field = MANIFEST_FILE.content;
  const content = version >= 2 ? struct.requireInt(field) : (struct.int(field) ?? 0);
  if (content !== 0 && content !== 1) throw struct.invalid(field, `${content} is neither 0 nor 1`);
  return content === 0 ? 'data' : 'deletes';
}

function sequenceNumber({ struct, version }: ListEntry, field: ManifestField): bigint {
  const value = struct.unsignedLong(field);
  return version >= 2 ? struct.require(field, value) : (value ?? 0n);
}

const COUNTS = [
  'addedFilesCount',
  'existingFilesCount',
  'deletedFilesCount',
  'addedRowsCount',
  'existingRowsCount',
  'deletedRowsCount',
] as const;

function counts({ struct, version }: ListEntry): Partial<Record<(typeof COUNTS)[number], number>> {
  const known: Partial<Record<(typeof COUNTS)[number], number>> = {};
  for (const name of COUNTS) {
    const field = MANIFEST_FILE[name];
    const count = version >= 2 ? struct.requireCount(field) : struct.count(field);
    if (count !== undefined) known[name] = count;
  }
  return known;
}

function shapeOfSummaries(shape: StructShape, subject: string): StructShape | undefined {
  const type = withoutOption(shape.fieldsById.get(MANIFEST_FILE.partitions.id)?.type);
  if (type === undefined) return undefined;
  return structShape(
    type.kind === 'array' ? type.items : undefined,
    FIELD_SUMMARY_IDS,
    `${subject}: partitions`,
  );
}

function toFieldSummaries({
  struct,
  summaryShape,
  subject,
}: ListEntry): readonly FieldSummary[] | undefined {
  const summaries = struct.list(MANIFEST_FILE.partitions);
  if (summaries === undefined || summaryShape === undefined) return undefined;
  return summaries.map((value) => {
    const summary = new StructReader(summaryShape, value, `${subject}: partitions`);
    return {
      containsNull: summary.require(
        FIELD_SUMMARY.containsNull,
        summary.boolean(FIELD_SUMMARY.containsNull),
      ),
      ...present('containsNan', summary.boolean(FIELD_SUMMARY.containsNan)),
      ...present('lowerBound', summary.bytes(FIELD_SUMMARY.lowerBound)),
      ...present('upperBound', summary.bytes(FIELD_SUMMARY.upperBound)),
    };
  });
}
