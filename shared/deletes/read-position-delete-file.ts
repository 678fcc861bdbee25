import { IcebergError } from '../base/index.ts';
import { decodeUtf8 } from '../bytes/index.ts';
import { type ColumnsInput, openColumns, readColumns } from '../datafile/index.ts';
import { type LeafValues, type PhysicalValues, physicalValueAt } from '../parquet/index.ts';
import type { RoaringBitmap } from '../roaring/index.ts';
import { FILE_PATH_FIELD, POS_FIELD, POSITION_DELETE_MAPPING } from './layout.ts';
import { PENDING_COUNT_MAX, PositionCollector } from './position-collector.ts';

/** As far as known: null is refused when it is met, a missing column when the file is opened. */
const OPTIONAL_FIELDS = [FILE_PATH_FIELD, POS_FIELD].map((field) => ({
  ...field,
  isRequired: false,
}));

/** Paths of data files: a `Set`, or a `Map` by path. */
export interface WantedPaths {
  has(path: string): boolean;
}

/**
 * The positions that a Parquet position delete file names in some data files, by the data file's path; paths it
 * does not name are absent. Paths are compared as they stand. Only the columns `file_path` and `pos` are read;
 * memory: a few pages, 8 MiB of positions, and the bitmaps.
 *
 * @throws invalid-data — when the file is broken, differs from its manifest entry, lacks a column, or has a null or
 *   a negative position
 * @throws unsupported — for other formats, and positions beyond 2^53 - 1
 * @see Iceberg spec, "Position Delete Files"
 */
export async function readPositionDeleteFile(
  input: ColumnsInput,
  wanted: WantedPaths,
): Promise<ReadonlyMap<string, RoaringBitmap>> {
  const { filePath } = input.dataFile;
  const opened = await openColumns(input, {
    fields: OPTIONAL_FIELDS,
    formatVersion: 2,
    partitionValues: new Map(),
    nameMapping: POSITION_DELETE_MAPPING,
  });
  for (const { fieldId, name } of OPTIONAL_FIELDS) {
    if (opened.missingFieldIds.has(fieldId)) {
      throw new IcebergError('invalid-data', `${filePath}: a position delete file without ${name}`);
    }
  }
  const found = new WantedPositions(filePath, wanted);
  for await (const { columns } of readColumns(opened)) {
    const [paths, positions] = columns.map((column, index) =>
      requireNoNulls(column, `${filePath}: column ${OPTIONAL_FIELDS[index]?.name}`),
    );
    if (paths !== undefined && positions !== undefined) found.addRows(paths, positions);
  }
  return found.finish();
}

function requireNoNulls(column: LeafValues, subject: string): PhysicalValues {
  const nullCount = column.valueCount - column.values.count;
  if (nullCount === 0) return column.values;
  throw new IcebergError(
    'invalid-data',
    `${subject}: ${nullCount} of ${column.valueCount} values are null`,
  );
}

/** Gathers positions of the paths that are wanted. */
class WantedPositions {
  readonly #subject: string;
  readonly #wanted: WantedPaths;
  readonly #collectors = new Map<string, PositionCollector>();
  #pendingCount = 0;

  constructor(subject: string, wanted: WantedPaths) {
    this.#subject = subject;
    this.#wanted = wanted;
  }

  /** Files are sorted by path: a path is looked up once for each run of rows that have it. */
  addRows(paths: PhysicalValues, positions: PhysicalValues): void {
    for (let start = 0; start < paths.count; ) {
      const end = endOfRun(paths, start);
      const path = decodeUtf8(physicalValueAt(paths, start), `${this.#subject}: file_path`);
      if (this.#wanted.has(path)) {
        addPositions(this.#collectorOf(path), positions, { start, end });
        this.#flushWhenMany(end - start);
      }
      start = end;
    }
  }

  finish(): ReadonlyMap<string, RoaringBitmap> {
    const found = new Map<string, RoaringBitmap>();
    for (const [path, collector] of this.#collectors) found.set(path, collector.finish());
    return found;
  }

  #collectorOf(path: string): PositionCollector {
    const known = this.#collectors.get(path);
    if (known !== undefined) return known;
    const collector = new PositionCollector(this.#subject);
    this.#collectors.set(path, collector);
    return collector;
  }

  /** Numbers are kept for a few rows only, however many paths there are and however they are mixed. */
  #flushWhenMany(addedCount: number): void {
    this.#pendingCount += addedCount;
    if (this.#pendingCount < PENDING_COUNT_MAX) return;
    for (const collector of this.#collectors.values()) collector.flush();
    this.#pendingCount = 0;
  }
}

/** The first row from `start` on that has another value. */
function endOfRun(values: PhysicalValues, start: number): number {
  let end = start + 1;
  while (end < values.count && isSameValue(values, start, end)) end++;
  return end;
}

function isSameValue(values: PhysicalValues, one: number, other: number): boolean {
  if (values.kind === 'fixed-width') return false;
  const { heap, starts, lengths } = values;
  const lengthBytes = lengths[one]!;
  if (lengths[other] !== lengthBytes) return false;
  const oneStart = starts[one]!;
  const otherStart = starts[other]!;
  // Values of a dictionary lie at the same place. Paths differ at their ends.
  if (oneStart === otherStart) return true;
  for (let index = lengthBytes - 1; index >= 0; index--) {
    if (heap[oneStart + index] !== heap[otherStart + index]) return false;
  }
  return true;
}

function addPositions(
  collector: PositionCollector,
  positions: PhysicalValues,
  { start, end }: { readonly start: number; readonly end: number },
): void {
  if (positions.kind !== 'fixed-width') return;
  const { buffer, byteOffset, byteLength } = positions.bytes;
  const view = new DataView(buffer, byteOffset, byteLength);
  for (let index = start; index < end; index++) {
    // Exact below 2^53; what lies beyond is refused as it lies.
    const high = view.getInt32(index * 8 + 4, true);
    collector.add(high * 2 ** 32 + view.getUint32(index * 8, true));
  }
}
