import { gunzipSync, gzipSync } from 'node:zlib';
import {
  isJsonObject,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  parseJson,
  serializeJson,
} from '../../shared/base/index.ts';
import { chanceOf } from './chance.ts';
import { type HostileCase, objectCase } from './hostile-case.ts';

type Path = readonly string[];

const NUMBERS: readonly JsonValue[] = [
  ...[
    -1,
    0,
    1,
    2,
    3,
    4,
    1000,
    2 ** 31 - 1,
    2 ** 31,
    -(2 ** 31),
    2 ** 53,
    2n ** 63n - 1n,
    2n ** 63n,
  ],
  ...[2n ** 64n, -(2n ** 63n), 1.5, new JsonNumber('1e400'), new JsonNumber('-0'), '7', 'NaN'],
];
const STRINGS: readonly JsonValue[] = [
  ...[
    '',
    '..',
    '../../other',
    's3://bucket/../secret',
    's3://elsewhere/a/b',
    's3://',
    'file:///etc',
  ],
  ...[
    's3://bucket',
    '/',
    ' ',
    'null',
    'true',
    '\u0000',
    '\ud800',
    'é'.repeat(500),
    'x'.repeat(2 ** 20),
  ],
  ...['__proto__', 'struct', 'list<int>', 'decimal(39,0)', 'fixed[2147483647]', 'bucket[0]'],
];
const OTHERS: readonly JsonValue[] = [null, true, false, [], {}, [[]], [null], { type: 'struct' }];

/** For each value of a metadata document: another in its place, of a hostile kind that the seed chooses. */
export function* changedValues(
  location: string,
  bytes: Uint8Array,
  { seed, stride }: { readonly seed: number; readonly stride: number },
): Generator<HostileCase> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = new TextDecoder().decode(isGzip ? gunzipSync(bytes) : bytes);
  const json = parseJson(text, location);
  const paths = [...pathsOf(json)];
  for (let index = seed % stride; index < paths.length; index += stride) {
    const path = paths[index]!;
    const { changed, what } = changeValue(json, path, seed * paths.length + index);
    const encoded = new TextEncoder().encode(serializeJson(changed));
    yield objectCase(location, isGzip ? gzipSync(encoded) : encoded, `/${path.join('/')} ${what}`);
  }
}

function* pathsOf(value: JsonValue, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (!Array.isArray(value) && !isJsonObject(value)) return;
  for (const [key, child] of Object.entries(value)) yield* pathsOf(child, [...path, key]);
}

function changeValue(
  json: JsonValue,
  path: Path,
  caseNumber: number,
): { readonly changed: JsonValue; readonly what: string } {
  const chance = chanceOf(caseNumber, path.length);
  const before = valueAt(json, path);
  if (chance.below(6) === 0) return { changed: replaceAt(json, path, undefined), what: 'left out' };
  const likely = typeof before === 'string' ? STRINGS : NUMBERS;
  const isLeaf = typeof before === 'string' || typeof before === 'number';
  const by = chance.pick(isLeaf && chance.below(5) > 0 ? likely : OTHERS);
  return {
    changed: replaceAt(json, path, by),
    what: `becomes ${serializeJson(by).slice(0, 60)}`,
  };
}

function valueAt(json: JsonValue, path: Path): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (value, key) => (value as JsonObject | undefined)?.[key],
    json,
  );
}

/** A copy with the value at the path replaced, or taken out where that is undefined. */
function replaceAt(value: JsonValue, [key, ...rest]: Path, by: JsonValue | undefined): JsonValue {
  if (key === undefined) return by ?? null;
  const child = (value as JsonObject)[key] ?? null;
  const changed = rest.length === 0 ? by : replaceAt(child, rest, by);
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) =>
      String(index) !== key ? [item] : changed === undefined ? [] : [changed],
    );
  }
  const entries = Object.entries(value as JsonObject).flatMap(([name, item]) =>
    name !== key
      ? [[name, item] as const]
      : changed === undefined
        ? []
        : [[name, changed] as const],
  );
  return Object.fromEntries(entries);
}
