import { assert, IcebergError } from '../base/index.ts';
import type { DataFile } from '../iceberg/index.ts';
import {
  ColumnChunkEncoder,
  canDecompress,
  chunkSubject,
  needsRecode,
  type SchemaLeaf,
} from '../parquet/index.ts';
import { RoaringBitmap } from '../roaring/index.ts';
import { copiedChunkFacts, encodedChunkFacts } from './chunk-facts.ts';
import { type ColumnFacts, type MetricsColumn, metricsColumns } from './column-metrics.ts';
import { type EncodeOptionsOf, encodeOptionsFor } from './encode-options.ts';
import { leafBatches } from './leaf-batches.ts';
import type { LeafSource } from './match-file.ts';
import { type OpenedInput, openInput } from './open-input.ts';
import { type OutputContext, OutputFile } from './output-file.ts';
import { type Piece, piecesOf } from './pieces.ts';
import { PositionMap } from './position-map.ts';
import type { KeptRange } from './position-map-parts.ts';
import { PurgedCounts } from './purged-counts.ts';
import { RowFilter } from './row-filter.ts';
import { addRowIds, NO_ROW_IDS, type RowIdTally, tallyRowIds } from './row-ids.ts';
import { hasLineage, openInputOptions, type TableOfFiles, targetOf } from './table-of-files.ts';
import type {
  ColumnChunkCounts,
  FileGroupInput,
  FileGroupOutput,
  FileGroupResult,
  RewriteFileGroupOptions,
} from './types.ts';

/** Inputs opened while another is rewritten, to hide the wait for their first bytes: fewer where they are large. */
const INPUTS_AHEAD = 16;

/** What inputs hold that are opened ahead; see `readAhead` for how much each does. */
const BYTES_AHEAD = 32 * 1024 ** 2;
const INPUT_BYTES_MAX = 8 * 1024 ** 2;

/**
 * Rewrites data files into few: every row group is kept, its column chunks copied as they are where the
 * table's schema allows, decoded and encoded anew where it does not, and written anew for columns that the file
 * lacks. A row group larger than an output is split by rows. Rows keep their order. Row groups with purged rows are
 * encoded anew without them, or left out; where no row is left there is no output.
 *
 * Reads every input once, one after another. Memory: some 32 MiB of inputs opened ahead, a batch of pages, and
 * the encoded pages of one column chunk at a time.
 *
 * When it throws, the output under way was given up; those already closed are the caller's to dispose of.
 *
 * @throws unsupported — with file, column and reason, when an input cannot be rewritten under the schema
 * @throws invalid-data — when an input is broken, differs from its manifest entry, has fewer rows than a deleted
 *   position says, or holds a null in a required column
 * @throws invalid-config — when a table property is malformed
 */
export async function rewriteFileGroup(options: RewriteFileGroupOptions): Promise<FileGroupResult> {
  assert(options.inputs.length > 0, 'datafile: a file group without files');
  const rewrite = new FileGroupRewrite(options);
  try {
    for await (const input of openedInputs(options)) await rewrite.addInput(input);
    return await rewrite.finish();
  } catch (error) {
    await rewrite.abort();
    throw error;
  }
}

/** Inputs in order, the next few being opened meanwhile. */
async function* openedInputs(
  options: RewriteFileGroupOptions,
): AsyncGenerator<OpenedInput, void, undefined> {
  const { inputs } = options;
  const openOptions = openInputOptions(tableOfFiles(options));
  const opening: Promise<OpenedInput>[] = [];
  let openedCount = 0;
  let bytesAhead = 0;
  for (const input of inputs) {
    while (openedCount < inputs.length) {
      const next = inputs[openedCount]!;
      const isRoom = opening.length <= INPUTS_AHEAD && bytesAhead + heldBytes(next) <= BYTES_AHEAD;
      if (opening.length > 0 && !isRoom) break;
      const opened = openInput(next, openedCount++, openOptions);
      // A failure is reported when its turn comes, also if that is never.
      opened.catch(() => {});
      opening.push(opened);
      bytesAhead += heldBytes(next);
    }
    bytesAhead -= heldBytes(input);
    yield await opening.shift()!;
  }
}

function tableOfFiles(options: RewriteFileGroupOptions): TableOfFiles {
  return { ...options, partition: options.inputs[0]?.dataFile.partition ?? [] };
}

function heldBytes({ reader }: FileGroupInput): number {
  return Math.min(reader.fileSizeBytes, INPUT_BYTES_MAX);
}

class FileGroupRewrite {
  readonly #options: RewriteFileGroupOptions;
  readonly #context: OutputContext;
  readonly #columns: ReadonlyMap<number, MetricsColumn>;
  readonly #encodeOptionsOf: EncodeOptionsOf;
  readonly #dataFiles: DataFile[] = [];
  readonly #ranges: KeptRange[] = [];
  readonly #purgedCounts: PurgedCounts;
  #output: OutputFile | undefined;
  /** Absent in tables without row lineage. */
  #rowIds: RowIdTally | undefined;
  #counts: ColumnChunkCounts = { copiedCount: 0, copiedBytes: 0, encodedCount: 0, encodedBytes: 0 };

