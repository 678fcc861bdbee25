import { inflateRawSync, zstdDecompressSync } from 'node:zlib';
import avro from 'avsc';
import { uncompressSync } from 'snappy';

export type AvroRecord = Readonly<Record<string, unknown>>;

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

/** A registry would miss longs with attributes, such as timestamps. */
function longHook(schema: unknown): avro.Type | undefined {
  const kind =
    typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : schema;
  return kind === 'long' ? longAsBigInt : undefined;
}

/** All records of an Avro container file, by avsc's own block decoder; longs are bigints. */
export function readAvroSlowly(bytes: Uint8Array): Promise<AvroRecord[]> {
  return new Promise((resolve, reject) => {
    const records: AvroRecord[] = [];
    const decoder = new avro.streams.BlockDecoder({
      parseHook: (schema) => avro.Type.forSchema(schema, { typeHook: longHook, wrapUnions: false }),
      codecs: {
        null: (data: Buffer, callback: Callback) => callback(null, data),
        deflate: (data: Buffer, callback: Callback) => callback(null, inflateRawSync(data)),
        zstandard: (data: Buffer, callback: Callback) => callback(null, zstdDecompressSync(data)),
        snappy: (data: Buffer, callback: Callback) =>
          callback(null, uncompressSync(data.subarray(0, -4), { asBuffer: true }) as Buffer),
      },
    });
    decoder.on('data', (record: AvroRecord) => records.push(record));
    decoder.on('error', reject);
    decoder.on('end', () => resolve(records));
    decoder.end(Buffer.from(bytes));
  });
}

type Callback = (error: Error | null, data?: Buffer) => void;
