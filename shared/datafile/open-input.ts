import { IcebergError } from '../base/index.ts';
import type { MappedField } from '../iceberg/index.ts';
import { type ParquetFile, readAhead, readParquetFooter } from '../parquet/index.ts';
import { fieldIdsOf } from './field-ids.ts';
import { type LeafSource, type MatchOptions, matchFile } from './match-file.ts';
import { requirePositionsWithin } from './position-map.ts';
import type { DataFileToRead } from './types.ts';

/** An input whose footer was read and matched with the table's schema. */
export interface OpenedInput {
  readonly input: DataFileToRead;
  readonly inputIndex: number;
  /** Reads ahead in the input. */
  readonly reader: DataFileToRead['reader'];
  readonly file: ParquetFile;
  /** One for each column of the outputs. */
  readonly sources: readonly LeafSource[];
}

export interface OpenInputOptions extends MatchOptions {
  readonly nameMapping: readonly MappedField[] | undefined;
}

/**
 * Reads an input's footer, and finds out how its columns serve the table's. One read for small files; memory:
 * the footer and what `readAhead` keeps.
 *
 * @throws invalid-data — when the file is broken, has another length or row count than its manifest entry, or fewer
 *   rows than a deleted position says
 * @throws unsupported — when it cannot be rewritten under the schema
 */
export async function openInput(
  input: DataFileToRead,
  inputIndex: number,
  options: OpenInputOptions,
): Promise<OpenedInput> {
  const { dataFile } = input;
  if (dataFile.fileFormat.toUpperCase() !== 'PARQUET') {
    throw new IcebergError('unsupported', `${dataFile.filePath}: format ${dataFile.fileFormat}`);
  }
  requireEqual('bytes', input.reader.fileSizeBytes, dataFile.fileSizeBytes, dataFile.filePath);
  const reader = readAhead(input.reader);
  const file = await readParquetFooter(reader);
  requireEqual('rows', file.metadata.numRows, dataFile.recordCount, dataFile.filePath);
  if (input.deletes !== undefined) {
    requirePositionsWithin(input.deletes.positions, dataFile.recordCount, dataFile.filePath);
  }
  const fieldIds = fieldIdsOf(file, options.nameMapping);
  return { input, inputIndex, reader, file, sources: matchFile(file, fieldIds, options) };
}

function requireEqual(what: string, found: number, expected: number, subject: string): void {
  if (found === expected) return;
  throw new IcebergError(
    'invalid-data',
    `${subject}: the file has ${found} ${what}, its manifest entry says ${expected}`,
  );
}