  constructor(options: RewriteFileGroupOptions) {
    const { schema, formatVersion, properties, metricsModes, inputs } = options;
    this.#rowIds = hasLineage(formatVersion) ? NO_ROW_IDS : undefined;
    const target = targetOf(options);
    const columns = metricsColumns(schema, target.leaves, metricsModes);
    this.#options = options;
    this.#context = { schema, target, columns, partition: inputs[0]?.dataFile.partition ?? [] };
    this.#columns = new Map(columns.map((column) => [column.columnIndex, column]));
    this.#purgedCounts = new PurgedCounts(columns);
    this.#encodeOptionsOf = encodeOptionsFor(schema, properties);
  }

  async addInput(input: OpenedInput): Promise<void> {
    await this.#tallyRowIds(input);
    const purged = purgedOf(this.#options.inputs[input.inputIndex]);
    for (const [rowGroupIndex, rowGroup] of input.file.rowGroups.entries()) {
      const { firstRowIndex, rowCount } = rowGroup;
      const purgedHere = purged.slice(firstRowIndex, firstRowIndex + rowCount);
      const source = { input, rowGroup, rowGroupIndex, purged: purgedHere };
      const pieces = piecesOf(source, this.#options.outputSizeBytes);
      if (pieces.length === 0) this.#purgedCounts.addRowGroup(source);
      for (const piece of pieces) {
        await this.#writePiece(await this.#outputFor(piece.sizeBytes), piece);
        this.#addRange(input.inputIndex, piece.keptCount);
      }
    }
  }

  async finish(): Promise<FileGroupResult> {
    await this.#closeOutput();
    const positionMap = PositionMap.of({
      inputs: this.#options.inputs.map((input) => ({
        rowCount: input.dataFile.recordCount,
        gone: purgedOf(input),
      })),
      outputRowCounts: this.#dataFiles.map(({ recordCount }) => recordCount),
      rows: { kind: 'ranges', ranges: this.#ranges },
    });
    return {
      outputs: outputsOf(this.#dataFiles, this.#options.inputs, positionMap),
      positionMap,
      columnChunks: this.#counts,
      ...(positionMap.goneCount === 0 ? {} : { purgedColumnCounts: this.#purgedCounts.result() }),
      ...(this.#rowIds === undefined ? {} : { inputRowIds: this.#rowIds }),
    };
  }

  async abort(): Promise<void> {
    await this.#output?.abort();
  }

  async #tallyRowIds(opened: OpenedInput): Promise<void> {
    if (this.#rowIds === undefined) return;
    const { dataFile, deletes } = opened.input;
    const { firstRowId } = dataFile;
    const tally = await tallyRowIds({
      ...opened,
      ...(firstRowId === undefined ? {} : { firstRowId }),
      ...(deletes && { deletedPositions: deletes.positions }),
    });
    this.#rowIds = addRowIds(this.#rowIds, tally);
  }

  #addRange(inputIndex: number, rowCount: number): void {
    const last = this.#ranges.at(-1);
    if (last?.inputIndex === inputIndex) {
      this.#ranges[this.#ranges.length - 1] = { ...last, rowCount: last.rowCount + rowCount };
    } else this.#ranges.push({ inputIndex, firstKept: 0, rowCount });
  }

  /** The output under way, or the next one when the row group would take it beyond its size. */
  async #outputFor(rowGroupSizeBytes: number): Promise<OutputFile> {
    const isFull =
      this.#output !== undefined &&
      this.#output.writer.offset + rowGroupSizeBytes > this.#options.outputSizeBytes;
    if (isFull) await this.#closeOutput();
    this.#output ??= new OutputFile(await this.#options.openOutput(), this.#context);
    return this.#output;
  }

  async #closeOutput(): Promise<void> {
    if (this.#output === undefined) return;
    this.#dataFiles.push(await this.#output.close());
    this.#output = undefined;
  }

  async #writePiece(output: OutputFile, piece: Piece): Promise<void> {
    const facts = new Map<number, ColumnFacts>();
    for (const leaf of this.#context.target.leaves) {
      const column = this.#columns.get(leaf.columnIndex);
      const found = await this.#writeChunk(output, piece, leaf, column);
      if (column !== undefined && found !== undefined) facts.set(column.fieldId, found);
    }
    await output.finishRowGroup(piece.input, piece.keptCount, facts);
  }

  async #writeChunk(
    output: OutputFile,
    piece: Piece,
    leaf: SchemaLeaf,
    column: MetricsColumn | undefined,
  ): Promise<ColumnFacts | undefined> {
    const source = piece.input.sources[leaf.columnIndex];
    assert(source !== undefined, `datafile: no source for column ${leaf.columnIndex}`);
    const copied = copiedLeaf(source, piece);
    if (copied !== undefined) return this.#copyChunk(output, piece, copied, column);
    return this.#encodeChunk(output, piece, { source, leaf, column });
  }

