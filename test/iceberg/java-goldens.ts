import { readdirSync, readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, parseJson } from '../../shared/base/index.ts';
import { fromHex } from '../../shared/bytes/index.ts';
import {
  isPrimitiveType,
  type PrimitiveType,
  parseType,
  type SingleValue,
} from '../../shared/iceberg/index.ts';

const FIXTURES = new URL('../fixtures/iceberg-java/', import.meta.url);

/** A JSON file of golden values made by Iceberg Java. */
export function goldenJson(name: string): unknown {
  return parseJson(readFileSync(new URL(name, FIXTURES), 'utf8'), name);
}

export interface GoldenMetadata {
  readonly table: string;
  readonly location: string;
  readonly bytes: Uint8Array;
  /** Members that Java derived from the file. */
  readonly facts: JsonObject;
  /** Java's own serialization of what it parsed. */
  readonly json: JsonObject;
}

/** The metadata files of the golden tables. */
export function goldenMetadata(): readonly GoldenMetadata[] {
  const tables = readdirSync(new URL('tables/', FIXTURES)).sort();
  return tables.flatMap((table) => {
    const folder = new URL(`tables/${table}/metadata/`, FIXTURES);
    const names = readdirSync(folder).filter((name) => name.endsWith('.metadata.json'));
    return names.map((name) => {
      const decoded = goldenJson(`tables/${table}/metadata/${name}.decoded.json`);
      const { facts, json } = decoded as { facts: JsonObject; json: JsonObject };
      const location = `s3://warehouse/golden/${table}/metadata/${name}`;
      return { table, location, bytes: readFileSync(new URL(name, folder)), facts, json };
    });
  });
}

export function primitiveOf(text: string): PrimitiveType {
  const type = parseType(text, 'golden');
  if (!isPrimitiveType(type)) throw new TypeError(`${text} is not primitive`);
  return type;
}

/** The value that a golden file gives as text: numbers plain, decimals with their point, bytes in hex. */
export function goldenValue(type: PrimitiveType, plain: unknown): SingleValue | null {
  if (plain === null || typeof plain === 'boolean') return plain;
  const text = String(plain);
  switch (type.kind) {
    case 'int':
    case 'date':
    case 'float':
    case 'double':
      return Number(text);
    case 'string':
      return text;
    case 'uuid':
      return fromHex(text.replaceAll('-', ''));
    case 'fixed':
    case 'binary':
      return fromHex(text);
    case 'decimal':
      return BigInt(text.replace('.', ''));
    default:
      return BigInt(text);
  }
}

/** A metadata document of format version 2 with one column, no snapshots, and the given keys. */
export function minimalMetadata(keys: JsonObject = {}): JsonObject {
  const schema = { type: 'struct', 'schema-id': 0, fields: [] };
  const minimal = {
    'format-version': 2,
    'table-uuid': '9c12d441-03fe-4693-9a96-a0705ddf69c1',
    location: 's3://bucket/wh/db.db/tbl',
    'last-sequence-number': 0,
    'last-updated-ms': 1_700_000_000_000,
    'last-column-id': 0,
    'current-schema-id': 0,
    schemas: [schema],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    ...keys,
  };
  return isJsonObject(minimal) ? minimal : {};
}
