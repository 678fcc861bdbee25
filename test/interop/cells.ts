// The matrix: 3 format versions x 5 partitionings x 3 histories x 2 sets of columns = 90 cells.

import type { Columns, ColumnType } from './columns.ts';

export type Reader = 'java' | 'pyiceberg' | 'duckdb' | 'spark35';

/** One schema change; `column` is a dotted path. */
export type SchemaChange =
  | Readonly<{ change: 'add'; column: string; type: ColumnType; stringDefault?: string }>
  | Readonly<{ change: 'widen'; column: string; type: string }>
  | Readonly<{ change: 'rename'; column: string; to: string }>
  | Readonly<{ change: 'drop' | 'moveFirst'; column: string }>;

/** Partition fields as text: `category`, `bucket[2](id)`, `truncate[3](name)`, `day(ts)`, `hour(ts)`. */
export type SpecChange = Readonly<{ remove: readonly string[]; add: readonly string[] }>;

export type Cell = Readonly<{
  name: string;
  formatVersion: 1 | 2 | 3;
  writer: 'java' | 'spark';
  readers: readonly Reader[];
  columns: Columns;
  spec: readonly string[];
  schemaChanges: readonly SchemaChange[];
  specChange: SpecChange | undefined;
  properties: Readonly<Record<string, string>>;
  /** Whether the commits on top include an overwrite. */
  overwrites: boolean;
}>;

const VERSIONS = [1, 2, 3] as const;
const HISTORIES = ['plain', 'evolved-schema', 'evolved-spec'] as const;
const CODECS = ['zstd', 'snappy', 'gzip', 'uncompressed'] as const;

/** Each partitioning with the change that its `evolved-spec` cells make. */
const PARTITIONINGS: Readonly<Record<string, { spec: readonly string[]; change: SpecChange }>> = {
  unpartitioned: { spec: [], change: { remove: [], add: ['category'] } },
  identity: { spec: ['category'], change: { remove: [], add: ['day(ts)'] } },
  bucket: { spec: ['bucket[2](id)'], change: { remove: ['bucket[2](id)'], add: ['hour(ts)'] } },
  truncate: {
    spec: ['truncate[3](name)'],
    change: { remove: ['truncate[3](name)'], add: ['truncate[4](name)'] },
  },
  hour: { spec: ['hour(ts)'], change: { remove: ['hour(ts)'], add: ['day(ts)'] } },
};

/** Fields 1 to 4 of every table; the tools make their values so that each partition gets rows. */
const KEYS: Columns = { id: 'int', category: 'string', name: 'string', ts: 'timestamptz' };

const SPARK_PRIMITIVES: Columns = {
  b: 'boolean',
  i: 'int',
  l: 'long',
  f: 'float',
  d: 'double',
  dec9: 'decimal(9, 2)',
  dec18: 'decimal(18, 4)',
  dec38: 'decimal(38, 10)',
  day: 'date',
  local: 'timestamp',
  moment: 'timestamptz',
  s: 'string',
  bin: 'binary',
};

/** Types that Spark cannot express. */
const JAVA_PRIMITIVES: Columns = { t: 'time', u: 'uuid', fix: 'fixed[7]' };
const V3_PRIMITIVES: Columns = { ns: 'timestamp_ns' };
/** DuckDB refuses this one, so only some of the v3 cells have it. */
const V3_ZONED_NANOS: Columns = { nsz: 'timestamptz_ns' };

const LISTED_STRUCT: ColumnType = {
  struct: { k: 'string', v: { map: ['string', { list: 'long' }] } },
};

const NESTED: Columns = {
  lists: { list: { list: 'int' } },
  maps: { map: ['string', { map: ['int', 'double'] }] },
  structs: { struct: { a: 'int', inner: { struct: { x: 'float', y: 'string' } } } },
};

/** `id` is the source of bucket partitions: widening it must leave them in place. */
const KEY_CHANGES: readonly SchemaChange[] = [
  { change: 'widen', column: 'id', type: 'long' },
  { change: 'rename', column: 'category', to: 'region' },
];

const PRIMITIVE_CHANGES: readonly SchemaChange[] = [
  ...KEY_CHANGES,
  { change: 'widen', column: 'i', type: 'long' },
  { change: 'widen', column: 'f', type: 'double' },
  { change: 'widen', column: 'dec9', type: 'decimal(18, 2)' },
  { change: 'rename', column: 's', to: 'words' },
  { change: 'drop', column: 'l' },
  { change: 'add', column: 'added', type: 'string' },
  { change: 'moveFirst', column: 'added' },
];

