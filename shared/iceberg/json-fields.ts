import {
  IcebergError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toCount,
  toInt64,
} from '../base/index.ts';

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

/** An `invalid-data` error about one key of a JSON object. */
export function invalidJson(subject: string, problem: string): IcebergError {
  return new IcebergError('invalid-data', `${subject}: ${problem}`);
}

/** @throws invalid-data — when the value is not a JSON object */
export function requireObject(value: JsonValue | undefined, subject: string): JsonObject {
  if (!isJsonObject(value)) throw invalidJson(subject, 'is not a JSON object');
  return value;
}

/** @throws invalid-data — when the value is not a JSON array */
export function requireArray(value: JsonValue | undefined, subject: string): readonly JsonValue[] {
  if (!Array.isArray(value)) throw invalidJson(subject, 'is not a JSON array');
  return value;
}

/** The array under `key`; empty where the key is absent or null. */
export function optionalArray(
  object: JsonObject,
  key: string,
  subject: string,
): readonly JsonValue[] {
  const value = object[key];
  return value === undefined || value === null ? [] : requireArray(value, `${subject} ${key}`);
}

export function requireString(object: JsonObject, key: string, subject: string): string {
  const value = object[key];
  if (typeof value !== 'string') throw invalidJson(subject, `${key} is not a string`);
  return value;
}

/** The string under `key`, or undefined where it is absent or null. */
export function optionalString(
  object: JsonObject,
  key: string,
  subject: string,
): string | undefined {
  return isAbsent(object, key) ? undefined : requireString(object, key, subject);
}

export function requireBoolean(object: JsonObject, key: string, subject: string): boolean {
  const value = object[key];
  if (typeof value !== 'boolean') throw invalidJson(subject, `${key} is not a boolean`);
  return value;
}

/** A 32-bit signed integer. */
export function requireInt(object: JsonObject, key: string, subject: string): number {
  const value = object[key];
  if (!isInt32(value)) throw invalidJson(subject, `${key} is not a 32-bit integer`);
  return value;
}

export function optionalInt(object: JsonObject, key: string, subject: string): number | undefined {
  return isAbsent(object, key) ? undefined : requireInt(object, key, subject);
}

/** A 64-bit signed integer, always as a bigint. */
export function requireLong(object: JsonObject, key: string, subject: string): bigint {
  const value = object[key];
  if (typeof value === 'bigint') return toInt64(value, `${subject} ${key}`);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw invalidJson(subject, `${key} is not an integer`);
}

export function optionalLong(object: JsonObject, key: string, subject: string): bigint | undefined {
  return isAbsent(object, key) ? undefined : requireLong(object, key, subject);
}

/** A 64-bit signed integer of at least 0, as a bigint. */
export function requireUnsignedLong(object: JsonObject, key: string, subject: string): bigint {
  const value = requireLong(object, key, subject);
  if (value < 0n) throw invalidJson(subject, `${key} ${value} is negative`);
  return value;
}

/** A quantity of at least 0 that a number can hold: sizes, counts, milliseconds. */
export function requireCount(object: JsonObject, key: string, subject: string): number {
  return toCount(requireLong(object, key, subject), `${subject} ${key}`);
}

export function optionalCount(
  object: JsonObject,
  key: string,
  subject: string,
): number | undefined {
  return isAbsent(object, key) ? undefined : requireCount(object, key, subject);
}

/** An object whose values are all strings. */
export function requireStringMap(
  value: JsonValue | undefined,
  subject: string,
): Readonly<Record<string, string>> {
  const entries = Object.entries(requireObject(value, subject)).map(([key, text]) => {
    if (typeof text !== 'string') throw invalidJson(subject, `value of ${key} is not a string`);
    return [key, text] as const;
  });
  return Object.fromEntries(entries);
}

/** @throws invalid-data — when the value is not an integer of 32 bits */
export function toInt32(value: JsonValue | undefined, subject: string): number {
  if (!isInt32(value)) throw invalidJson(subject, 'is not a 32-bit integer');
  return value;
}

/**
 * The items by their id.
 *
 * @throws invalid-data — when two items have the same id
 */
export function requireUniqueIds<Id, Item>(
  items: readonly Item[],
  idOf: (item: Item) => Id,
  subject: string,
): ReadonlyMap<Id, Item> {
  const byId = new Map<Id, Item>();
  for (const item of items) {
    const id = idOf(item);
    if (byId.has(id)) throw invalidJson(subject, `id ${id} occurs twice`);
    byId.set(id, item);
  }
  return byId;
}

function isAbsent(object: JsonObject, key: string): boolean {
  return object[key] === undefined || object[key] === null;
}

function isInt32(value: JsonValue | undefined): value is number {
  const isInteger = typeof value === 'number' && Number.isInteger(value);
  return isInteger && value >= INT32_MIN && value <= INT32_MAX;
}
