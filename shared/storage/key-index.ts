/**
 * Compares two well-formed strings by their UTF-8 bytes, the order in which S3 lists keys. It differs from
 * `<` only where a surrogate meets a unit above the surrogates.
 */
export function compareUtf8(left: string, right: string): number {
  const lengthMin = Math.min(left.length, right.length);
  for (let index = 0; index < lengthMin; index++) {
    const leftUnit = left.charCodeAt(index);
    const rightUnit = right.charCodeAt(index);
    if (leftUnit !== rightUnit) return utf8Rank(leftUnit) - utf8Rank(rightUnit);
  }
  return left.length - right.length;
}

/** Moves surrogates, which stand for U+10000 and above, behind all other units. */
function utf8Rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Index of the first of `sortedKeys` (in UTF-8 order) that is not below `key`. */
export function lowerBound(sortedKeys: readonly string[], key: string): number {
  let low = 0;
  let high = sortedKeys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(sortedKeys[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A map whose keys can be walked in UTF-8 order; they are sorted when first asked for after a change. */
export class KeyIndex<Value> {
  readonly #values = new Map<string, Value>();
  #sortedKeys: readonly string[] | undefined;

  get keyCount(): number {
    return this.#values.size;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    if (!this.#values.has(key)) this.#sortedKeys = undefined;
    this.#values.set(key, value);
  }

  delete(key: string): boolean {
    const wasThere = this.#values.delete(key);
    if (wasThere) this.#sortedKeys = undefined;
    return wasThere;
  }

  /** All keys in UTF-8 order; a later change does not reach the array. */
  sortedKeys(): readonly string[] {
    this.#sortedKeys ??= [...this.#values.keys()].sort(compareUtf8);
    return this.#sortedKeys;
  }

  /** Up to `countMax` keys in order that start with `prefix` and come after `keyAfter`. */
  page(prefix: string, keyAfter: string | undefined, countMax: number): readonly string[] {
    const keys = this.sortedKeys();
    let start = lowerBound(keys, prefix);
    if (keyAfter !== undefined) {
      const after = lowerBound(keys, keyAfter);
      start = Math.max(start, keys[after] === keyAfter ? after + 1 : after);
    }
    let end = start;
    while (end < keys.length && end - start < countMax && keys[end]!.startsWith(prefix)) end++;
    return keys.slice(start, end);
  }
}
