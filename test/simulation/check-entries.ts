import type { JsonObject } from '../../shared/base/index.ts';
import { type AvroRecord, fieldName } from '../support/slow-avro.ts';
import { DATA_FILE, MANIFEST_ENTRY, MANIFEST_FILE } from '../support/slow-files.ts';
import type { SlowParquetFile } from '../support/slow-parquet-rows.ts';
import {
  fileOf,
  isLive,
  type ListedManifest,
  long,
  type MetadataDocument,
  type Oracle,
} from './oracle.ts';
import { claim } from './violation.ts';

/** @see Iceberg spec, "Manifests", "Manifest Lists": field ids */
const LISTED = {
  addedFiles: fieldName(504),
  existingFiles: fieldName(505),
  deletedFiles: fieldName(506),
  partitions: fieldName(507),
  addedRows: fieldName(512),
  existingRows: fieldName(513),
  deletedRows: fieldName(514),
  minSequenceNumber: fieldName(516),
  content: fieldName(517),
};
const SUMMARY = { containsNull: fieldName(509), lower: fieldName(510), upper: fieldName(511) };
const COUNTS = {
  values: { map: fieldName(109), key: fieldName(119), value: fieldName(120) },
  nulls: { map: fieldName(110), key: fieldName(121), value: fieldName(122) },
};
const BOUNDS = {
  lower: { map: fieldName(125), key: fieldName(126), value: fieldName(127) },
  upper: { map: fieldName(128), key: fieldName(129), value: fieldName(130) },
};

const STATUSES = ['existing', 'added', 'deleted'] as const;
const DATA = 0;

/**
 * What other engines skip files by is true of a snapshot: counts, sequence numbers and partitions of each manifest in
 * its list, and of each data file its partition, record count, null counts and bounds; so are the totals of its summary.
 *
 * @throws Violation
 */
export async function checkEntries(
  document: MetadataDocument,
  snapshotId: bigint,
  oracle: Oracle,
): Promise<void> {
  const manifests = await oracle.manifestsOf(document, snapshotId);
  for (const manifest of manifests) {
    if (document.formatVersion > 1) checkNumbers(manifest);
    checkSummaries(manifest);
    if (Number(manifest.listed[LISTED.content] ?? DATA) !== DATA) continue;
    for (const file of manifest.entries.filter(isLive).map(fileOf)) {
      const location = {
        filePath: String(file[DATA_FILE.filePath]),
        fileSizeBytes: Number(file[DATA_FILE.fileSizeBytes]),
      };
      const parquet = await oracle.parser.parquet(location);
      checkColumns(file, parquet);
      checkPartition(file, parquet, specOf(manifest, document));
    }
  }
  checkTotals(document.snapshots.get(snapshotId)?.['summary'] as JsonObject, manifests);
}

function checkNumbers({ listed, entries }: ListedManifest): void {
  const path = listed[MANIFEST_FILE.manifestPath];
  for (const [status, name] of STATUSES.entries()) {
    const found = entries.filter((entry) => entry[MANIFEST_ENTRY.status] === status);
    const rows = found.reduce((sum, entry) => sum + recordCount(entry), 0);
    const said = [Number(listed[LISTED[`${name}Files`]]), Number(listed[LISTED[`${name}Rows`]])];
    requireTrue(
      said[0] === found.length && said[1] === rows,
      () => `${path}: ${said} ${name} files and rows, ${found.length},${rows} are there`,
    );
  }
  const sequenceNumbers = entries
    .filter(isLive)
    .map((entry) =>
      long(
        (entry[MANIFEST_ENTRY.sequenceNumber] ?? listed[MANIFEST_FILE.sequenceNumber]) as bigint,
      ),
    );
  const said = long(listed[LISTED.minSequenceNumber] as bigint);
  const lower = sequenceNumbers.find((sequenceNumber) => sequenceNumber < said);
  requireTrue(
    lower === undefined,
    () => `${path}: min sequence number ${said}, but ${lower} is there`,
  );
}

/** Only strings are partitioned by here, as they are. */
function checkSummaries({ listed, entries }: ListedManifest): void {
  const summaries = (listed[LISTED.partitions] as readonly AvroRecord[] | null | undefined) ?? [];
  for (const entry of entries.filter(isLive)) {
    const values = Object.values(fileOf(entry)[DATA_FILE.partition] as AvroRecord);
    for (const [index, value] of values.entries()) {
      const summary = summaries[index];
      const isCovered =
        value === null
          ? summary?.[SUMMARY.containsNull] === true
          : isBetween(Buffer.from(String(value)), {
              lower: summary?.[SUMMARY.lower] as Uint8Array | undefined,
              upper: summary?.[SUMMARY.upper] as Uint8Array | undefined,
            });
      requireTrue(isCovered, () => `${listed[MANIFEST_FILE.manifestPath]}: misses ${value}`);
    }
  }
}

