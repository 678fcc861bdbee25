import type { PropertyParser } from './property-parsers.ts';

/**
 * Which metrics of a column go into manifests: none; counts of values, nulls and NaNs; counts and bounds,
 * truncated to `length` code points or bytes or in full.
 */
export type MetricsMode =
  | { readonly kind: 'none' | 'counts' | 'full' }
  | { readonly kind: 'truncate'; readonly length: number };

const TRUNCATE = /^truncate\((\d{1,9})\)$/;

/** The text forms of Iceberg Java's `MetricsModes`. */
export const metricsMode: PropertyParser<MetricsMode> = {
  parse: (text) => {
    const word = text.trim().toLowerCase();
    if (word === 'none' || word === 'counts' || word === 'full') return { kind: word };
    const length = Number(TRUNCATE.exec(word)?.[1] ?? 0);
    return length > 0 ? { kind: 'truncate', length } : undefined;
  },
  expected: 'none, counts, truncate(length) or full',
};
