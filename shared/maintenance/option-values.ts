import { IcebergError } from '../base/index.ts';

/** Options as a person or an event gives them: Iceberg's own names, values as text. */
export type OptionTexts = Readonly<Record<string, string>>;

const INT64_MAX = 2n ** 63n - 1n;

/** A whole number; what lies beyond 2^53 − 1 means no bound, and is read as that. */
export function integer(
  texts: OptionTexts,
  key: string,
  { fallback, min }: { readonly fallback: number; readonly min: number },
): number {
  const text = texts[key];
  if (text === undefined) return fallback;
  if (!/^-?\d{1,19}$/.test(text)) throw malformed(key, text, 'a whole number');
  const value = BigInt(text);
  if (value < BigInt(min) || value > INT64_MAX) {
    throw malformed(key, text, `between ${min} and ${INT64_MAX}`);
  }
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

/** A share of a whole. */
export function ratio(texts: OptionTexts, key: string, fallback: number): number {
  const text = texts[key];
  if (text === undefined) return fallback;
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0 && value <= 1) return value;
  throw malformed(key, text, 'a number above 0 and not above 1');
}

/** A number above 0, such as a share that may exceed the whole. */
export function positiveNumber(texts: OptionTexts, key: string, fallback: number): number {
  const text = texts[key];
  if (text === undefined) return fallback;
  const value = /^\d{0,15}\.?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value > 0) return value;
  throw malformed(key, text, 'a number above 0');
}

export function boolean(texts: OptionTexts, key: string, fallback: boolean): boolean {
  const text = texts[key]?.toLowerCase();
  if (text === undefined) return fallback;
  if (text === 'true' || text === 'false') return text === 'true';
  throw malformed(key, text, 'true or false');
}

/** @throws invalid-config — naming all keys that are not among the known ones */
export function refuseUnknownOptions(
  texts: OptionTexts,
  known: ReadonlySet<string>,
  operation: string,
): void {
  const unknown = Object.keys(texts)
    .filter((key) => !known.has(key))
    .sort();
  if (unknown.length === 0) return;
  throw new IcebergError('invalid-config', `${operation}: unknown options ${unknown.join(', ')}`);
}

/** The error for a value that an option cannot have. */
export function malformed(key: string, value: string, expected: string): IcebergError {
  return new IcebergError('invalid-config', `option ${key}: '${value}' is not ${expected}`);
}
