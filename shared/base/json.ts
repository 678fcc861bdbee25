import { IcebergError } from './errors.ts';

/**
 * A JSON value in which no number has lost a digit: integers within ±(2^53 − 1) are numbers, larger
 * integers are bigints, and a fraction or exponent whose text a double cannot reproduce is a `JsonNumber`.
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

/** A number kept by its source text, since no double prints the same. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Emits number text as it stands; standard in Node 24, not yet in the compiler's library types. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** Longest number text accepted: far beyond any 64-bit value, far below what makes BigInt slow. */
const NUMBER_TEXT_CHARS_MAX = 400;

/**
 * Parses JSON text without losing digits of integers or decimals.
 *
 * @param subject names the document for error messages
 * @throws invalid-data — when the text is not JSON, or is nested deeper than the engine's stack allows
 */
export function parseJson(text: string, subject: string): JsonValue {
  try {
    return JSON.parse(text, reviveLossless) as JsonValue;
  } catch (cause) {
    if (cause instanceof IcebergError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new IcebergError('invalid-data', `${subject}: not valid JSON: ${reason}`, {}, cause);
  }
}

/**
 * Serializes a JSON value; bigints become bare JSON numbers. Keys keep their order.
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

function reviveLossless(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const source = context.source;
  if (source.length > NUMBER_TEXT_CHARS_MAX) {
    throw new IcebergError('invalid-data', `json: a number of ${source.length} characters`);
  }
  if (INTEGER.test(source)) {
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? value : BigInt(source);
  }
  return String(value) === source ? value : new JsonNumber(source);
}

function replaceLossless(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return rawJson(value.toString());
  if (value instanceof JsonNumber) return rawJson(value.text);
  return value;
}
