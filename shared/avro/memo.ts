/** What was made of the texts seen last, for work that only depends on the text. */
export type Memo<Value> = (text: string, make: () => Value) => Value;

/** A table's files share a few schemas. */
const VALUES_MAX = 16;

/** Longer texts are not kept: 512 KiB at most, whatever the input. */
const TEXT_LENGTH_MAX = 32 * 1024;

/** A memo of the last few values; the one that came in first goes first. */
export function createMemo<Value>(): Memo<Value> {
  const values = new Map<string, Value>();
  return (text, make) => {
    const known = values.get(text);
    if (known !== undefined) return known;
    const value = make();
    if (text.length > TEXT_LENGTH_MAX) return value;
    values.set(text, value);
    const [oldest] = values.keys();
    if (values.size > VALUES_MAX && oldest !== undefined) values.delete(oldest);
    return value;
  };
}
