import { assert } from './assert.ts';
import { IcebergError } from './errors.ts';
import { JsonNumber } from './json-number.ts';
import { markNumbers, restoreNumbers } from './json-number-marks.ts';

export { JsonNumber };

/**
 * A JSON value in which no number has lost a digit: integers within ±(2^53 − 1) are numbers, larger
 * integers are bigints, and any other number whose text a double cannot reproduce (a fraction, an exponent,
 * `-0`) is a `JsonNumber`.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonNumber
  | readonly JsonValue[]
  | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Emits number text as it stands; standard in Node 24, not yet in the compiler's library types. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

/**
 * Parses JSON text without losing digits of integers or decimals. Keys keep their order, except that keys
 * that are array indexes (`"0"`, `"17"`) come first; of equal keys the last one counts, as in Java's readers.
 *
 * @param subject names the document for error messages
 * @throws invalid-data — when the text is not JSON, is nested deeper than 1,000 levels, or holds a number of
 *   more than 400 characters
 */
export function parseJson(text: string, subject: string): JsonValue {
  const { text: marked, numbers } = markNumbers(text, subject);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch {
    throw new IcebergError('invalid-data', `${subject}: not valid JSON: ${problemOf(text)}`);
  }
  return (numbers.length === 0 ? value : restoreNumbers(value, numbers)) as JsonValue;
}

/** The engine's own message quotes the document, which must not reach a log. */
function problemOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (cause) {
    const place = cause instanceof Error ? / at position \d+/.exec(cause.message)?.[0] : undefined;
    if (place !== undefined) return `unexpected text${place}`;
  }
  return 'unexpected text or end';
}

/**
 * Serializes a JSON value; bigints become bare JSON numbers, a lone surrogate becomes its `\u` escape. Keys
 * keep their order.
 *
 * @param indent spaces per level; 0 for one line
 */
export function serializeJson(value: JsonValue, indent = 0): string {
  return JSON.stringify(value, replaceLossless, indent);
}

/** Whether a value is a JSON object (not an array, not a kept number). */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

function replaceLossless(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(value.toString());
  if (value instanceof JsonNumber) return rawJson(value.text);
  if (typeof value === 'number') assert(Number.isFinite(value), `json: ${value} has no JSON form`);
  return value;
}
