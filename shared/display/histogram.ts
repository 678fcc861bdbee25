import { formatBytes } from './units.ts';

/** Upper ends (exclusive) of the size classes shown; the last class has none. */
const SIZE_CLASS_ENDS = [
  64 * 1024,
  1024 ** 2,
  16 * 1024 ** 2,
  64 * 1024 ** 2,
  256 * 1024 ** 2,
  1024 ** 3,
  Number.POSITIVE_INFINITY,
] as const;

const BAR_CHARACTERS_MAX = 32;

/** File sizes by class, as lines with bars; classes at both ends that hold no file are left out. */
export function formatSizeHistogram(fileSizesBytes: readonly number[]): string[] {
  const counts = SIZE_CLASS_ENDS.map(() => 0);
  for (const sizeBytes of fileSizesBytes) {
    const index = SIZE_CLASS_ENDS.findIndex((end) => sizeBytes < end);
    counts[index] = counts[index]! + 1;
  }
  const first = counts.findIndex((count) => count > 0);
  const last = counts.findLastIndex((count) => count > 0);
  if (first === -1) return ['no files'];
  const shown = counts.slice(first, last + 1);
  const labels = shown.map((_, offset) => sizeClassLabel(first + offset));
  const labelWidth = Math.max(...labels.map((label) => label.length));
  const countMax = Math.max(...shown);
  const countWidth = String(countMax).length;
  return shown.map((count, offset) => {
    const bar = '█'.repeat(Math.ceil((count / countMax) * BAR_CHARACTERS_MAX));
    const label = labels[offset]!.padStart(labelWidth);
    return `${label}  ${String(count).padStart(countWidth)}  ${bar}`.trimEnd();
  });
}

function sizeClassLabel(index: number): string {
  const end = SIZE_CLASS_ENDS[index]!;
  if (index === 0) return `< ${wholeUnits(end)}`;
  const start = wholeUnits(SIZE_CLASS_ENDS[index - 1]!);
  return end === Number.POSITIVE_INFINITY ? `>= ${start}` : `${start} - ${wholeUnits(end)}`;
}

/** The ends of size classes are whole numbers of their unit. */
function wholeUnits(bytes: number): string {
  return formatBytes(bytes).replace('.0 ', ' ');
}
