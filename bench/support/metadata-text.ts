import { IcebergError, type JsonValue, serializeJson } from '../../shared/base/index.ts';

/** An array of a JSON document, element by element as text, and the document without its elements. */
export interface CutArray {
  readonly rest: string;
  readonly elements: string[];
}

/** Takes the elements of an array of objects out of a compact document, without parsing anything. */
export function cutArray(text: string, key: string): CutArray {
  const start = text.indexOf(`"${key}":[`);
  if (start < 0) throw new IcebergError('invalid-data', `metadata text: has no array ${key}`);
  const elements: string[] = [];
  let index = start + key.length + 4;
  while (text[index] === '{') {
    const end = endOfObject(text, index);
    elements.push(text.slice(index, end));
    index = text[end] === ',' ? end + 1 : end;
  }
  return { rest: `${text.slice(0, start)}"${key}":[${text.slice(index)}`, elements };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN) depth++;
    else if (code === CLOSE && --depth === 0) return index + 1;
  }
  throw new IcebergError('invalid-data', 'metadata text: an object does not end');
}

/** A compact document: fields by their JSON text. */
export function documentText(fields: Readonly<Record<string, string>>): string {
  return `{${Object.entries(fields)
    .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
    .join()}}`;
}

export function arrayText(elements: readonly string[]): string {
  return `[${elements.join()}]`;
}

/** Each field of an object as text. */
export function fieldTexts(
  object: Readonly<Record<string, JsonValue>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, serializeJson(value)]),
  );
}
