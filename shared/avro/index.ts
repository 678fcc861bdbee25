/**
 * Avro object container files (Avro 1.11 specification): headers, blocks, codecs null, deflate, snappy and
 * zstandard. Records are encoded by avsc; decoding is our own, since avsc follows hostile counts, knows ASCII
 * names only and loses precision or speed on longs. Left out on purpose: schema resolution (readers take the
 * writer's schema as it is), recursive types, unions other than an optional type, JSON encoding, RPC.
 */
export type { AvroCodec } from './block-codec.ts';
export { type AvroFile, parseAvroFile } from './parse-file.ts';
export { type AvroField, type AvroRecordType, type AvroType, parseAvroType } from './schema.ts';
export { serializeAvroType } from './schema-json.ts';
export { serializeAvroFile } from './serialize-file.ts';
export type { AvroRecord, AvroValue } from './value.ts';
