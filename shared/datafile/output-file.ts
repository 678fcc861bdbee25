import { assert, serializeJson } from '../base/index.ts';
import type { DataFile, Partition, Schema } from '../iceberg/index.ts';
import { ParquetFileWriter, type ParquetWriteResult } from '../parquet/index.ts';
import {
  type ColumnFacts,
  type MetricsColumn,
  mergeFacts,
  metricMaps,
  NO_FACTS,
  withManifestFacts,
} from './column-metrics.ts';
import type { TargetSchema } from './target-schema.ts';
import type { DataFileToRead, OpenedOutput } from './types.ts';

/** The key under which Iceberg Java keeps the schema in a data file's footer. */
const SCHEMA_KEY = 'iceberg.schema';

export interface OutputContext {
  readonly schema: Schema;
  readonly target: TargetSchema;
  readonly columns: readonly MetricsColumn[];
  readonly partition: Partition;
}

/** Facts of the columns of one row group, by field id. */
type RowGroupFacts = ReadonlyMap<number, ColumnFacts>;

/** One data file under way: its Parquet writer, and what is known of its columns. */
export class OutputFile {
  readonly writer: ParquetFileWriter;
  readonly #opened: OpenedOutput;
  readonly #context: OutputContext;
  readonly #facts = new Map<number, ColumnFacts>();
  #rowCount = 0;
  #current: InputFacts | undefined;

  constructor(opened: OpenedOutput, context: OutputContext) {
    this.#opened = opened;
    this.#context = context;
    this.writer = new ParquetFileWriter(opened.writer, {
      schema: context.target.elements,
      keyValueMetadata: [{ key: SCHEMA_KEY, value: serializeJson(context.schema.source) }],
    });
  }

  /** Ends a row group whose chunks are all written: `rowCount` rows of an input. */
  async finishRowGroup(
    input: { readonly input: DataFileToRead; readonly inputIndex: number },
    rowCount: number,
    facts: RowGroupFacts,
  ): Promise<void> {
    await this.writer.finishRowGroup(rowCount);
    if (this.#current?.inputIndex !== input.inputIndex) {
      this.#closeInput();
      this.#current = { ...input, rowCount: 0, facts: new Map() };
    }
    this.#current.rowCount += rowCount;
    for (const { fieldId } of this.#context.columns) {
      addFacts(this.#current.facts, fieldId, facts.get(fieldId) ?? NO_FACTS);
    }
    this.#rowCount += rowCount;
  }

  /** Writes the footer and makes the object visible. */
  async close(): Promise<DataFile> {
    this.#closeInput();
    const result = await this.writer.finish();
    const fileSizeBytes = await this.#opened.writer.close();
    assert(
      fileSizeBytes === result.fileSizeBytes,
      `${this.#opened.location}: ${result.fileSizeBytes} bytes written, ${fileSizeBytes} stored`,
    );
    return {
      content: 'data',
      filePath: this.#opened.location,
      fileFormat: 'PARQUET',
      partition: this.#context.partition,
      recordCount: this.#rowCount,
      fileSizeBytes,
      columnSizes: columnSizes(result, this.#context.target),
      ...metricMaps(this.#context.columns, this.#facts),
      splitOffsets: result.splitOffsets,
      unknownFields: [],
    };
  }

  /** Gives the object up. */
  abort(): Promise<void> {
    return this.#opened.writer.abort();
  }

  /** Only now is it known whether all rows of the input lie here. */
  #closeInput(): void {
    if (this.#current === undefined) return;
    const { input, rowCount, facts } = this.#current;
    const isWhole = rowCount === input.dataFile.recordCount;
    for (const column of this.#context.columns) {
      const found = facts.get(column.fieldId) ?? NO_FACTS;
      const known = withManifestFacts(found, input.dataFile, { column, isWhole });
      addFacts(this.#facts, column.fieldId, known);
    }
    this.#current = undefined;
  }
}

interface InputFacts {
  readonly input: DataFileToRead;
  readonly inputIndex: number;
  rowCount: number;
  readonly facts: Map<number, ColumnFacts>;
}

function addFacts(all: Map<number, ColumnFacts>, fieldId: number, facts: ColumnFacts): void {
  all.set(fieldId, mergeFacts(all.get(fieldId) ?? NO_FACTS, facts));
}

function columnSizes(
  { metadata }: ParquetWriteResult,
  target: TargetSchema,
): ReadonlyMap<number, number> {
  const sizes = new Map<number, number>();
  for (const { columns } of metadata.rowGroups) {
    for (const { element, columnIndex } of target.leaves) {
      const sizeBytes = columns[columnIndex]?.metaData?.totalCompressedSize ?? 0;
      const { fieldId } = element;
      if (fieldId !== undefined) sizes.set(fieldId, (sizes.get(fieldId) ?? 0) + sizeBytes);
    }
  }
  return sizes;
}
