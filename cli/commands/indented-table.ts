import { formatTable, type TableOptions } from '../../shared/display/index.ts';

const INDENT = '  ';

/** A table two columns in, that still fits the terminal. */
export function indentedTable(
  rows: readonly (readonly string[])[],
  { widthMax }: TableOptions,
): string[] {
  const innerWidth = widthMax === undefined ? undefined : widthMax - INDENT.length;
  return formatTable(rows, { widthMax: innerWidth }).map((line) => INDENT + line);
}
