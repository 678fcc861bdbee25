/** Control characters, line separators, marks that turn the direction of text, and halves of characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Text that cannot move the cursor, change colours, or show its characters in another order than they are in. */
export function printable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
