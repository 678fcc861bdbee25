/**
 * Numbers that a double would change are taken out of JSON text before the engine parses it, and put back into what
 * comes of it. The engine can be asked for the text of each number instead, at five times the cost for metadata of a
 * table with thousands of snapshots.
 */
import { IcebergError } from './errors.ts';
import { JsonNumber, NUMBER_TEXT } from './json-number.ts';

export interface MarkedText {
  readonly text: string;
  /** By their marks. */
  readonly numbers: readonly (bigint | JsonNumber)[];
}

/**
 * Deepest nesting of arrays and objects accepted: what is parsed can also be walked and serialized, since the
 * engine's stack holds several thousand levels. A nested type takes two levels of metadata JSON.
 */
const JSON_DEPTH_MAX = 1000;

/** Longest number text accepted: far beyond any 64-bit value, far below what makes BigInt slow. */
const NUMBER_TEXT_CHARS_MAX = 400;

/**
 * A mark is an even number from here on. No number of these is left in marked text: integers beyond 2^53 - 1 are taken out, and
 * the least that is kept as a double's own text, `1e+21`, is far above.
 */
const FIRST_MARK = 2 ** 53;
const MARK_STEP = 2;

const INTEGER = /^-?\d+$/;

/** A double prints integers of so many digits alike. */
const PLAIN_DIGITS_MAX = 15;

/** Integers of so many digits are beyond 2^53 - 1; no 64-bit one has more than the latter. */
const ID_DIGITS_MIN = 17;
const ID_DIGITS_MAX = 19;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/**
 * Puts a mark in the place of each number that a double does not print alike. Text that is not JSON stays wrong, and is left to
 * the parser.
 *
 * @throws invalid-data — when brackets are nested deeper than 1,000 levels, or a number has more than 400 characters
 */
export function markNumbers(text: string, subject: string): MarkedText {
  const numbers: (bigint | JsonNumber)[] = [];
  const parts: string[] = [];
  let copied = 0;
  let depth = 0;
  let index = 0;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = endOfString(text, index);
    } else if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) {
      const end = endOfNumber(text, index);
      const exact = exactNumber(text, index, end, subject);
      if (exact !== undefined) {
        parts.push(text.slice(copied, index), String(FIRST_MARK + MARK_STEP * numbers.length));
        numbers.push(exact);
        copied = end;
      }
      index = end;
    } else {
      if (code === 0x5b || code === 0x7b) depth++;
      else if (code === 0x5d || code === 0x7d) depth--;
      if (depth > JSON_DEPTH_MAX) throw tooDeep(subject, index);
      index++;
    }
  }
  if (numbers.length === 0) return { text, numbers };
  return { text: parts.join('') + text.slice(copied), numbers };
}

/** Puts the numbers back, in place; at most as deep as marked text is. */
export function restoreNumbers(value: unknown, numbers: MarkedText['numbers']): unknown {
  if (typeof value === 'number') {
    const isMark = value >= FIRST_MARK && value < FIRST_MARK + MARK_STEP * numbers.length;
    return isMark ? numbers[(value - FIRST_MARK) / MARK_STEP] : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      value[index] = restoreNumbers(value[index], numbers);
    }
    return value;
  }
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    // Also `__proto__` is a property of its own here, so that setting it sets nothing else.
    if (typeof field !== 'string') fields[key] = restoreNumbers(field, numbers);
  }
  return fields;
}

/** Index behind the closing quote; behind the text where there is none. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
}

/** Whether an odd number of backslashes stands before; the quote that opens the string ends them. */
function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (index - first) % 2 === 1;
}

function endOfNumber(text: string, start: number): number {
  let index = start + 1;
  while (isNumberPart(text.charCodeAt(index))) index++;
  return index;
}

/** Digits, `+`, `-`, `.`, `E`, `e`. */
function isNumberPart(code: number): boolean {
  if (code >= DIGIT_0 && code <= DIGIT_9) return true;
  return code === 0x2b || code === MINUS || code === 0x2e || code === 0x45 || code === 0x65;
}

/** Undefined where the double is as good, or the text is no number. */
function exactNumber(
  text: string,
  start: number,
  end: number,
  subject: string,
): bigint | JsonNumber | undefined {
  const digitCount = countDigits(text, start, end);
  if (digitCount === end - start && digitCount <= PLAIN_DIGITS_MAX) return undefined;
  const number = text.slice(start, end);
  // Most of what is left are ids: they need no closer look.
  if (digitCount === end - start && digitCount <= ID_DIGITS_MAX && digitCount >= ID_DIGITS_MIN) {
    return number.startsWith('0') ? undefined : BigInt(number);
  }
  if (!NUMBER_TEXT.test(number)) return undefined;
  if (number.length > NUMBER_TEXT_CHARS_MAX) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: not valid JSON: a number of ${number.length} characters, at most ${NUMBER_TEXT_CHARS_MAX} are allowed`,
    );
  }
  const value = Number(number);
  const isInteger = INTEGER.test(number);
  if (String(value) === number && (Number.isSafeInteger(value) || !isInteger)) return undefined;
  return isInteger && number !== '-0' ? BigInt(number) : new JsonNumber(number);
}

/** How many digits the text begins with. */
function countDigits(text: string, start: number, end: number): number {
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code < DIGIT_0 || code > DIGIT_9) return index - start;
  }
  return end - start;
}

function tooDeep(subject: string, offset: number): IcebergError {
  return new IcebergError(
    'invalid-data',
    `${subject}: json is nested deeper than ${JSON_DEPTH_MAX} levels`,
    { offset },
  );
}
