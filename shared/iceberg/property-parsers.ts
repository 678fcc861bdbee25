/** Reads the text of a property; undefined when it is malformed. */
export interface PropertyParser<Value> {
  readonly parse: (text: string) => Value | undefined;
  /** What a well-formed value looks like, for the error message. */
  readonly expected: string;
}

const INTEGER = /^[+-]?\d{1,18}$/;
const FRACTION = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;

/** An integer from `min` to `max`, both inclusive. */
export function integerFrom(min: number, max = Number.MAX_SAFE_INTEGER): PropertyParser<number> {
  return {
    parse: (text) => {
      const value = INTEGER.test(text.trim()) ? Number(text) : Number.NaN;
      return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;
    },
    expected: `an integer from ${min} to ${max}`,
  };
}

/** A number strictly between 0 and 1. */
export const probability: PropertyParser<number> = {
  parse: (text) => {
    const value = FRACTION.test(text.trim()) ? Number(text) : Number.NaN;
    return value > 0 && value < 1 ? value : undefined;
  },
  expected: 'a number between 0 and 1',
};

/** A number above 0. */
export const positiveNumber: PropertyParser<number> = {
  parse: (text) => {
    const value = FRACTION.test(text.trim()) ? Number(text) : Number.NaN;
    return value > 0 && Number.isFinite(value) ? value : undefined;
  },
  expected: 'a number above 0',
};

export const boolean: PropertyParser<boolean> = {
  parse: (text) => {
    const word = text.trim().toLowerCase();
    return word === 'true' ? true : word === 'false' ? false : undefined;
  },
  expected: 'true or false',
};

/** Text that is not empty. */
export const text: PropertyParser<string> = {
  parse: (value) => (value.trim() === '' ? undefined : value),
  expected: 'text',
};

/** One of the words, compared without case. */
export function oneOf<const Word extends string>(...words: readonly Word[]): PropertyParser<Word> {
  return {
    parse: (value) => words.find((word) => word === value.trim().toLowerCase()),
    expected: `one of ${words.join(', ')}`,
  };
}
