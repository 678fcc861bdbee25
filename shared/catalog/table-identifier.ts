import { IcebergError } from '../base/index.ts';
import { encodeUtf8 } from '../bytes/index.ts';

/** A table's name: one or more namespace levels and the table, none empty, none with a dot. */
export interface TableIdentifier {
  readonly namespace: readonly string[];
  readonly name: string;
}

/** DynamoDB's limits for the partition key (`identifier`) and the sort key (`namespace`) of an item. */
const IDENTIFIER_BYTES_MAX = 2048;
const NAMESPACE_BYTES_MAX = 1024;

/**
 * Reads a dotted name such as `sales.eu.orders`: the last part is the table, the others are the namespace.
 *
 * @throws invalid-config — when there is no namespace, a part is empty, or the name is too long for a catalog
 */
export function parseTableIdentifier(text: string): TableIdentifier {
  const parts = text.split('.');
  const identifier = { namespace: parts.slice(0, -1), name: parts.at(-1) ?? '' };
  formatTableIdentifier(identifier);
  return identifier;
}

/**
 * The dotted full name; the inverse of `parseTableIdentifier`.
 *
 * @throws invalid-config — when there is no namespace, or a part is empty, has a dot, or is too long
 */
export function formatTableIdentifier(identifier: TableIdentifier): string {
  const text = [...identifier.namespace, identifier.name].join('.');
  const subject = `table name ${JSON.stringify(text)}`;
  formatLevels(identifier.namespace, subject);
  requirePart(identifier.name, subject);
  requireLength(text, IDENTIFIER_BYTES_MAX, subject);
  return text;
}

/** The dotted namespace. @throws invalid-config — as for a table's */
export function formatNamespace(namespace: readonly string[]): string {
  return formatLevels(namespace, `namespace ${JSON.stringify(namespace.join('.'))}`);
}

function formatLevels(namespace: readonly string[], subject: string): string {
  if (namespace.length === 0) {
    throw new IcebergError('invalid-config', `${subject}: has no namespace, such as db.orders`);
  }
  for (const level of namespace) requirePart(level, subject);
  const text = namespace.join('.');
  requireLength(text, NAMESPACE_BYTES_MAX, subject);
  return text;
}

function requirePart(part: string, subject: string): void {
  if (part === '') throw new IcebergError('invalid-config', `${subject}: has an empty part`);
  if (part.includes('.')) {
    throw new IcebergError('invalid-config', `${subject}: the part ${part} has a dot`);
  }
  if (!part.isWellFormed()) {
    throw new IcebergError('invalid-config', `${subject}: a part holds a lone surrogate`);
  }
}

function requireLength(text: string, bytesMax: number, subject: string): void {
  const lengthBytes = encodeUtf8(text).length;
  if (lengthBytes <= bytesMax) return;
  throw new IcebergError(
    'invalid-config',
    `${subject}: ${lengthBytes} bytes exceed the limit of ${bytesMax}`,
  );
}
