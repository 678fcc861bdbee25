import { printable } from './printable.ts';
import { shorten, textWidth } from './text-width.ts';

export interface TableOptions {
  /** Columns of the terminal, beyond which the widest texts are shortened; no limit where it is not given. */
  readonly widthMax?: number | undefined;
}

interface Column {
  width: number;
  readonly isQuantity: boolean;
}

const GAP = '  ';

/** No column is made narrower, since nothing could be told of what is left. */
const SHORTENED_WIDTH_MIN = 12;

/**
 * Aligns rows into columns, two spaces apart; the first row is the heading. Columns of quantities are aligned to
 * the right. Control characters are shown as escapes, since names come from outside.
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  { widthMax = Number.POSITIVE_INFINITY }: TableOptions = {},
): string[] {
  const cells = rows.map((row) => row.map(printable));
  const columnCount = Math.max(0, ...cells.map((row) => row.length));
  const columns = Array.from({ length: columnCount }, (_, index) => columnOf(cells, index));
  fitColumns(columns, widthMax);
  return cells.map((row) =>
    row
      .map((cell, index) => alignCell(cell, columns[index]!))
      .join(GAP)
      .trimEnd(),
  );
}

function columnOf(cells: readonly (readonly string[])[], index: number): Column {
  const texts = cells.map((row) => row[index] ?? '');
  return {
    width: texts.reduce((width, text) => Math.max(width, textWidth(text)), 0),
    isQuantity: texts.length > 1 && texts.slice(1).every((text) => QUANTITY.test(text)),
  };
}

const QUANTITY = /^(?:[-+$]?[\d,.]+(?: ?(?:B|KiB|MiB|GiB|TiB|PiB|ms|s|%))?|)$/;

/** Cuts the columns of text down to one width, the largest with which a row fits. */
function fitColumns(columns: readonly Column[], widthMax: number): void {
  const gaps = GAP.length * (columns.length - 1);
  const cutWidth = ({ width, isQuantity }: Column, cut: number): number =>
    isQuantity ? width : Math.min(width, cut);
  const fits = (cut: number): boolean =>
    columns.reduce((sum, column) => sum + cutWidth(column, cut), gaps) <= widthMax;
  if (fits(Number.POSITIVE_INFINITY)) return;
  let cut = Math.max(widthMax, SHORTENED_WIDTH_MIN);
  while (cut > SHORTENED_WIDTH_MIN && !fits(cut)) cut--;
  for (const column of columns) column.width = cutWidth(column, cut);
}

function alignCell(text: string, { width, isQuantity }: Column): string {
  const cell = shorten(text, width);
  const padding = ' '.repeat(width - textWidth(cell));
  return isQuantity ? padding + cell : cell + padding;
}
