import { assert } from './assert.ts';
import { IcebergError } from './errors.ts';

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

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** A number kept by its source text, since no double prints the same. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    assert(NUMBER.test(text), `json number: ${JSON.stringify(text)} is not a number`);
    this.text = text;
  }
}

/** Emits number text as it stands; standard in Node 24, not yet in the compiler's library types. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

/** Longest number text accepted: far beyond any 64-bit value, far below what makes BigInt slow. */
const NUMBER_TEXT_CHARS_MAX = 400;

/**
 * Deepest nesting of arrays and objects accepted: what is parsed can also be walked and serialized, since the
 * engine's stack holds several thousand levels. A nested type takes two levels of metadata JSON.
 */
const JSON_DEPTH_MAX = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses JSON text without losing digits of integers or decimals. Keys keep their order, except that keys
 * that are array indexes (`"0"`, `"17"`) come first; of equal keys the last one counts, as in Java's readers.
 *
 * @param subject names the document for error messages
 * @throws invalid-data — when the text is not JSON, is nested deeper than 1,000 levels, or holds a number of
 *   more than 400 characters
 */
export function parseJson(text: string, subject: string): JsonValue {
  requireAllowedDepth(text, subject);
  try {
    return JSON.parse(text, reviveLossless) as JsonValue;
  } catch (cause) {
    throw new IcebergError('invalid-data', `${subject}: not valid JSON: ${problemOf(cause)}`);
  }
}

/** The engine's own message, and so the cause, quotes the document, which must not reach a log. */
function problemOf(cause: unknown): string {
  if (cause instanceof IcebergError) return cause.message;
  const place = cause instanceof Error ? / at position \d+/.exec(cause.message)?.[0] : undefined;
  return place === undefined ? 'unexpected text or end' : `unexpected text${place}`;
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

/** Counts brackets outside strings; text that is not JSON may pass and is left to the parser. */
function requireAllowedDepth(text: string, subject: string): void {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > JSON_DEPTH_MAX) {
        throw new IcebergError(
          'invalid-data',
          `${subject}: json is nested deeper than ${JSON_DEPTH_MAX} levels`,
          { offset: index },
        );
      }
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
}

function reviveLossless(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const source = context.source;
  if (source.length > NUMBER_TEXT_CHARS_MAX) {
    throw new IcebergError(
      'invalid-data',
      `a number of ${source.length} characters, at most ${NUMBER_TEXT_CHARS_MAX} are allowed`,
    );
  }
  if (String(value) === source && (Number.isSafeInteger(value) || !INTEGER.test(source))) {
    return value;
  }
  return INTEGER.test(source) && source !== '-0' ? BigInt(source) : new JsonNumber(source);
}

function replaceLossless(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(value.toString());
  if (value instanceof JsonNumber) return rawJson(value.text);
  if (typeof value === 'number') assert(Number.isFinite(value), `json: ${value} has no JSON form`);
  return value;
}
