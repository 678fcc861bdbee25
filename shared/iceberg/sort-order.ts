import type { JsonObject, JsonValue } from '../base/index.ts';
import {
  invalidJson,
  requireArray,
  requireInt,
  requireObject,
  requireString,
} from './json-fields.ts';
import { parseSource } from './partition-spec.ts';
import type { SortField, SortOrder } from './types.ts';

/** The order of files that are not sorted. @see Iceberg spec, "Sorting" */
export const UNSORTED_ORDER_ID = 0;

/**
 * Parses a sort order object.
 *
 * @throws invalid-data — when a key is missing or malformed, or order 0 has fields
 * @see Iceberg spec, "Appendix C: JSON serialization", Sort Orders
 */
export function parseSortOrder(value: JsonValue | undefined, subject: string): SortOrder {
  const source = requireObject(value, subject);
  const orderId = requireInt(source, 'order-id', subject);
  const fields = requireArray(source['fields'], `${subject} fields`).map((field) =>
    parseSortField(requireObject(field, `${subject} field`), subject),
  );
  if (orderId === UNSORTED_ORDER_ID && fields.length > 0) {
    throw invalidJson(subject, `order ${orderId} means unsorted but has ${fields.length} fields`);
  }
  return { orderId, fields, source };
}

/** The unsorted order, for v1 tables that list no orders. */
export function unsortedOrder(): SortOrder {
  return {
    orderId: UNSORTED_ORDER_ID,
    fields: [],
    source: { 'order-id': UNSORTED_ORDER_ID, fields: [] },
  };
}

function parseSortField(object: JsonObject, subject: string): SortField {
  const direction = requireString(object, 'direction', subject).toLowerCase();
  const nullOrder = requireString(object, 'null-order', subject).toLowerCase();
  if (direction !== 'asc' && direction !== 'desc') {
    throw invalidJson(subject, `direction ${direction.slice(0, 40)} is neither asc nor desc`);
  }
  if (nullOrder !== 'nulls-first' && nullOrder !== 'nulls-last') {
    throw invalidJson(
      subject,
      `null-order ${nullOrder.slice(0, 40)} is neither nulls-first nor nulls-last`,
    );
  }
  return { ...parseSource(object, `${subject} field`), direction, nullOrder };
}
