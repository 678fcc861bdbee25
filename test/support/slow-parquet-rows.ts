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
  const { file, metadata, root } = await openSlowly(bytes);
  return { root, rows: await readRows(file, metadata) };
}

/** The same for a broken file: rows of row groups that cannot be read are left out, with their positions. */
export async function salvageParquetSlowly(bytes: Uint8Array): Promise<{
  readonly root: ParquetNode;
  readonly rowsByPosition: ReadonlyMap<number, SlowParquetFile['rows'][number]>;
}> {
  const { file, metadata, root } = await openSlowly(bytes);
  const rowsByPosition = new Map<number, SlowParquetFile['rows'][number]>();
  let firstPosition = 0;
  for (const rowGroup of metadata.row_groups) {
    const alone = { ...metadata, row_groups: [rowGroup], num_rows: rowGroup.num_rows };
    try {
      const rows = await readRows(file, alone);
      for (const [index, row] of rows.entries()) rowsByPosition.set(firstPosition + index, row);
    } catch {
      // What is left out is what the caller asked to be left out.
    }
    firstPosition += Number(rowGroup.num_rows);
  }
  return { root, rowsByPosition };
}

async function openSlowly(bytes: Uint8Array): Promise<{
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly root: ParquetNode;
}> {
  const file: AsyncBuffer = {
    byteLength: bytes.length,
    slice: (start, end) => Uint8Array.from(bytes.subarray(start, end ?? bytes.length)).buffer,
  };
  const metadata = withSafeNames(await parquetMetadataAsync(file, { geoparquet: false }));
  return { file, metadata: withoutAnnotations(metadata), root: buildTree(metadata.schema) };
}

function readRows(file: AsyncBuffer, metadata: FileMetaData): Promise<SlowParquetFile['rows']> {
  return parquetReadObjects({
    file,
    metadata,
    compressors,
    parsers: { timestampFromNanoseconds: (nanos) => nanos },
    utf8: false,
  });
}

/** A column of this name would become the prototype of hyparquet's rows. */
function withSafeNames(metadata: FileMetaData): FileMetaData {
  const safe = (name: string): string => (name === '__proto__' ? '__proto__ as a column' : name);
  return {
    ...metadata,
    schema: metadata.schema.map((element) => ({ ...element, name: safe(element.name) })),
    row_groups: metadata.row_groups.map((rowGroup) => ({
      ...rowGroup,
      columns: rowGroup.columns.map((column) => ({
        ...column,
        ...(column.meta_data && {
          meta_data: {
            ...column.meta_data,
            path_in_schema: column.meta_data.path_in_schema.map(safe),
          },
        }),
      })),
    })),
  };
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
