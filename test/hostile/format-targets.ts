import { type ErrorKind, isIcebergError, type RangedReader } from '../../shared/base/index.ts';
import { concatBytes, crc32, encodeUtf8 } from '../../shared/bytes/index.ts';
import { parseDeletionVector } from '../../shared/iceberg/index.ts';
import { readBlob, readPuffinFooter } from '../../shared/puffin/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { lz4Frame } from '../puffin/lz4-frames.ts';
import { puffinFile } from '../puffin/puffin-files.ts';
import { bytesReader } from '../support/file-reader.ts';
import { type GoldenVector, goldenVector } from '../support/golden-vectors.ts';
import { readDeletionVectorSlowly } from '../support/slow-deletion-vector.ts';
import { changedBytes, offsetsOf, restructured } from './byte-mutations.ts';
import type { HostileCase } from './hostile-case.ts';
import type { CaseResult } from './run-case.ts';

/** A format by itself, without a table around it. */
export interface FormatTarget {
  readonly name: string;
  readonly formatCases: (seed: number) => Iterable<FormatCase>;
}

export interface FormatCase {
  /** What was changed, and how. */
  readonly label: string;
  readonly run: () => Promise<CaseResult>;
}

const LENGTH_BYTES = 4;
const CRC_BYTES = 4;

/** The bodies of arrays and bitmaps are all alike: a sample of the long ones for each seed. */
const BYTES_TAKEN_MAX = 2000;
const RESTRUCTURED_COUNT = 40;

/** Vectors of every kind of container, with few and many positions. */
const VECTOR_NAMES = [
  'every-kind',
  'runs-in-containers-of-17',
  'keys-0-and-5',
  'around-2-32',
  'empty',
];

const KINDS: readonly ErrorKind[] = ['invalid-data', 'unsupported'];

const READ: CaseResult = { outcome: 'read, equal', detail: '' };

export const FORMAT_TARGETS: readonly FormatTarget[] = [
  ...VECTOR_NAMES.flatMap((name): FormatTarget[] => [
    { name: `vector/${name}/blob`, formatCases: (seed) => changedBlobs(goldenVector(name), seed) },
    { name: `vector/${name}/sealed`, formatCases: (seed) => sealedLies(goldenVector(name), seed) },
  ]),
  { name: 'puffin/footer', formatCases: (seed) => changedFooters(seed, false) },
  { name: 'puffin/compressed-footer', formatCases: (seed) => changedFooters(seed, true) },
];

/** Whatever was changed, the envelope must notice. */
function* changedBlobs(vector: GoldenVector, seed: number): Generator<FormatCase> {
  for (const { label, bytes } of mutations(vector.name, vector.blob, seed)) {
    yield { label, run: () => judge(() => mustBeRefused(bytes, vector)) };
  }
}

/** Length and checksum fit again, so the bitmap must notice, or say what the slow reader says. */
function* sealedLies(vector: GoldenVector, seed: number): Generator<FormatCase> {
  for (const { label, bytes } of mutations(vector.name, vector.blob, seed)) {
    yield { label, run: () => judge(() => mustSayTheSame(sealed(bytes), vector)) };
  }
}

/** The footer may be refused; of what it lists, no vector may be another one than it was. */
function* changedFooters(seed: number, isCompressed: boolean): Generator<FormatCase> {
  const { bytes, footerOffset, vectors } = vectorFile(isCompressed);
  const [body, footer] = [bytes.subarray(0, footerOffset), bytes.subarray(footerOffset)];
  for (const { label, bytes: mutated } of mutations('footer', footer, seed)) {
    const reader = bytesReader(concatBytes([body, mutated]));
    yield { label, run: () => judge(() => mustListTheSame(reader, vectors)) };
  }
}

interface Mutation {
  readonly label: string;
  readonly bytes: Uint8Array;
}

function* mutations(name: string, bytes: Uint8Array, seed: number): Generator<Mutation> {
  const stride = Math.max(1, Math.ceil(bytes.length / BYTES_TAKEN_MAX));
  const offsets = offsetsOf(0, bytes.length, { seed, stride });
  const cases: HostileCase[] = [
    ...changedBytes(name, bytes, offsets, { seed }),
    ...restructured(name, bytes, { seed, count: RESTRUCTURED_COUNT }),
  ];
  for (const { label, corruption } of cases) {
    const mutated = corruption.get(name)!;
    // Parts moved within equal bytes change nothing.
    if (Buffer.compare(mutated, bytes) !== 0) yield { label, bytes: mutated };
  }
}

