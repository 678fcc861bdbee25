import { IcebergError, type JsonValue, parseJson } from '../base/index.ts';
import { ByteReader, decodeUtf8, equalBytes } from '../bytes/index.ts';
import { type AvroCodec, decompressBlock, parseAvroCodec } from './block-codec.ts';
import { compileDecoder, type SkipField } from './decode.ts';
import {
  BLOCK_BYTES_MAX,
  CODEC_KEY,
  EMPTY_RECORDS_PER_BLOCK_MAX,
  MAGIC,
  METADATA_BYTES_MAX,
  METADATA_ENTRIES_MAX,
  SCHEMA_KEY,
  SYNC_MARKER_BYTES,
} from './layout.ts';
import { createMemo } from './memo.ts';
import { type AvroType, parseAvroType } from './schema.ts';
import { readItemBlocks, readLength } from './skip.ts';
import type { AvroValue } from './value.ts';

/** An opened container file. */
export interface AvroFile {
  /** The writer's schema as it stands in the header, with every attribute. */
  readonly schema: JsonValue;
  readonly type: AvroType;
  /** Every header entry, `avro.schema` and `avro.codec` included. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
  /**
   * Decodes the records one after the other; memory beyond the file is one uncompressed block and one record.
   *
   * @param skipField fields that are to be left out of the records
   * @throws invalid-data — when a block is corrupt, not consumed exactly, or lacks its sync marker
   * @throws unsupported — when a record is beyond the limits
   */
  records(skipField?: SkipField): Generator<AvroValue, void>;
}

/** Where parsing of the container stands. */
interface Container {
  readonly reader: ByteReader;
  readonly subject: string;
}

/** Small files cost more to parse the schema of than to read. */
const schemaMemo = createMemo<Pick<AvroFile, 'schema' | 'type'>>();

/**
 * Opens an object container file that lies in memory as a whole.
 *
 * @throws invalid-data — when it is not an Avro file or its header is corrupt
 * @throws unsupported — for codecs and schemas that Firn does not read
 * @see Avro specification, "Object Container Files"
 */
export function parseAvroFile(bytes: Uint8Array, subject: string): AvroFile {
  const container = { reader: new ByteReader(bytes, subject), subject };
  if (!equalBytes(container.reader.bytes(MAGIC.length), MAGIC)) {
    throw new IcebergError('invalid-data', `${subject}: not an avro file`);
  }
  const metadata = parseMetadata(container);
  const syncMarker = container.reader.bytes(SYNC_MARKER_BYTES);
  const blocksOffset = container.reader.offset;
  const codec = parseAvroCodec(metadataText(metadata, CODEC_KEY, subject) ?? 'null', subject);
  const schemaText = metadataText(metadata, SCHEMA_KEY, subject);
  if (schemaText === undefined) {
    throw new IcebergError('invalid-data', `${subject}: header has no ${SCHEMA_KEY}`);
  }
  const { schema, type } = schemaMemo(schemaText, () => {
    const parsed = parseJson(schemaText, `${subject}: avro schema`);
    return { schema: parsed, type: parseAvroType(parsed, subject) };
  });
  return {
    schema,
    type,
    metadata,
    *records(skipField) {
      const reader = new ByteReader(bytes, subject);
      reader.skip(blocksOffset);
      const decode = compileDecoder(type, skipField);
      while (reader.remainingBytes > 0) {
        const block = readBlock({ reader, subject }, codec, syncMarker);
        requirePossibleCount(block.recordCount, block.records.length, type, reader);
        const state = { reader: new ByteReader(block.records, subject), itemsRemaining: 0 };
        for (let index = 0; index < block.recordCount; index++) yield decode(state);
        state.reader.requireEnd();
      }
    },
  };
}

function parseMetadata({ reader, subject }: Container): Map<string, Uint8Array> {
  const metadata = new Map<string, Uint8Array>();
  const start = reader.offset;
  readItemBlocks(reader, 2, (count) => {
    if (metadata.size + count > METADATA_ENTRIES_MAX) {
      throw new IcebergError(
        'unsupported',
        `${subject}: ${count} header entries exceed the limit of ${METADATA_ENTRIES_MAX}`,
      );
    }
    for (let index = 0; index < count; index++) {
      const key = reader.utf8(readLength(reader));
      if (metadata.has(key)) throw reader.invalid('a header entry stands twice');
      metadata.set(key, reader.bytes(readLength(reader)).slice());
    }
  });
  const sizeBytes = reader.offset - start;
  if (sizeBytes > METADATA_BYTES_MAX) {
    throw new IcebergError(
      'unsupported',
      `${subject}: header of ${sizeBytes} bytes exceeds ${METADATA_BYTES_MAX}`,
    );
  }
  return metadata;
}

function metadataText(
  metadata: ReadonlyMap<string, Uint8Array>,
  key: string,
  subject: string,
): string | undefined {
  const bytes = metadata.get(key);
  return bytes === undefined ? undefined : decodeUtf8(bytes, `${subject}: ${key}`);
}

function readBlock(
  { reader, subject }: Container,
  codec: AvroCodec,
  syncMarker: Uint8Array,
): { readonly recordCount: number; readonly records: Uint8Array } {
  const recordCount = reader.zigzag64();
  const stored = reader.bytes(readLength(reader));
  if (!equalBytes(reader.bytes(SYNC_MARKER_BYTES), syncMarker)) {
    throw reader.invalid('a block does not end with the sync marker');
  }
  if (recordCount < 0n || recordCount > BigInt(BLOCK_BYTES_MAX)) {
    throw reader.invalid(`a block of ${recordCount} records`);
  }
  return { recordCount: Number(recordCount), records: decompressBlock(codec, stored, subject) };
}

/** A count that the bytes cannot hold is refused before the first record is handed out. */
function requirePossibleCount(
  recordCount: number,
  blockBytes: number,
  type: AvroType,
  reader: ByteReader,
): void {
  const countMax =
    type.bytesMin === 0 ? EMPTY_RECORDS_PER_BLOCK_MAX : Math.floor(blockBytes / type.bytesMin);
  if (recordCount > countMax) {
    throw reader.invalid(`a block of ${blockBytes} bytes claims ${recordCount} records`);
  }
}
