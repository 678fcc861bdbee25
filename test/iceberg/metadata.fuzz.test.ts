import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  isIcebergError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  serializeJson,
} from '../../shared/base/index.ts';
import { decodeUtf8, encodeUtf8 } from '../../shared/bytes/index.ts';
import {
  currentSchema,
  isEncrypted,
  metricsModes,
  parseTableMetadata,
  serializeTableMetadata,
  sortOrderById,
  tablePartitionType,
  unknownFirnProperties,
} from '../../shared/iceberg/index.ts';
import { goldenMetadata } from './java-goldens.ts';

const SEED = 20260903;
const GOLDENS = goldenMetadata().filter(({ table }) =>
  ['v1-evolved', 'v2-evolved', 'v3-only', 'v3-transforms'].includes(table),
);

const HOSTILE: readonly JsonValue[] = [
  ...[null, true, 0, -1, 1.5, 2 ** 31, 2n ** 63n, 2n ** 64n, '', 'int', '\ud800', '__proto__'],
  ...[[], {}, [null], [[]], { type: 'struct', fields: [{}] }, { __proto__: null, constructor: 1 }],
];

/** Parses, and where that works uses what came out; only named errors may come of either. */
function readAndUse(bytes: Uint8Array): void {
  try {
    const metadata = parseTableMetadata(bytes, 's3://b/m.metadata.json');
    serializeTableMetadata(metadata, 's3://b/n.metadata.json');
    isEncrypted(metadata);
    unknownFirnProperties(metadata.properties);
    for (const spec of metadata.partitionSpecs) tablePartitionType(metadata, spec);
    const order = sortOrderById(metadata, metadata.defaultSortOrderId);
    metricsModes(currentSchema(metadata), order, metadata.properties);
  } catch (error) {
    const kinds = ['invalid-data', 'unsupported', 'invalid-config'];
    assert.ok(isIcebergError(error) && kinds.includes(error.kind), String(error));
  }
}

/** The paths of every value in a document, leaves and branches. */
function pathsOf(value: JsonValue): readonly (readonly string[])[] {
  const below = Array.isArray(value) || isJsonObject(value) ? Object.entries(value) : [];
  return [[], ...below.flatMap(([key, child]) => pathsOf(child).map((path) => [key, ...path]))];
}

/** A copy of the document with the value at the path replaced, or taken out where that is undefined. */
function replaceAt(
  value: JsonValue,
  path: readonly string[],
  by: JsonValue | undefined,
): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined) return by ?? null;
  const child = (value as JsonObject)[key] ?? null;
  const changed = rest.length === 0 ? by : replaceAt(child, rest, by);
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) =>
      String(index) !== key ? [item] : changed === undefined ? [] : [changed],
    );
  }
  const entries = Object.entries(value as JsonObject).filter(([name]) => name !== key);
  return Object.fromEntries(changed === undefined ? entries : [...entries, [key, changed]]);
}

for (const { table, bytes } of GOLDENS) {
  const json = parseJson(decodeUtf8(bytes, table), table);
  const paths = pathsOf(json);

  test(`any value of ${table} may be missing or hostile: only named errors come of it`, () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        fc.constantFrom<JsonValue | undefined>(undefined, ...HOSTILE),
        (path, by) => readAndUse(encodeUtf8(serializeJson(replaceAt(json, path, by)))),
      ),
      { seed: SEED, numRuns: 400 },
    );
  });

  test(`bytes of ${table} may be flipped or cut: only named errors come of it`, () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.boolean(), (offset, byte, isCut) => {
        const mutated = Uint8Array.from(isCut ? bytes.subarray(0, offset) : bytes);
        if (!isCut) mutated[offset] = byte;
        readAndUse(mutated);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
}

test('nesting beyond any limit is invalid-data, not a crash', () => {
  const depth = 100_000;
  readAndUse(encodeUtf8('['.repeat(depth)));
  readAndUse(encodeUtf8(`{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`));
});