  async #copyChunk(
    output: OutputFile,
    { input, rowGroup, rowGroupIndex }: Piece,
    { columnIndex }: SchemaLeaf,
    column: MetricsColumn | undefined,
  ): Promise<ColumnFacts | undefined> {
    const { reader, file } = input;
    const source = { reader, file, rowGroupIndex, columnIndex };
    const { sizeBytes } = await output.writer.copyColumnChunk(source);
    const { copiedCount, copiedBytes } = this.#counts;
    this.#counts = {
      ...this.#counts,
      copiedCount: copiedCount + 1,
      copiedBytes: copiedBytes + sizeBytes,
    };
    const chunk = rowGroup.chunks[columnIndex];
    return column && chunk && copiedChunkFacts(file, chunk, column.type);
  }

  async #encodeChunk(
    output: OutputFile,
    piece: Piece,
    target: {
      readonly source: LeafSource;
      readonly leaf: SchemaLeaf;
      readonly column: MetricsColumn | undefined;
    },
  ): Promise<ColumnFacts | undefined> {
    const { source, leaf, column } = target;
    const { input, rowGroup, rowGroupIndex, rows, purged } = piece;
    requireDecodable(source, piece);
    const { firstRowId } = input.input.dataFile;
    const batches = leafBatches(source, {
      reader: input.reader,
      file: input.file,
      rowGroup,
      rowGroupIndex,
      rows,
      target: leaf,
      lineage: {
        dataSequenceNumber: input.input.dataSequenceNumber,
        ...(firstRowId === undefined ? {} : { firstRowId }),
      },
    });
    const subject = chunkSubject(input.file.location, rowGroupIndex, leaf);
    const encoder = new ColumnChunkEncoder(leaf, this.#encodeOptionsOf(leaf), subject);
    const filter = purged.isEmpty ? undefined : new RowFilter(leaf, purged, piece.firstPosition);
    for await (const batch of batches) {
      const kept = filter === undefined ? batch : filter.keep(batch);
      if (kept.valueCount > 0) encoder.add(kept);
    }
    if (filter !== undefined && column !== undefined) {
      const { droppedValueCount: valueCount, droppedNullCount: nullCount } = filter;
      this.#purgedCounts.add(column.fieldId, { valueCount, nullCount });
    }
    const { sizeBytes } = await output.writer.addEncodedChunk(encoder.finish());
    const { encodedCount, encodedBytes } = this.#counts;
    this.#counts = {
      ...this.#counts,
      encodedCount: encodedCount + 1,
      encodedBytes: encodedBytes + sizeBytes,
    };
    return column && encodedChunkFacts(encoder.facts, column.type);
  }
}

function purgedOf(input: FileGroupInput | undefined): RoaringBitmap {
  const deletes = input?.deletes;
  return deletes?.treatment === 'purge' ? deletes.positions : RoaringBitmap.EMPTY;
}

/** Each with the places of deleted rows that it took along. */
function outputsOf(
  dataFiles: readonly DataFile[],
  inputs: readonly FileGroupInput[],
  positionMap: PositionMap,
): readonly FileGroupOutput[] {
  const carried = inputs.flatMap(({ deletes }, inputIndex) =>
    deletes?.treatment === 'carry'
      ? [positionMap.translate(inputIndex, deletes.positions).outputs]
      : [],
  );
  return dataFiles.map((dataFile, index) => ({
    dataFile,
    deletedPositions: RoaringBitmap.unionOf(carried.map((outputs) => outputs[index]!)),
  }));
}

/** The column of the file whose chunk is taken as it is; `undefined` where it must be encoded anew. */
function copiedLeaf(
  source: LeafSource,
  { input, rowGroup, isWhole }: Piece,
): SchemaLeaf | undefined {
  if (source.kind !== 'copy' || !isWhole) return undefined;
  const encodings = rowGroup.chunks[source.leaf.columnIndex]?.metaData.encodings ?? [];
  return needsRecode(input.file.metadata.createdBy, encodings) ? undefined : source.leaf;
}

/** Named here, before the pages are reached, so that the reason names the column. */
function requireDecodable(source: LeafSource, { input, rowGroup, rowGroupIndex }: Piece): void {
  const leaf = source.kind === 'fill' ? source.shape?.leaf : source.leaf;
  const codec = leaf && rowGroup.chunks[leaf.columnIndex]?.metaData.codec;
  if (leaf === undefined || codec === undefined || canDecompress(codec)) return;
  throw new IcebergError(
    'unsupported',
    `${chunkSubject(input.file.location, rowGroupIndex, leaf)}: codec ${codec} cannot be read`,
  );
}
