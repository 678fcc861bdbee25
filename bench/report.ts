/** One figure of a bench: what was measured, and what it has to be, where something is demanded of it. */
export interface Figure {
  /** The key in the closing JSON object. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The smallest value allowed. */
  readonly valueMin?: number;
  /** The largest value allowed. */
  readonly valueMax?: number;
  /** The only value allowed. */
  readonly valueExpected?: number;
}

/** Prints the figures as a table and, as the last line, as one JSON object. Returns whether all demands are met. */
export function printReport(title: string, figures: readonly Figure[]): boolean {
  const isOk = figures.every(isMet);
  const rows = figures.map((figure) => [
    figure.name,
    `${formatValue(figure.value)} ${figure.unit}`,
    `${demandText(figure)}${isMet(figure) ? '' : '  MISSED'}`,
  ]);
  print(`\n${title}`);
  for (const line of alignColumns([['figure', 'measured', 'demanded'], ...rows])) print(line);
  const values = Object.fromEntries(figures.map(({ name, value }) => [name, value]));
  print(JSON.stringify({ ...values, ok: isOk }));
  return isOk;
}

/** Prints what a bench runs with, before it runs. */
export function printParameters(title: string, parameters: Readonly<Record<string, string>>): void {
  print(`\n${title}`);
  for (const line of alignColumns(Object.entries(parameters))) print(line);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function isMet({
  value,
  valueMin = value,
  valueMax = value,
  valueExpected = value,
}: Figure): boolean {
  return value >= valueMin && value <= valueMax && value === valueExpected;
}

function demandText({ unit, valueMin, valueMax, valueExpected }: Figure): string {
  if (valueMin !== undefined) return `>= ${formatValue(valueMin)} ${unit}`;
  if (valueMax !== undefined) return `<= ${formatValue(valueMax)} ${unit}`;
  return valueExpected === undefined ? '' : `= ${formatValue(valueExpected)} ${unit}`;
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
