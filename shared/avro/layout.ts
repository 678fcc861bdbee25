/**
 * The object container file. Integers are zigzag varints ("long" below).
 *
 *     offset  width      meaning
 *     0       4          magic: "Obj" and 0x01
 *     4       varies     metadata: a map in blocks of (count, entries); a negative count is followed by the
 *                        block's size in bytes; a count of 0 ends the map. Entry: key (string), value (bytes)
 *     …       16         sync marker
 *     then, for each block until the file ends:
 *     …       long       count of records
 *     …       long       size in bytes of the records as stored (compressed)
 *     …       varies     the records, compressed by `avro.codec`
 *     …       16         the sync marker again
 *
 * @see Avro specification, "Object Container Files"
 */
export const MAGIC = Uint8Array.of(0x4f, 0x62, 0x6a, 0x01);

export const SYNC_MARKER_BYTES = 16;

export const SCHEMA_KEY = 'avro.schema';
export const CODEC_KEY = 'avro.codec';

/** The snappy codec puts the CRC-32 of the uncompressed block, big-endian, behind the compressed bytes. */
export const SNAPPY_CHECKSUM_BYTES = 4;

/** A manifest's header holds a handful of entries; thousands mean a hostile or broken file. */
export const METADATA_ENTRIES_MAX = 1024;

/** A schema of 100,000 columns in the header takes about 20 MB. */
export const METADATA_BYTES_MAX = 64 * 1024 * 1024;

/** Writers aim at 64 KiB to 1 MiB a block; one entry with metrics of 10,000 columns takes about 2 MB. */
export const BLOCK_BYTES_MAX = 64 * 1024 * 1024;

/** Records of a block whose schema takes no bytes at all. */
export const EMPTY_RECORDS_PER_BLOCK_MAX = 1024;

/** Array and map items in one record: seven metrics maps over 70,000 columns. Bounds memory, not bytes. */
export const ITEMS_PER_RECORD_MAX = 500_000;

/** Nesting of types in a schema. A manifest needs 8. */
export const TYPE_DEPTH_MAX = 64;

/** Types in a schema with every named reference written out: bounds the work that one record can ask for. */
export const TYPE_NODES_MAX = 200_000;

/** Records are collected to this size before a block is compressed, as the Java library does by default. */
export const BLOCK_BYTES_TARGET = 64 * 1024;
