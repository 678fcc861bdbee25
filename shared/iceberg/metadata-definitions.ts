import type { JsonObject, JsonValue } from '../base/index.ts';
import { invalidJson, requireArray, requireInt, requireUniqueIds } from './json-fields.ts';
import type { FormatVersion, TableMetadata } from './metadata-types.ts';
import {
  PARTITION_FIELD_ID_START,
  parsePartitionFields,
  parsePartitionSpec,
} from './partition-spec.ts';
import { parseSchema } from './schema.ts';
import { parseSortOrder, UNSORTED_ORDER_ID, unsortedOrder } from './sort-order.ts';
import type { PartitionSpec } from './types.ts';

const SUBJECT = 'table metadata';

/** Spec id of a v1 table that only has `partition-spec`. */
const SPEC_ID_DEFAULT = 0;

/**
 * The schemas of table metadata and the id of the current one; v1 may have a single `schema` instead.
 *
 * @throws invalid-data — when one is malformed, an id occurs twice, or the current one is missing
 */
export function parseSchemas(
  source: JsonObject,
  formatVersion: FormatVersion,
): Pick<TableMetadata, 'schemas' | 'currentSchemaId'> {
  if (formatVersion === 1 && isAbsent(source, 'schemas')) {
    const schema = parseSchema(source['schema'], 'schema');
    return { schemas: [schema], currentSchemaId: schema.schemaId };
  }
  const schemas = requireArray(source['schemas'], `${SUBJECT} schemas`).map((schema) =>
    parseSchema(schema, 'schema'),
  );
  const byId = requireUniqueIds(schemas, (schema) => schema.schemaId, `${SUBJECT} schemas`);
  const currentSchemaId = requireInt(source, 'current-schema-id', SUBJECT);
  if (!byId.has(currentSchemaId)) {
    throw invalidJson(SUBJECT, `current-schema-id ${currentSchemaId} is not in schemas`);
  }
  return { schemas, currentSchemaId };
}

/**
 * The partition specs, the id of the default one and the highest field id; v1 may have the default spec's
 * fields alone.
 *
 * @throws invalid-data — when one is malformed, an id occurs twice, or the default one is missing
 */
export function parsePartitionSpecs(
  source: JsonObject,
  formatVersion: FormatVersion,
): Pick<TableMetadata, 'partitionSpecs' | 'defaultSpecId' | 'lastPartitionId'> {
  const isSingular = formatVersion === 1 && isAbsent(source, 'partition-specs');
  const partitionSpecs = isSingular
    ? [singularSpec(source['partition-spec'])]
    : requireArray(source['partition-specs'], `${SUBJECT} partition-specs`).map((spec) =>
        parsePartitionSpec(spec, 'partition spec'),
      );
  const byId = requireUniqueIds(
    partitionSpecs,
    (spec) => spec.specId,
    `${SUBJECT} partition-specs`,
  );
  const defaultSpecId = isSingular
    ? SPEC_ID_DEFAULT
    : requireInt(source, 'default-spec-id', SUBJECT);
  if (!byId.has(defaultSpecId)) {
    throw invalidJson(SUBJECT, `default-spec-id ${defaultSpecId} is not in partition-specs`);
  }
  const isCounted = formatVersion > 1 || !isAbsent(source, 'last-partition-id');
  const lastPartitionId = isCounted
    ? requireInt(source, 'last-partition-id', SUBJECT)
    : highestFieldId(partitionSpecs);
  return { partitionSpecs, defaultSpecId, lastPartitionId };
}

/** v1's `partition-spec` is a bare list of fields. */
function singularSpec(value: JsonValue | undefined): PartitionSpec {
  const fields = parsePartitionFields(value, 'partition spec');
  return {
    specId: SPEC_ID_DEFAULT,
    fields,
    source: { 'spec-id': SPEC_ID_DEFAULT, fields: value ?? [] },
  };
}

function highestFieldId(specs: readonly PartitionSpec[]): number {
  let highest = PARTITION_FIELD_ID_START - 1;
  for (const { fields } of specs) {
    for (const { fieldId } of fields) highest = Math.max(highest, fieldId);
  }
  return highest;
}

/**
 * The sort orders and the id of the default one; v1 may have none.
 *
 * @throws invalid-data — when one is malformed, an id occurs twice, or the default one is missing
 */
export function parseSortOrders(
  source: JsonObject,
  formatVersion: FormatVersion,
): Pick<TableMetadata, 'sortOrders' | 'defaultSortOrderId'> {
  if (formatVersion === 1 && isAbsent(source, 'sort-orders')) {
    return { sortOrders: [unsortedOrder()], defaultSortOrderId: UNSORTED_ORDER_ID };
  }
  const sortOrders = requireArray(source['sort-orders'], `${SUBJECT} sort-orders`).map((order) =>
    parseSortOrder(order, 'sort order'),
  );
  const byId = requireUniqueIds(sortOrders, (order) => order.orderId, `${SUBJECT} sort-orders`);
  const defaultSortOrderId = requireInt(source, 'default-sort-order-id', SUBJECT);
  if (defaultSortOrderId !== UNSORTED_ORDER_ID && !byId.has(defaultSortOrderId)) {
    throw invalidJson(SUBJECT, `default-sort-order-id ${defaultSortOrderId} is not in sort-orders`);
  }
  return { sortOrders, defaultSortOrderId };
}

function isAbsent(source: JsonObject, key: string): boolean {
  return source[key] === undefined || source[key] === null;
}
