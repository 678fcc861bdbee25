import { assert, IcebergError } from '../base/index.ts';
import {
  ColumnChunkEncoder,
  canDecompress,
  chunkSubject,
  needsRecode,
  type ParquetRowGroup,
  type SchemaLeaf,
} from '../parquet/index.ts';
import { copiedChunkFacts, encodedChunkFacts } from './chunk-facts.ts';
import { type ColumnFacts, type MetricsColumn, metricsColumns } from './column-metrics.ts';
import type { RowRange } from './decode-rows.ts';
import { type EncodeOptionsOf, encodeOptionsFor } from './encode-options.ts';
import { leafBatches } from './leaf-batches.ts';
import type { LeafSource } from './match-file.ts';
import { type OpenedInput, openInput } from './open-input.ts';
import { type OutputContext, OutputFile } from './output-file.ts';
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
 * lacks. A row group larger than an output is split by rows. Rows keep their order.
 *
 * Reads every input once, one after another. Memory: some 32 MiB of inputs opened ahead, a batch of pages, and
 * the encoded pages of one column chunk at a time.
 *
 * When it throws, the output under way was given up; those already closed are the caller's to dispose of.
 *
 * @throws unsupported — with file, column and reason, when an input cannot be rewritten under the schema
 * @throws invalid-data — when an input is broken, differs from its manifest entry, or holds a null in a
 *   required column
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

/** One row group of the outputs: all rows of an input's row group, or some of them. */
interface Piece {
  readonly input: OpenedInput;
  readonly rowGroup: ParquetRowGroup;
  readonly rowGroupIndex: number;
  readonly rows: RowRange;
  readonly isWhole: boolean;
}

class FileGroupRewrite {
  readonly #options: RewriteFileGroupOptions;
  readonly #context: OutputContext;
  readonly #columns: ReadonlyMap<number, MetricsColumn>;
  readonly #encodeOptionsOf: EncodeOptionsOf;
  readonly #outputs: FileGroupOutput[] = [];
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
    this.#encodeOptionsOf = encodeOptionsFor(schema, properties);
  }

  async addInput(input: OpenedInput): Promise<void> {
    if (this.#rowIds !== undefined) {
      const { firstRowId } = input.input.dataFile;
      const inherited = firstRowId === undefined ? {} : { firstRowId };
      this.#rowIds = addRowIds(this.#rowIds, await tallyRowIds({ ...input, ...inherited }));
    }
    for (const [rowGroupIndex, rowGroup] of input.file.rowGroups.entries()) {
      const sizeBytes = rowGroupBytes(rowGroup);
      for (const rows of splitRows(rowGroup.rowCount, sizeBytes, this.#options.outputSizeBytes)) {
        const isWhole = rows.rowCount === rowGroup.rowCount;
        const pieceBytes = Math.ceil((sizeBytes * rows.rowCount) / rowGroup.rowCount);
        const output = await this.#outputFor(pieceBytes);
        await this.#writePiece(output, { input, rowGroup, rowGroupIndex, rows, isWhole });
      }
    }
  }

  async finish(): Promise<FileGroupResult> {
    await this.#closeOutput();
    return {
      outputs: this.#outputs,
      columnChunks: this.#counts,
      ...(this.#rowIds === undefined ? {} : { inputRowIds: this.#rowIds }),
    };
  }

  async abort(): Promise<void> {
    await this.#output?.abort();
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
    this.#outputs.push(await this.#output.close());
    this.#output = undefined;
  }

  async #writePiece(output: OutputFile, piece: Piece): Promise<void> {
    const { input, rowGroup, rows } = piece;
    const facts = new Map<number, ColumnFacts>();
    for (const leaf of this.#context.target.leaves) {
      const column = this.#columns.get(leaf.columnIndex);
      const found = await this.#writeChunk(output, piece, leaf, column);
      if (column !== undefined && found !== undefined) facts.set(column.fieldId, found);
    }
    const firstRow = rowGroup.firstRowIndex + rows.firstRow;
    await output.finishRowGroup(input, { firstRow, rowCount: rows.rowCount }, facts);
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
    const { input, rowGroup, rowGroupIndex, rows } = piece;
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
    for await (const batch of batches) encoder.add(batch);
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

function rowGroupBytes({ chunks }: ParquetRowGroup): number {
  return chunks.reduce((sum, { range }) => sum + range.lengthBytes, 0);
}

/** One range of all rows, or as many of about equal length as outputs are needed to hold them. */
function splitRows(rowCount: number, sizeBytes: number, outputSizeBytes: number): RowRange[] {
  const pieceCount = Math.min(Math.max(Math.ceil(sizeBytes / outputSizeBytes), 1), rowCount);
  return Array.from({ length: pieceCount }, (_, index) => {
    const firstRow = Math.floor((rowCount * index) / pieceCount);
    return { firstRow, rowCount: Math.floor((rowCount * (index + 1)) / pieceCount) - firstRow };
  });
}