function checkColumns(file: AvroRecord, { rows, root }: SlowParquetFile): void {
  const path = file[DATA_FILE.filePath];
  requireTrue(
    Number(file[DATA_FILE.recordCount]) === rows.length,
    () => `${path}: ${file[DATA_FILE.recordCount]} rows, ${rows.length} are there`,
  );
  for (const { element } of root.children) {
    const fieldId = element.field_id ?? -1;
    const values = rows.map((row) => row[element.name] ?? null);
    const present = values.filter((value) => value !== null);
    const counts = { values: values.length, nulls: values.length - present.length };
    for (const kind of ['values', 'nulls'] as const) {
      const said = mapped(file, COUNTS[kind], fieldId);
      requireTrue(
        said === undefined || Number(said) === counts[kind],
        () => `${path}: column ${fieldId} has ${counts[kind]} ${kind}, ${said} by its entry`,
      );
    }
    const lower = mapped(file, BOUNDS.lower, fieldId) as Uint8Array | undefined;
    const upper = mapped(file, BOUNDS.upper, fieldId) as Uint8Array | undefined;
    const outside = present.find((value) => !isBetween(value, { lower, upper }));
    requireTrue(outside === undefined, () => `${path}: ${outside} lies outside of its bounds`);
  }
}

function checkPartition(
  file: AvroRecord,
  { rows, root }: SlowParquetFile,
  sourceIds: readonly number[],
): void {
  const values = Object.values(file[DATA_FILE.partition] as AvroRecord);
  for (const [index, sourceId] of sourceIds.entries()) {
    const name = root.children.find(({ element }) => element.field_id === sourceId)?.element.name;
    if (name === undefined) continue;
    const other = rows.find((row) => textOf(row[name]) !== values[index]);
    requireTrue(
      other === undefined,
      () => `${file[DATA_FILE.filePath]}: a row of another partition than ${values[index]}`,
    );
  }
}

function textOf(value: unknown): string | null {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : null;
}

function checkTotals(summary: JsonObject, manifests: readonly ListedManifest[]): void {
  const live = manifests
    .filter(({ listed }) => Number(listed[LISTED.content] ?? DATA) === DATA)
    .flatMap(({ entries }) => entries.filter(isLive));
  const rows = live.reduce((sum, entry) => sum + recordCount(entry), 0);
  for (const [key, found] of [
    ['total-data-files', live.length],
    ['total-records', rows],
  ] as const) {
    const said = summary[key];
    requireTrue(
      said === undefined || Number(said) === found,
      () => `${key} is ${String(said)}, ${found} are there`,
    );
  }
}

function specOf({ listed }: ListedManifest, { json }: MetadataDocument): readonly number[] {
  const specs = json['partition-specs'] as readonly JsonObject[];
  const specId = Number(listed[MANIFEST_FILE.partitionSpecId]);
  const fields = specs.find((spec) => Number(spec['spec-id']) === specId)?.['fields'];
  return (fields as readonly JsonObject[]).map((field) => Number(field['source-id']));
}

function mapped(
  file: AvroRecord,
  { map, key, value }: { readonly map: string; readonly key: string; readonly value: string },
  fieldId: number,
): unknown {
  const pairs = (file[map] as readonly AvroRecord[] | null | undefined) ?? [];
  return pairs.find((pair) => pair[key] === fieldId)?.[value];
}

interface Range {
  readonly lower: Uint8Array | undefined;
  readonly upper: Uint8Array | undefined;
}

function isBetween(value: unknown, { lower, upper }: Range): boolean {
  if (value instanceof Uint8Array) {
    return (
      (lower === undefined || Buffer.compare(value, lower) >= 0) &&
      (upper === undefined || Buffer.compare(value, upper) <= 0)
    );
  }
  const plain = BigInt(value as number | bigint);
  return (
    (lower === undefined || plain >= whole(lower)) && (upper === undefined || plain <= whole(upper))
  );
}

/** An int or a long, as a single value is stored. */
function whole(bytes: Uint8Array): bigint {
  const buffer = Buffer.from(bytes);
  return buffer.length === 4 ? BigInt(buffer.readInt32LE()) : buffer.readBigInt64LE();
}

function recordCount(entry: AvroRecord): number {
  return Number(fileOf(entry)[DATA_FILE.recordCount]);
}

function requireTrue(holds: boolean, detail: () => string): void {
  claim(holds, 'what files are skipped by is true', detail);
}
