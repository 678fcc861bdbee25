import type { JsonObject } from '../../shared/base/index.ts';
import type { TablePointer } from '../../shared/catalog/index.ts';
import { formatCount, formatInstant, printable, shorten } from '../../shared/display/index.ts';
import {
  currentSchema,
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
import { indentedTable } from './indented-table.ts';
import { propertyWarnings } from './property-warnings.ts';

const FIELDS_SHOWN_MAX = 60;
const REFS_SHOWN_MAX = 20;
const PROPERTIES_SHOWN_MAX = 30;

/** Some properties hold whole JSON documents. */
const VALUE_WIDTH_MAX = 120;

/** What a table's metadata says, for people. */
export function describeMetadata(
  tableName: string,
  { pointer, metadata }: { readonly pointer: TablePointer; readonly metadata: TableMetadata },
  widthMax: number | undefined,
): string[] {
  return [
    `table ${printable(tableName)}, format v${metadata.formatVersion}`,
    `  location           ${printable(metadata.location)}`,
    `  uuid               ${printable(metadata.tableUuid ?? '(none)')}`,
    `  metadata           ${printable(pointer.metadataLocation)}`,
    `  last updated       ${formatInstant(metadata.lastUpdatedMs)}`,
    `  snapshots          ${metadata.snapshots.length}, and ${formatCount(metadata.metadataLog.length, 'earlier metadata file')}`,
    ...describeSnapshot(snapshotOfRef(metadata)),
    `  partitioned by     ${specText(metadata, specById(metadata, metadata.defaultSpecId))}` +
      countOthers(metadata.partitionSpecs.length, 'spec'),
    `  sorted by          ${sortText(metadata)}`,
    `  maintenance        ${permissionText(metadata)}`,
    `columns: ${currentSchema(metadata).fields.length}${countOthers(metadata.schemas.length, 'schema')}`,
    ...describeFields(currentSchema(metadata).fields, widthMax),
    ...describeRefs(metadata),
    ...describeProperties(metadata, widthMax),
    ...propertyWarnings(metadata.properties).map((warning) => `warning: ${printable(warning)}`),
  ];
}

/** Whether a deployment may change the table on its own; a person's command always may. */
function permissionText({ properties }: TableMetadata): string {
  const value = properties['firn.enabled'];
  if (value === undefined) return "firn.enabled is not set: the deployment's list decides";
  const isKnown = ['true', 'false'].includes(value.trim().toLowerCase());
  const problem = isKnown ? '' : ': refused, it has to be true or false';
  return `firn.enabled is ${printable(value)}${problem}`;
}

/** Which operation made the snapshot, and who, where its summary tells. */
function describeSnapshot(snapshot: Snapshot | undefined): string[] {
  if (snapshot === undefined) return ['  current snapshot   (none)'];
  const { snapshotId, timestampMs, summary } = snapshot;
  const { operation = 'unknown operation', 'engine-name': engine } = summary;
  const runId = summary['firn.run-id'];
  const engineText = engine === undefined ? '' : ` by ${engine} ${summary['engine-version'] ?? ''}`;
  const by = runId === undefined ? engineText : ` by Firn, run ${runId}`;
  return [
    `  current snapshot   ${snapshotId}, ${formatInstant(timestampMs)}`,
    `  last operation     ${printable(`${operation}${by}`.trimEnd())}`,
  ];
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

function describeFields(fields: readonly NestedField[], widthMax: number | undefined): string[] {
  const rows = fields
    .slice(0, FIELDS_SHOWN_MAX)
    .map(({ fieldId, name, type, isRequired }) => [
      String(fieldId),
      name,
      isRequired ? 'required' : 'optional',
      typeText(type),
    ]);
  const hiddenCount = fields.length - rows.length;
  return [
    ...indentedTable([['id', 'name', 'presence', 'type'], ...rows], { widthMax }),
    ...(hiddenCount > 0
      ? [`  and ${formatCount(hiddenCount, 'column')} more (all with --json)`]
      : []),
  ];
}

function describeRefs({ refs }: TableMetadata): string[] {
  const others = [...refs].filter(([name]) => name !== 'main');
  if (others.length === 0) return [];
  return [
    'other branches, and tags',
    ...others
      .slice(0, REFS_SHOWN_MAX)
      .map(([name, { type, snapshotId }]) => `  ${type} ${printable(name)} at ${snapshotId}`),
    ...(others.length > REFS_SHOWN_MAX
      ? [`  and ${others.length - REFS_SHOWN_MAX} more (all with --json)`]
      : []),
  ];
}

function describeProperties({ properties }: TableMetadata, widthMax: number | undefined): string[] {
  const entries = Object.entries(properties).sort(([one], [other]) => (one < other ? -1 : 1));
  if (entries.length === 0) return [];
  const hiddenCount = entries.length - PROPERTIES_SHOWN_MAX;
  const rows = entries
    .slice(0, PROPERTIES_SHOWN_MAX)
    .map(([key, value]) => [key, shorten(value, VALUE_WIDTH_MAX)]);
  return [
    'properties',
    ...indentedTable([['key', 'value'], ...rows], { widthMax }),
    ...(hiddenCount > 0 ? [`  and ${hiddenCount} more (all with --json)`] : []),
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
    warnings: [...propertyWarnings(metadata.properties)],
  };
}
