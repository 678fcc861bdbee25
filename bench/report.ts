/** One figure of a bench: what was measured, and the bound it has to keep, if the issue names one. */
export interface Figure {
  /** The key in the closing JSON object. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The largest value allowed. */
  readonly valueMax?: number;
}

/** Prints the figures as a table and, as the last line, as one JSON object. Returns whether all bounds hold. */
export function printReport(title: string, figures: readonly Figure[]): boolean {
  const isWithinBounds = figures.every(
    ({ value, valueMax }) => valueMax === undefined || value <= valueMax,
  );
  const rows = figures.map((figure) => [
    figure.name,
    `${formatValue(figure.value)} ${figure.unit}`,
    figure.valueMax === undefined ? '' : `<= ${formatValue(figure.valueMax)} ${figure.unit}`,
  ]);
  print(`\n${title}`);
  for (const line of alignColumns([['figure', 'measured', 'bound'], ...rows])) print(line);
  const values = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
  print(JSON.stringify({ ...values, ok: isWithinBounds }));
  return isWithinBounds;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

function formatValue(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en-US') : value.toFixed(2);
}