/** Length and checksum made to fit, where there is room for them. */
function sealed(blob: Uint8Array): Uint8Array {
  if (blob.length < LENGTH_BYTES + CRC_BYTES) return blob;
  const bytes = blob.slice();
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length - LENGTH_BYTES - CRC_BYTES);
  view.setUint32(bytes.length - CRC_BYTES, crc32(bytes.subarray(LENGTH_BYTES, -CRC_BYTES)));
  return bytes;
}

async function mustBeRefused(blob: Uint8Array, vector: GoldenVector): Promise<CaseResult> {
  const { cardinality } = parse(blob, vector.recordCount);
  return failed(`read as ${cardinality} positions`);
}

async function mustSayTheSame(blob: Uint8Array, vector: GoldenVector): Promise<CaseResult> {
  const positions = parse(blob, vector.recordCount);
  const slow = readDeletionVectorSlowly(blob);
  if (slow.size !== positions.cardinality) return failed(`the slow reader says ${slow.size}`);
  for (const position of positions.positions()) {
    if (!slow.has(position)) return failed(`the slow reader does not have ${position}`);
  }
  return READ;
}

async function mustListTheSame(
  reader: RangedReader,
  vectors: ReadonlyMap<number, GoldenVector>,
): Promise<CaseResult> {
  const { blobs } = await readPuffinFooter(reader);
  let refusal: CaseResult | undefined;
  for (const blob of blobs) {
    const result = await judge(async () => {
      const bytes = await readBlob(reader, blob);
      const positions = parse(bytes, Number(blob.properties['cardinality']));
      const wanted = vectors.get(blob.offset)?.positions ?? [];
      const isEqual = Buffer.compare(serializePositions(wanted), positions.serialize()) === 0;
      return isEqual ? READ : failed(`another vector at ${blob.offset}`);
    });
    if (result.outcome === 'FAILED') return result;
    if (result !== READ) refusal ??= result;
  }
  return refusal ?? READ;
}

function parse(blob: Uint8Array, cardinality: number): RoaringBitmap {
  return parseDeletionVector(blob, { cardinality, subject: 'vector' });
}

function serializePositions(positions: readonly number[]): Uint8Array {
  return RoaringBitmap.fromPositions(positions, 'golden').serialize();
}

/** The vectors but for the longest one after another, by where they begin, and a footer that lists them. */
function vectorFile(isCompressed: boolean): {
  readonly bytes: Uint8Array;
  readonly footerOffset: number;
  readonly vectors: ReadonlyMap<number, GoldenVector>;
} {
  const vectors = new Map<number, GoldenVector>();
  const blobs: object[] = [];
  let offset = 4;
  for (const vector of VECTOR_NAMES.slice(1).map(goldenVector)) {
    vectors.set(offset, vector);
    blobs.push({
      type: 'deletion-vector-v1',
      fields: [2_147_483_645],
      'snapshot-id': -1,
      'sequence-number': -1,
      offset,
      length: vector.blob.length,
      properties: {
        'referenced-data-file': vector.referencedDataFile,
        cardinality: String(vector.recordCount),
      },
    });
    offset += vector.blob.length;
  }
  const json = JSON.stringify({ blobs, properties: { 'created-by': 'hostile' } });
  const payload = isCompressed ? lz4Frame(encodeUtf8(json)) : json;
  const body = concatBytes([...vectors.values()].map(({ blob }) => blob));
  const bytes = puffinFile({ body, payload, flags: isCompressed ? 1 : 0 });
  return { bytes, footerOffset: offset, vectors };
}

async function judge(read: () => Promise<CaseResult>): Promise<CaseResult> {
  try {
    return await read();
  } catch (error) {
    if (isIcebergError(error) && KINDS.includes(error.kind)) {
      return { outcome: `refused: ${error.kind}`, detail: error.message };
    }
    return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

function failed(detail: string): CaseResult {
  return { outcome: 'FAILED', detail };
}
