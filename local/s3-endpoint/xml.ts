import { refusal } from './answers.ts';

const NAMESPACE = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

export function xmlDocument(rootName: string, content: string, attributes = NAMESPACE): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${rootName}${attributes}>${content}</${rootName}>`;
}

/** One element with escaped text. */
export function element(name: string, text: string | number | boolean): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: S3 writes control characters this way too.
  return text.replace(/[&<>"'\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  switch (character) {
    case '&':
      return '&amp;';
    case '<':
      return '&lt;';
    case '>':
      return '&gt;';
    case '"':
      return '&quot;';
    case "'":
      return '&apos;';
    default:
      return `&#x${character.charCodeAt(0).toString(16)};`;
  }
}

/**
 * Prepares the text of a request's document as an XML 1.0 parser reads it: line ends become `\n`, and
 * characters that XML cannot hold make it malformed.
 */
export function readXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are the point.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|<!DOCTYPE/i.test(text)) {
    throw refusal(
      400,
      'MalformedXML',
      'document: holds characters or declarations that it may not',
    );
  }
  return text.replace(/\r\n?/g, '\n');
}

/** Inner text of every element of that name, unescaped only by `elementText`. Elements do not nest. */
export function elements(xml: string, name: string): string[] {
  const pattern = new RegExp(`<${name}(?:\\s[^>]*)?(?:/>|>([\\s\\S]*?)</${name}\\s*>)`, 'g');
  return Array.from(xml.matchAll(pattern), (match) => match[1] ?? '');
}

/** Unescaped text of the first element of that name. */
export function elementText(xml: string, name: string): string | undefined {
  const [inner] = elements(xml, name);
  return inner?.replace(/&(#x[0-9a-fA-F]+|#[0-9]+|\w+);/g, (_, entity: string) =>
    unescapeEntity(entity),
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function unescapeEntity(entity: string): string {
  const named = ENTITIES[entity];
  if (named !== undefined) return named;
  const codePoint = entity.startsWith('#x')
    ? Number.parseInt(entity.slice(2), 16)
    : Number.parseInt(entity.slice(1), 10);
  if (codePoint <= 0x10ffff) return String.fromCodePoint(codePoint);
  throw refusal(400, 'MalformedXML', `document: unknown entity ${entity}`);
}
