import { IcebergError } from '../../base/index.ts';
import { ByteReader, ByteWriter, crc32, encodeUtf8, equalBytes } from '../../bytes/index.ts';
import { compress, decompressUpTo } from '../../compress/index.ts';
import type { ManifestTally } from './manifest-tally.ts';
import type { PlanState } from './plan-state.ts';

/*
 * offset  width  what
 *      0      4  magic FRNP
 *      4      2  version, little-endian
 *      6      4  CRC-32 of what follows, little-endian
 *     10         body, zstd: texts are a length and UTF-8, lengths and counts unsigned LEB128, hashes 4 bytes little-endian
 */
const MAGIC = encodeUtf8('FRNP');
const HEADER_BYTES = 10;

/** Grows with every change of the layout, and of what is selected or grouped by the same options: no plan goes on from another version's. */
const VERSION = 1;

/** What is remembered at most: about four million partitions in manifests. More is planned as a whole each time. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

const IS_DELETES = 1;
const HAS_GLOBAL_DELETES = 2;

/** The state as bytes, or nothing where it would be too large. */
export function serializePlanState(state: PlanState): Uint8Array | undefined {
  const writer = new ByteWriter();
  for (const text of [state.tableUuid, state.branch, state.optionsText]) writeText(writer, text);
  writer.i64le(state.snapshotId);
  writeCount(writer, state.fullAtMs);
  writeHashes(writer, state.duePartitions);
  writeCount(writer, state.manifests.length);
  for (const tally of state.manifests) {
    writeTally(writer, tally);
    if (writer.lengthBytes > BODY_BYTES_MAX) return undefined;
  }
  const body = compress('zstd', writer.finish(), 1);
  const file = new ByteWriter(HEADER_BYTES + body.length);
  file.bytes(MAGIC);
  file.u16le(VERSION);
  file.u32le(crc32(body));
  file.bytes(body);
  return file.finish();
}

/**
 * @throws unsupported — for another version
 * @throws invalid-data — for anything else that is no state
 */
export function parsePlanState(bytes: Uint8Array, subject: string): PlanState {
  const file = new ByteReader(bytes, subject);
  if (!equalBytes(file.bytes(MAGIC.length), MAGIC)) throw file.invalid('is no plan state');
  const version = file.u16le();
  if (version !== VERSION) {
    throw new IcebergError('unsupported', `${subject}: version is ${version}, not ${VERSION}`);
  }
  const expected = file.u32le();
  const stored = file.bytes(file.remainingBytes);
  const actual = crc32(stored);
  if (actual !== expected) {
    throw new IcebergError('invalid-data', `${subject}: checksum is ${actual}, not ${expected}`);
  }
  const reader = new ByteReader(decompressUpTo('zstd', stored, BODY_BYTES_MAX, subject), subject);
  const [tableUuid, branch, optionsText] = [readText(reader), readText(reader), readText(reader)];
  const snapshotId = reader.i64le();
  const fullAtMs = readCount(reader);
  const duePartitions = readHashes(reader);
  const manifests: ManifestTally[] = [];
  for (let count = readCount(reader); count > 0; count--) manifests.push(readTally(reader));
  reader.requireEnd();
  return { tableUuid, branch, optionsText, snapshotId, fullAtMs, duePartitions, manifests };
}

function writeTally(writer: ByteWriter, tally: ManifestTally): void {
  writeText(writer, tally.manifestPath);
  writer.u8(
    (tally.content === 'deletes' ? IS_DELETES : 0) |
      (tally.hasGlobalDeletes ? HAS_GLOBAL_DELETES : 0),
  );
  const { fileCount, bytes, rowGroupCount, recordCount } = tally;
  for (const count of [fileCount, bytes, rowGroupCount, recordCount]) writeCount(writer, count);
  writeHashes(writer, tally.markedPartitions);
  writeHashes(writer, tally.otherPartitions);
}

function readTally(reader: ByteReader): ManifestTally {
  const manifestPath = readText(reader);
  const flags = reader.u8();
  if ((flags & ~(IS_DELETES | HAS_GLOBAL_DELETES)) !== 0) throw reader.invalid(`flags ${flags}`);
  return {
    manifestPath,
    content: (flags & IS_DELETES) === 0 ? 'data' : 'deletes',
    hasGlobalDeletes: (flags & HAS_GLOBAL_DELETES) !== 0,
    fileCount: readCount(reader),
    bytes: readCount(reader),
    rowGroupCount: readCount(reader),
    recordCount: readCount(reader),
    markedPartitions: readHashes(reader),
    otherPartitions: readHashes(reader),
  };
}

function writeText(writer: ByteWriter, text: string): void {
  const bytes = encodeUtf8(text);
  writer.varint32(bytes.length);
  writer.bytes(bytes);
}

function readText(reader: ByteReader): string {
  return reader.utf8(reader.varint32());
}

function writeCount(writer: ByteWriter, count: number): void {
  writer.varint64(BigInt(count));
}

function readCount(reader: ByteReader): number {
  const value = reader.varint64();
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw reader.invalid(`count ${value}`);
  return Number(value);
}

function writeHashes(writer: ByteWriter, hashes: Uint32Array): void {
  writer.varint32(hashes.length);
  for (const hash of hashes) writer.u32le(hash);
}

function readHashes(reader: ByteReader): Uint32Array {
  const count = reader.varint32();
  if (count * Uint32Array.BYTES_PER_ELEMENT > reader.remainingBytes) {
    throw reader.invalid(`${count} hashes in ${reader.remainingBytes} bytes`);
  }
  const hashes = new Uint32Array(count);
  for (let index = 0; index < count; index++) hashes[index] = reader.u32le();
  return hashes;
}
