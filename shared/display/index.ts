/**
 * Text for people: quantities with units, aligned columns, histograms, and names from outside made safe to print.
 * Shared by the command and the local cloud; decides nothing about what is shown.
 */
export { formatSizeHistogram } from './histogram.ts';
export { printable } from './printable.ts';
export { formatTable, type TableOptions } from './table.ts';
export { shorten, textWidth } from './text-width.ts';
export { formatBytes, formatCount, formatDuration, formatInstant } from './units.ts';
