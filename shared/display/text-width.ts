/** Marks that are drawn onto the character before them, and joiners. */
const ZERO_WIDTH = /^(?:\p{Mark}|[\u200b-\u200d])$/u;

/** Scripts and pictures that terminals draw two columns wide. */
const DOUBLE_WIDTH =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

const ELLIPSIS = '…';

/** Columns that printable text takes on a terminal. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Text of at most `widthMax` columns; what is cut out of the middle leaves an ellipsis. */
export function shorten(text: string, widthMax: number): string {
  if (textWidth(text) <= widthMax) return text;
  const tailWidth = Math.floor((widthMax - 1) / 2);
  const head = takeColumns([...text], widthMax - 1 - tailWidth);
  const tail = takeColumns([...text].reverse(), tailWidth).reverse();
  return [...head, ELLIPSIS, ...tail].join('');
}

function takeColumns(characters: readonly string[], widthMax: number): string[] {
  let width = 0;
  const end = characters.findIndex((character) => {
    width += characterWidth(character);
    return width > widthMax;
  });
  return characters.slice(0, end === -1 ? characters.length : end);
}

function characterWidth(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return DOUBLE_WIDTH.test(character) ? 2 : 1;
}
