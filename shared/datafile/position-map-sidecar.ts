import { IcebergError, toCount } from '../base/index.ts';
import { ByteReader, ByteWriter, concatBytes, crc32 } from '../bytes/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import {
  type KeptRange,
  keptCount,
  type MapParts,
  type MappedInput,
  problemOf,
} from './position-map-parts.ts';

/*
 * The sidecar, little-endian:
 *
 *   4          magic "FNPM"
 *   4          format version
 *   4          kind of rows: 0 ranges, 1 permutation
 *   4          inputs
 *   4          outputs
 *   8 each     rows of each output
 *   for each input:
 *     8        rows
 *     4        bytes that follow; 0 where no row is gone
 *     n        rows that are gone (Roaring, 64-bit portable layout)
 *   ranges:
 *     4        ranges
 *     20 each  input, 4; first kept row, 8; rows, 8
 *   permutation, for each input:
 *     4 each   place of each kept row
 *   4          CRC-32 of everything before
 */
const MAGIC = 0x4d50_4e46;
const FORMAT_VERSION = 1;
const KIND_RANGES = 0;
const KIND_PERMUTATION = 1;

const OUTPUT_BYTES = 8;
const INPUT_BYTES_MIN = 12;
const RANGE_BYTES = 20;
const PLACE_BYTES = 4;
const CRC_BYTES = 4;
const SIDECAR_BYTES_MIN = 20 + CRC_BYTES;

/** The same parts give the same bytes. */
export function serializePositionMap({ inputs, outputRowCounts, rows }: MapParts): Uint8Array {
  const writer = new ByteWriter(rows.kind === 'ranges' ? RANGE_BYTES * rows.ranges.length : 0);
  writer.u32le(MAGIC);
  writer.u32le(FORMAT_VERSION);
  writer.u32le(rows.kind === 'ranges' ? KIND_RANGES : KIND_PERMUTATION);
  writer.u32le(inputs.length);
  writer.u32le(outputRowCounts.length);
  for (const rowCount of outputRowCounts) writer.u64le(BigInt(rowCount));
  for (const { rowCount, gone } of inputs) {
    writer.u64le(BigInt(rowCount));
    const bytes = gone.isEmpty ? new Uint8Array(0) : gone.serialize();
    writer.u32le(bytes.length);
    writer.bytes(bytes);
  }
  if (rows.kind === 'ranges') writeRanges(writer, rows.ranges);
  else for (const places of rows.places) writer.bytes(bytesOfPlaces(places));
  const body = writer.finish();
  const checksum = new ByteWriter(CRC_BYTES);
  checksum.u32le(crc32(body));
  return concatBytes([body, checksum.finish()]);
}

function writeRanges(writer: ByteWriter, ranges: readonly KeptRange[]): void {
  writer.u32le(ranges.length);
  for (const { inputIndex, firstKept, rowCount } of ranges) {
    writer.u32le(inputIndex);
    writer.u64le(BigInt(firstKept));
    writer.u64le(BigInt(rowCount));
  }
}

function bytesOfPlaces(places: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(places.length * PLACE_BYTES);
  const view = new DataView(bytes.buffer);
  for (let row = 0; row < places.length; row++)
    view.setUint32(row * PLACE_BYTES, places[row]!, true);
  return bytes;
}

/**
 * @throws invalid-data — when the bytes break the layout, or are not a map
 * @throws unsupported — when they have another format version, or count beyond 2^53 - 1
 */
export function parsePositionMap(bytes: Uint8Array, subject: string): MapParts {
  requireChecksum(bytes, subject);
  const reader = new ByteReader(bytes.subarray(0, bytes.length - CRC_BYTES), subject);
  if (reader.u32le() !== MAGIC) throw reader.invalid('not a position map');
  const version = reader.u32le();
  if (version !== FORMAT_VERSION) {
    throw new IcebergError('unsupported', `${subject}: format version ${version}`);
  }
  const kind = reader.u32le();
  const inputCount = reader.u32le();
  const outputCount = reader.u32le();
  requireRoom(reader, outputCount, OUTPUT_BYTES);
  const outputRowCounts = Array.from({ length: outputCount }, () =>
    toCount(reader.u64le(), `${subject}: rows of an output`),
  );
  requireRoom(reader, inputCount, INPUT_BYTES_MIN);
  const inputs = Array.from({ length: inputCount }, () => readInput(reader, subject));
  const parts = { inputs, outputRowCounts, rows: readRows(reader, kind, { inputs, subject }) };
  reader.requireEnd();
  const problem = problemOf(parts);
  if (problem !== undefined) throw reader.invalid(problem);
  return parts;
}

function requireChecksum(bytes: Uint8Array, subject: string): void {
  if (bytes.length < SIDECAR_BYTES_MIN) {
    const problem = `${bytes.length} bytes, a position map has at least ${SIDECAR_BYTES_MIN}`;
    throw new IcebergError('invalid-data', `${subject}: ${problem}`);
  }
  const end = bytes.length - CRC_BYTES;
  const stored = new ByteReader(bytes.subarray(end), subject).u32le();
  const computed = crc32(bytes.subarray(0, end));
  if (stored === computed) return;
  throw new IcebergError('invalid-data', `${subject}: CRC-32 is ${computed}, ${stored} is stored`);
}

function readInput(reader: ByteReader, subject: string): MappedInput {
  const rowCount = toCount(reader.u64le(), `${subject}: rows of an input`);
  const goneBytes = reader.bytes(reader.u32le());
  const gone =
    goneBytes.length === 0 ? RoaringBitmap.EMPTY : RoaringBitmap.parse(goneBytes, subject);
  return { rowCount, gone };
}

function readRows(
  reader: ByteReader,
  kind: number,
  { inputs, subject }: { readonly inputs: readonly MappedInput[]; readonly subject: string },
): MapParts['rows'] {
  switch (kind) {
    case KIND_RANGES:
      return { kind: 'ranges', ranges: readRanges(reader, subject) };
    case KIND_PERMUTATION:
      return { kind: 'permutation', places: inputs.map((input) => readPlaces(reader, input)) };
    default:
      throw reader.invalid(`kind of rows ${kind}`);
  }
}

function readRanges(reader: ByteReader, subject: string): readonly KeptRange[] {
  const rangeCount = reader.u32le();
  requireRoom(reader, rangeCount, RANGE_BYTES);
  return Array.from({ length: rangeCount }, () => ({
    inputIndex: reader.u32le(),
    firstKept: toCount(reader.u64le(), `${subject}: first row of a range`),
    rowCount: toCount(reader.u64le(), `${subject}: rows of a range`),
  }));
}

function readPlaces(reader: ByteReader, input: MappedInput): Uint32Array {
  const rowCount = keptCount(input);
  requireRoom(reader, rowCount, PLACE_BYTES);
  const bytes = reader.bytes(rowCount * PLACE_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Uint32Array.from({ length: rowCount }, (_, row) =>
    view.getUint32(row * PLACE_BYTES, true),
  );
}

/** Counts are checked before anything is made of them. */
function requireRoom(reader: ByteReader, count: number, itemBytes: number): void {
  const isRoom = count >= 0 && count * itemBytes <= reader.remainingBytes;
  if (!isRoom) throw reader.invalid(`${count} items, ${reader.remainingBytes} bytes remain`);
}
