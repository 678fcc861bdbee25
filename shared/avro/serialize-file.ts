import { createHash } from 'node:crypto';
import { type JsonValue, serializeJson } from '../base/index.ts';
import { ByteWriter, concatBytes, encodeUtf8 } from '../bytes/index.ts';
import { type AvroCodec, compressBlock } from './block-codec.ts';
import { compileEncoder } from './encode.ts';
import { BLOCK_BYTES_TARGET, CODEC_KEY, MAGIC, SCHEMA_KEY, SYNC_MARKER_BYTES } from './layout.ts';
import type { AvroValue } from './value.ts';

export interface AvroFileContent {
  /** The schema as it is to stand in the header: attributes such as `field-id` are kept. */
  readonly schema: JsonValue;
  /** Further header entries as text, written in this order after `avro.schema` and `avro.codec`. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly records: Iterable<AvroValue>;
  readonly codec: AvroCodec;
  /** For deflate and zstandard. */
  readonly compressionLevel?: number;
}

/**
 * Writes an object container file. The same content gives the same bytes: the sync marker is a digest of
 * the header.
 *
 * @param subject names the file for error messages
 * @throws invalid-data — when a record does not fit the schema
 * @throws unsupported — when the schema cannot be written
 * @see Avro specification, "Object Container Files"
 */
export function serializeAvroFile(content: AvroFileContent, subject: string): Uint8Array {
  const encoder = compileEncoder(content.schema, subject);
  const header = serializeHeader(content);
  const syncMarker = createHash('sha256').update(header).digest().subarray(0, SYNC_MARKER_BYTES);
  const file = new ByteWriter(BLOCK_BYTES_TARGET);
  file.bytes(header);
  file.bytes(syncMarker);
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const flush = (): void => {
    if (pending.length === 0) return;
    const { codec, compressionLevel } = content;
    const stored = compressBlock(codec, concatBytes(pending), compressionLevel);
    file.zigzag64(BigInt(pending.length));
    file.zigzag64(BigInt(stored.length));
    file.bytes(stored);
    file.bytes(syncMarker);
    pending = [];
    pendingBytes = 0;
  };
  for (const record of content.records) {
    const bytes = encoder.encode(record);
    pending.push(bytes);
    pendingBytes += bytes.length;
    if (pendingBytes >= BLOCK_BYTES_TARGET) flush();
  }
  flush();
  return file.finish();
}

function serializeHeader({ schema, metadata, codec }: AvroFileContent): Uint8Array {
  const entries = [
    [SCHEMA_KEY, serializeJson(schema)],
    [CODEC_KEY, codec],
    ...Object.entries(metadata),
  ] as const;
  const header = new ByteWriter();
  header.bytes(MAGIC);
  header.zigzag64(BigInt(entries.length));
  for (const [key, value] of entries) {
    writeText(header, key);
    writeText(header, value);
  }
  header.zigzag64(0n);
  return header.finish();
}

function writeText(writer: ByteWriter, text: string): void {
  const bytes = encodeUtf8(text);
  writer.zigzag64(BigInt(bytes.length));
  writer.bytes(bytes);
}
