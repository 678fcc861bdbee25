import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  type SchemaElement,
} from 'hyparquet';
import { compressors } from './slow-compressors.ts';

/** A node of a Parquet schema, with its field id where the file has one. */
export interface ParquetNode {
  readonly element: SchemaElement;
  readonly children: readonly ParquetNode[];
}

export interface SlowParquetFile {
  readonly root: ParquetNode;
  /**
   * Rows as nested objects of physical values, groups by name, lists and maps as their repeated groups; INT96 as
   * nanoseconds from 1970.
   */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Reads every row of a Parquet file through hyparquet, without any conversion: annotations are taken off the
 * schema first, so lists and maps come as plain repeated groups and values as the file stores them.
 */
export async function readParquetSlowly(bytes: Uint8Array): Promise<SlowParquetFile> {
  const file: AsyncBuffer = {
    byteLength: bytes.length,
    slice: (start, end) => Uint8Array.from(bytes.subarray(start, end ?? bytes.length)).buffer,
  };
  const metadata = await parquetMetadataAsync(file, { geoparquet: false });
  const root = buildTree(metadata.schema);
  const rows = await parquetReadObjects({
    file,
    metadata: withoutAnnotations(metadata),
    compressors,
    parsers: { timestampFromNanoseconds: (nanos) => nanos },
    utf8: false,
  });
  return { root, rows };
}

function buildTree(elements: readonly SchemaElement[]): ParquetNode {
  let index = 0;
  const next = (): ParquetNode => {
    const element = elements[index++]!;
    const children = Array.from({ length: element.num_children ?? 0 }, next);
    return { element, children };
  };
  return next();
}

function withoutAnnotations(metadata: FileMetaData): FileMetaData {
  return {
    ...metadata,
    schema: metadata.schema.map((element) => {
      const { converted_type: _converted, logical_type: _logical, ...plain } = element;
      return plain as SchemaElement;
    }),
  };
}
