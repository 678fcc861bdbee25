/**
 * Aligns rows into columns, two spaces apart; the first row is the heading. Cells that look like quantities
 * are aligned to the right. Control characters are shown as escapes, since names come from outside.
 */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(printable));
  const columnCount = Math.max(0, ...cells.map((row) => row.length));
  const columns = Array.from({ length: columnCount }, (_, column) => ({
    width: Math.max(...cells.map((row) => row[column]?.length ?? 0)),
    isNumeric: cells.slice(1).every((row) => QUANTITY.test(row[column] ?? '')),
  }));
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const { width, isNumeric } = columns[column]!;
        return isNumeric ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

const QUANTITY = /^(?:[-+$]?[\d,.]+(?: ?(?:B|KiB|MiB|GiB|TiB|PiB|ms|s|%))?|)$/;

/** Text that cannot move the cursor or change colours. */
export function printable(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
