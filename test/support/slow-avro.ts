import { inflateRawSync, zstdDecompressSync } from 'node:zlib';
import avro from 'avsc';
import { uncompressSync } from 'snappy';

export type AvroRecord = Readonly<Record<string, unknown>>;

export interface SlowAvroFile {
  /** Fields under the names that `fieldName` gives. */
  readonly records: readonly AvroRecord[];
  /** Of one record; encodes them too. */
  readonly type: avro.Type;
  readonly codec: string;
  /** Everything before the first block, ending with the sync marker. */
  readonly header: Uint8Array;
}

interface Header {
  readonly magic: Buffer;
  readonly meta: Readonly<Record<string, Buffer>>;
  readonly sync: Buffer;
}

const SYNC_BYTES = 16;

/** Types are costly to build; most files of a table share a schema. */
const TYPES_MAX = 64;
const types = new Map<string, avro.Type>();

const longAsBigInt = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0),
});

const HEADER = avro.Type.forSchema({
  type: 'record',
  name: 'Header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: SYNC_BYTES } },
  ],
});

/** All records of an Avro container file, each decoded by avsc; longs are bigints. */
export function readAvroSlowly(bytes: Uint8Array): SlowAvroFile {
  const buffer = Buffer.from(bytes);
  const header = HEADER.decode(buffer, 0);
  const { magic, meta, sync } = header.value as Header;
  if (magic?.toString('latin1') !== 'Obj\u0001') throw new TypeError('slow avro: no Avro file');
  const schemaText = String(meta['avro.schema']);
  const type = typeOf(schemaText);
  const codec = String(meta['avro.codec'] ?? 'null');
  const records: AvroRecord[] = [];
  for (let offset = header.offset; offset < buffer.length; ) {
    const count = decodeLong(buffer, offset);
    const size = decodeLong(buffer, count.offset);
    const end = size.offset + Number(size.value);
    if (!buffer.subarray(end, end + SYNC_BYTES).equals(sync)) {
      throw new TypeError(`slow avro: no sync marker at ${end}`);
    }
    const block = decompress(buffer.subarray(size.offset, end), codec);
    records.push(...decodeBlock(type, block, Number(count.value)));
    offset = end + SYNC_BYTES;
  }
  const headerBytes = bytes.slice(0, header.offset);
  return { records, type, codec, header: headerBytes };
}

function typeOf(schemaText: string): avro.Type {
  const known = types.get(schemaText);
  if (known !== undefined) return known;
  if (types.size >= TYPES_MAX) types.clear();
  const type = avro.Type.forSchema(withOwnNames(JSON.parse(schemaText)) as avro.Schema, {
    typeHook: longHook,
    wrapUnions: false,
  });
  types.set(schemaText, type);
  return type;
}

/** How a field of an Iceberg file is called here: by its id, whatever its name. */
export function fieldName(fieldId: number): string {
  return `f${fieldId}`;
}

interface AvroField {
  readonly type: unknown;
  readonly 'field-id'?: unknown;
}

/** The schema with fields named by their ids and types by their order: avsc takes no other names than ASCII ones. */
function withOwnNames(schema: unknown, names = new Map<unknown, string>()): unknown {
  if (typeof schema === 'string') return names.get(schema) ?? schema;
  if (Array.isArray(schema)) return schema.map((branch) => withOwnNames(branch, names));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { fields, items, values, type, name, ...others } = schema as Readonly<
    Record<string, unknown>
  >;
  const ownName = `type${names.size}`;
  if (name !== undefined) names.set(name, ownName);
  return {
    ...others,
    type: withOwnNames(type, names),
    ...(name === undefined ? {} : { name: ownName }),
    ...(items === undefined ? {} : { items: withOwnNames(items, names) }),
    ...(values === undefined ? {} : { values: withOwnNames(values, names) }),
    ...(fields === undefined ? {} : { fields: ownFields(fields as AvroField[], names) }),
  };
}

function ownFields(fields: readonly AvroField[], names: Map<unknown, string>): unknown {
  const seen = new Set<unknown>();
  return fields.map(({ type, 'field-id': fieldId }, index) => {
    const isNamed = typeof fieldId === 'number' && !seen.has(fieldId);
    seen.add(fieldId);
    const name = isNamed ? fieldName(fieldId) : `unnamed${index}`;
    return { name, type: withOwnNames(type, names) };
  });
}

/** A registry would miss longs with attributes, such as timestamps. */
function longHook(schema: unknown): avro.Type | undefined {
  const kind =
    typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : schema;
  return kind === 'long' ? longAsBigInt : undefined;
}

function decodeLong(buffer: Buffer, offset: number): { value: bigint; offset: number } {
  const decoded = longAsBigInt.decode(buffer, offset);
  if (decoded.offset < 0) throw new TypeError(`slow avro: ends within a number at ${offset}`);
  return { value: decoded.value as bigint, offset: decoded.offset };
}

function decodeBlock(type: avro.Type, block: Buffer, count: number): AvroRecord[] {
  const records: AvroRecord[] = [];
  let offset = 0;
  while (records.length < count) {
    const decoded = type.decode(block, offset);
    if (decoded.offset < 0) throw new TypeError(`slow avro: record ${records.length} is cut off`);
    records.push(decoded.value as AvroRecord);
    offset = decoded.offset;
  }
  if (offset !== block.length)
    throw new TypeError(`slow avro: ${block.length - offset} bytes left`);
  return records;
}

function decompress(data: Buffer, codec: string): Buffer {
  switch (codec) {
    case 'null':
      return data;
    case 'deflate':
      return inflateRawSync(data);
    case 'zstandard':
      return zstdDecompressSync(data);
    case 'snappy':
      return Buffer.from(uncompressSync(data.subarray(0, -4), { asBuffer: true }));
    default:
      throw new TypeError(`slow avro: codec ${codec}`);
  }
}