const NESTED_CHANGES: readonly SchemaChange[] = [
  ...KEY_CHANGES,
  { change: 'widen', column: 'structs.a', type: 'long' },
  { change: 'widen', column: 'structs.inner.x', type: 'double' },
  { change: 'rename', column: 'structs.inner.y', to: 'why' },
  { change: 'add', column: 'structs.inner.z', type: 'long' },
  { change: 'add', column: 'mixed.element.more', type: 'double' },
  { change: 'drop', column: 'mixed.element.k' },
  { change: 'add', column: 'extra', type: { list: 'string' } },
];

/**
 * The columns of a cell. `strict` cells leave out what some reader cannot read, so that every reader sees every
 * combination of version and history; the others keep it.
 */
function columnsOf(
  set: string,
  writer: Cell['writer'],
  formatVersion: number,
  strict: boolean,
): Columns {
  if (set === 'nested') {
    const mixed = { list: LISTED_STRUCT, ...(strict && { required: true as const }) };
    return { ...KEYS, ...NESTED, mixed };
  }
  if (writer === 'spark') return { ...KEYS, ...SPARK_PRIMITIVES };
  const newest = {
    ...(formatVersion === 3 && V3_PRIMITIVES),
    ...(!strict && formatVersion === 3 && V3_ZONED_NANOS),
  };
  return { ...KEYS, ...SPARK_PRIMITIVES, ...JAVA_PRIMITIVES, ...newest };
}

function propertiesOf(index: number, formatVersion: number): Record<string, string> {
  return {
    'format-version': String(formatVersion),
    'firn.verify': 'rows',
    'write.parquet.compression-codec': CODECS[index % CODECS.length] ?? 'zstd',
    ...(index % 3 === 1 && {
      'write.parquet.row-group-size-bytes': '2048',
      'write.parquet.row-group-check-min-record-count': '10',
      'write.parquet.row-group-check-max-record-count': '10',
    }),
    ...(index % 3 === 2 && { 'write.parquet.dict-size-bytes': '64' }),
    ...(index % 5 === 4 && { 'write.parquet.bloom-filter-enabled.column.name': 'true' }),
    ...(index % 5 === 3 && { 'write.parquet.page-row-limit': '7' }),
  };
}

/** Whether a cell has a column of null lists of structs. */
function hasOptionalListOfStructs(columns: Columns): boolean {
  const { mixed } = columns;
  return typeof mixed === 'object' && !('required' in mixed);
}

/** Readers that cannot read a cell, and why: what they did with tables that Firn had not touched. */
export function unsupported(
  cell: Pick<Cell, 'formatVersion' | 'columns'>,
): Partial<Record<Reader, string>> {
  return {
    ...(hasOptionalListOfStructs(cell.columns) && {
      pyiceberg: 'PyIceberg 0.12.0 reads a null list of structs as an empty one',
    }),
    ...('nsz' in cell.columns && { duckdb: 'DuckDB 1.5.5 does not know timestamptz_ns' }),
    ...('t' in cell.columns && { spark35: 'Spark has no type time' }),
    ...(cell.formatVersion === 3 && { spark35: 'asked for v1 and v2 only' }),
  };
}

/** All cells in a fixed order. */
export function cells(): readonly Cell[] {
  const all: Cell[] = [];
  for (const formatVersion of VERSIONS) {
    for (const [p, [partitioning, { spec, change }]] of Object.entries(PARTITIONINGS).entries()) {
      for (const [h, history] of HISTORIES.entries()) {
        for (const set of ['primitives', 'nested'] as const) {
          const index = all.length;
          // Spark writes a third of the cells: one history of each version and partitioning.
          const writer = h === (formatVersion + p) % HISTORIES.length ? 'spark' : 'java';
          const changes = set === 'nested' ? NESTED_CHANGES : PRIMITIVE_CHANGES;
          const cell = {
            name: `v${formatVersion}_${partitioning}_${history}_${set}`.replaceAll('-', '_'),
            formatVersion,
            writer,
            columns: columnsOf(set, writer, formatVersion, p % 2 === 1),
            spec,
            schemaChanges: history === 'evolved-schema' ? changes : [],
            specChange: history === 'evolved-spec' ? change : undefined,
            properties: propertiesOf(index, formatVersion),
            overwrites: index % 4 === 0,
          } as const;
          const missing = unsupported(cell);
          const readers = (['java', 'pyiceberg', 'duckdb', 'spark35'] as const).filter(
            (reader) => missing[reader] === undefined,
          );
          all.push({ ...cell, readers });
        }
      }
    }
  }
  return all;
}
