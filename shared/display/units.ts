const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** Bytes with the largest binary unit that keeps at least one whole digit: `512 B`, `1.5 MiB`, `2.0 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unitIndex = 0;
  // What would be rounded up to 1024 is one of the next unit.
  while (value >= 1023.5 && unitIndex < BYTE_UNITS.length - 1 && bytes >= 1024) {
    value /= 1024;
    unitIndex++;
  }
  const digits = unitIndex === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${BYTE_UNITS[unitIndex]}`;
}

/** A count with thousands separators and its noun in the right number. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? singular : plural}`;
}

/** Milliseconds as a person says them: `840 ms`, `4.2 s`, `3 min 5 s`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A moment in UTC, to the second. */
export function formatInstant(epochMs: number): string {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime())
    ? `${epochMs} ms`
    : date
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z');
}
