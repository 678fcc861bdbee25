import type { JsonObject } from '../../shared/base/index.ts';
import type { TablePointer } from '../../shared/catalog/index.ts';
import { formatCount, formatInstant, formatTable, printable } from '../../shared/display/index.ts';
import {
  currentSchema,
  isEncrypted,
  type NestedField,
  type PartitionSpec,
  type Snapshot,
  schemaById,
  snapshotOfRef,
  sortOrderById,
  specById,
  type TableMetadata,
  transformText,
  typeText,
} from '../../shared/iceberg/index.ts';
import { unknownPropertyWarnings } from './property-warnings.ts';

const FIELDS_SHOWN_MAX = 60;

/** What a table's metadata says, for people. */
export function describeMetadata(
  tableName: string,
  pointer: TablePointer,
  metadata: TableMetadata,
): string[] {
  const snapshot = snapshotOfRef(metadata);
  return [
    `table ${tableName}, format v${metadata.formatVersion}`,
    `  location           ${printable(metadata.location)}`,
    `  uuid               ${printable(metadata.tableUuid ?? '(none)')}`,
    `  metadata           ${printable(pointer.metadataLocation)}`,
    `  last updated       ${formatInstant(metadata.lastUpdatedMs)}`,
    `  snapshots          ${metadata.snapshots.length}, metadata log ${metadata.metadataLog.length}`,
    `  current snapshot   ${snapshot === undefined ? '(none)' : snapshotText(snapshot)}`,
    `  partitioned by     ${specText(metadata, specById(metadata, metadata.defaultSpecId))}` +
      countOthers(metadata.partitionSpecs.length, 'spec'),
    `  sorted by          ${sortText(metadata)}`,
    `  schema             ${formatCount(currentSchema(metadata).fields.length, 'column')}` +
      countOthers(metadata.schemas.length, 'schema'),
    ...describeFields(currentSchema(metadata).fields),
    ...describeRefs(metadata),
    ...(isEncrypted(metadata) ? ['not maintained by Firn: the table is encrypted'] : []),
    ...unknownPropertyWarnings(metadata.properties).map((warning) => `warning: ${warning}`),
  ];
}

function snapshotText({ snapshotId, timestampMs, summary }: Snapshot): string {
  const operation = printable(summary['operation'] ?? 'unknown operation');
  const runId = summary['firn.run-id'];
  const by = runId === undefined ? '' : ` by Firn, run ${printable(runId)}`;
  return `${snapshotId}, ${operation}${by}, ${formatInstant(timestampMs)}`;
}

function countOthers(count: number, noun: string): string {
  return count > 1 ? ` (and ${formatCount(count - 1, `other ${noun}`)})` : '';
}

function specText(metadata: TableMetadata, spec: PartitionSpec): string {
  if (spec.fields.length === 0) return '(nothing)';
  return spec.fields
    .map(
      ({ sourceIds, transform }) => `${transformText(transform)}(${namesOf(metadata, sourceIds)})`,
    )
    .map(printable)
    .join(', ');
}

function sortText(metadata: TableMetadata): string {
  const { fields } = sortOrderById(metadata, metadata.defaultSortOrderId);
  if (fields.length === 0) return '(nothing)';
  return fields
    .map(
      ({ sourceIds, transform, direction }) =>
        `${transformText(transform)}(${namesOf(metadata, sourceIds)}) ${direction}`,
    )
    .map(printable)
    .join(', ');
}

function namesOf(metadata: TableMetadata, fieldIds: readonly number[]): string {
  const schema = schemaById(metadata, metadata.currentSchemaId);
  const name = (fieldId: number): string =>
    schema.fields.find((field) => field.fieldId === fieldId)?.name ?? `field ${fieldId}`;
  return fieldIds.map(name).join(', ');
}

function describeFields(fields: readonly NestedField[]): string[] {
  const rows = fields
    .slice(0, FIELDS_SHOWN_MAX)
    .map(({ fieldId, name, type, isRequired }) => [
      String(fieldId),
      name,
      typeText(type),
      isRequired ? 'required' : '',
    ]);
  const hiddenCount = fields.length - rows.length;
  return [
    ...formatTable([['id', 'name', 'type', ''], ...rows]).map((line) => `    ${line}`),
    ...(hiddenCount > 0 ? [`    and ${formatCount(hiddenCount, 'column')} more`] : []),
  ];
}

function describeRefs({ refs }: TableMetadata): string[] {
  const others = [...refs].filter(([name]) => name !== 'main');
  if (others.length === 0) return [];
  return [
    '  branches and tags',
    ...others.map(
      ([name, { type, snapshotId }]) => `    ${type} ${printable(name)} at ${snapshotId}`,
    ),
  ];
}

/** The same for programs; ids are decimal strings. */
export function metadataToJson(metadata: TableMetadata): JsonObject {
  const snapshot = snapshotOfRef(metadata);
  const spec = specById(metadata, metadata.defaultSpecId);
  return {
    formatVersion: metadata.formatVersion,
    tableUuid: metadata.tableUuid ?? null,
    location: metadata.location,
    lastUpdatedMs: metadata.lastUpdatedMs,
    snapshotCount: metadata.snapshots.length,
    currentSnapshot:
      snapshot === undefined
        ? null
        : {
            snapshotId: String(snapshot.snapshotId),
            timestampMs: snapshot.timestampMs,
            summary: { ...snapshot.summary },
          },
    schema: currentSchema(metadata).source,
    partitionSpec: spec.source,
    properties: { ...metadata.properties },
    refs: Object.fromEntries(
      [...metadata.refs].map(([name, { type, snapshotId }]) => [
        name,
        { type, snapshotId: String(snapshotId) },
      ]),
    ),
    isMaintained: !isEncrypted(metadata),
    warnings: [...unknownPropertyWarnings(metadata.properties)],
  };
}
