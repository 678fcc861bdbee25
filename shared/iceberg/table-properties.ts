import { IcebergError } from '../base/index.ts';
import { metricsMode } from './metrics-mode.ts';
import {
  boolean,
  integerFrom,
  oneOf,
  type PropertyParser,
  positiveNumber,
  probability,
  text,
} from './property-parsers.ts';

const MIB = 1024 * 1024;
const INT32_MAX = 2 ** 31 - 1;

interface PropertyDefinition<Value, Default> extends PropertyParser<Value> {
  readonly defaultValue: Default;
}

/** A property that always has a value. */
function withDefault<Value>(
  parser: PropertyParser<Value>,
  defaultValue: Value,
): PropertyDefinition<Value, Value> {
  return { ...parser, defaultValue };
}

/** A property whose absence means something of its own. */
function optional<Value>(parser: PropertyParser<Value>): PropertyDefinition<Value, undefined> {
  return { ...parser, defaultValue: undefined };
}

/**
 * Every table property that Firn reads. Defaults are those of Iceberg Java's `TableProperties` (1.12);
 * a unit is part of the key, or stands in the comment.
 */
const DEFINITIONS = {
  /** Bytes. */
  'write.target-file-size-bytes': withDefault(integerFrom(1), 512 * MIB),
  'write.format.default': withDefault(oneOf('parquet', 'avro', 'orc'), 'parquet'),

  'write.parquet.row-group-size-bytes': withDefault(integerFrom(1), 128 * MIB),
  'write.parquet.page-size-bytes': withDefault(integerFrom(1, INT32_MAX), MIB),
  /** Rows. */
  'write.parquet.page-row-limit': withDefault(integerFrom(1, INT32_MAX), 20_000),
  'write.parquet.dict-size-bytes': withDefault(integerFrom(1, INT32_MAX), 2 * MIB),
  /** The default of tables made since Iceberg 1.4; older ones without the property were written with gzip. */
  'write.parquet.compression-codec': withDefault(
    oneOf('zstd', 'gzip', 'snappy', 'uncompressed', 'lz4', 'lz4_raw', 'brotli'),
    'zstd',
  ),
  /** In the codec's own scale; the codec's default where absent. */
  'write.parquet.compression-level': optional(integerFrom(-INT32_MAX, INT32_MAX)),
  'write.parquet.bloom-filter-max-bytes': withDefault(integerFrom(1, INT32_MAX), MIB),

  /** v2: whether a position delete file is of one data file, or of any of its partition. */
  'write.delete.granularity': withDefault(oneOf('partition', 'file'), 'partition'),
  /** Bytes. */
  'write.delete.target-file-size-bytes': withDefault(integerFrom(1), 64 * MIB),

  'write.data.path': optional(text),
  'write.object-storage.enabled': withDefault(boolean, false),
  'write.object-storage.partitioned-paths': withDefault(boolean, true),
  /** Deprecated in favour of `write.data.path`; Iceberg Java 1.12 refuses it, older versions use it. */
  'write.object-storage.path': optional(text),
  /** Deprecated in favour of `write.data.path`; Iceberg Java 1.12 refuses it, older versions use it. */
  'write.folder-storage.path': optional(text),
  /** A Java class. */
  'write.location-provider.impl': optional(text),

  'write.metadata.path': optional(text),
  'write.metadata.compression-codec': withDefault(oneOf('none', 'gzip'), 'none'),
  /** Entries; Iceberg Java treats values below 1 as 1. */
  'write.metadata.previous-versions-max': withDefault(integerFrom(-INT32_MAX, INT32_MAX), 100),
  'write.metadata.delete-after-commit.enabled': withDefault(boolean, false),
  /** Absent: truncate(16), for the first columns only in wide tables. */
  'write.metadata.metrics.default': optional(metricsMode),
  /** Columns. */
  'write.metadata.metrics.max-inferred-column-defaults': withDefault(
    integerFrom(0, INT32_MAX),
    100,
  ),
  /** Partitions. */
  'write.summary.partition-limit': withDefault(integerFrom(0, INT32_MAX), 0),
  'write.wap.enabled': withDefault(boolean, false),

  'commit.retry.num-retries': withDefault(integerFrom(0, INT32_MAX), 4),
  'commit.retry.min-wait-ms': withDefault(integerFrom(0), 100),
  'commit.retry.max-wait-ms': withDefault(integerFrom(0), 60_000),
  'commit.retry.total-timeout-ms': withDefault(integerFrom(0), 30 * 60_000),
  'commit.manifest.target-size-bytes': withDefault(integerFrom(1), 8 * MIB),
  /** Manifests. */
  'commit.manifest.min-count-to-merge': withDefault(integerFrom(0, INT32_MAX), 100),
  'commit.manifest-merge.enabled': withDefault(boolean, true),

  /** JSON; read it with `parseNameMapping`. */
  'schema.name-mapping.default': optional(text),
  'gc.enabled': withDefault(boolean, true),

  /** Firn: whether the table may be maintained; absent leaves it to the deployment's allow-list. */
  'firn.enabled': optional(boolean),
  /** Firn: data files younger than this are left alone; absent: it follows from the table's commits. */
  'firn.min-file-age-ms': optional(integerFrom(0)),
  /** Firn: between runs that commit to one branch; absent: as the deployment says. */
  'firn.commit.min-interval-ms': optional(integerFrom(0)),
  /** Firn: how long what waits to be published holds back commits to main; absent: as the deployment says. */
  'firn.wap.wait-ms': optional(integerFrom(0)),
  /** Firn: goes on where another maintainer rewrites the table, too. Two at it undo each other's work. */
  'firn.share': withDefault(boolean, false),
  /** Firn: between two reads of the table's metadata to see what is due; absent: as the deployment says. */
  'firn.routing.min-interval-ms': optional(integerFrom(0)),
  /** Firn: since the last plan, that makes compaction due; see `shared/routing` for what counts, and why these defaults. */
  'firn.rewrite-data-files.trigger.commit-count': withDefault(integerFrom(1), 10),
  'firn.rewrite-data-files.trigger.small-file-count': withDefault(integerFrom(1), 100),
  'firn.rewrite-data-files.trigger.small-file-bytes': withDefault(integerFrom(1), 1024 * MIB),
  'firn.rewrite-data-files.trigger.interval-ms': withDefault(integerFrom(1), 6 * 60 * 60_000),
  /** Of the table's bytes after the commit. */
  'firn.rewrite-data-files.trigger.backfill-ratio': withDefault(probability, 0.2),
  /**
   * What becomes of deleted rows of files that are compacted: `purge` leaves them out, `carry` keeps rows and deletes,
   * `auto` does what is cheaper. Files that are compacted for their deletes are purged in any case.
   */
  'firn.rewrite-data-files.deletes': withDefault(oneOf('auto', 'purge', 'carry'), 'auto'),
  /** Firn: delete files added since the last plan that make rewriting deletes due. */
  'firn.rewrite-deletes.trigger.delete-file-count': withDefault(integerFrom(1), 10),
  'firn.rewrite-deletes.trigger.equality-delete-file-count': withDefault(integerFrom(1), 5),
  /** Firn: what makes delete files worth rewriting; see `shared/operations/rewrite-deletes` for what counts, and why. */
  'firn.rewrite-deletes.delete-file-threshold': withDefault(integerFrom(1), 5),
  'firn.rewrite-deletes.equality-delete-file-threshold': withDefault(integerFrom(1), 5),
  /** Deleted rows, of the partition's rows. */
  'firn.rewrite-deletes.delete-ratio-threshold': withDefault(positiveNumber, 0.1),
  /** Bytes of delete manifests, of those of data manifests. */
  'firn.rewrite-deletes.delete-manifest-ratio-threshold': withDefault(positiveNumber, 0.5),
  /** Bytes of no use, of the Puffin file's. */
  'firn.rewrite-deletes.puffin-garbage-ratio-threshold': withDefault(probability, 0.5),
  /** Firn: a plan goes on from the one before, until the last one of the whole table is as old as this. */
  'firn.rewrite-data-files.full-plan-interval-ms': withDefault(
    integerFrom(0),
    7 * 24 * 60 * 60_000,
  ),
  /** Firn: `rows` adds an order-free hash of all rows to the checks that always run. */
  'firn.verify': withDefault(oneOf('standard', 'rows'), 'standard'),
  /** Firn: `basic` keeps new pages to PLAIN and dictionary encoding, which every reader knows. */
  'firn.parquet.encodings': withDefault(oneOf('basic', 'all'), 'basic'),
} as const;

/** Properties of single columns: the prefix is followed by the column's full name. */
const COLUMN_DEFINITIONS = {
  'write.metadata.metrics.column.': metricsMode,
  'write.parquet.bloom-filter-enabled.column.': boolean,
  /** False-positive probability; 0.01 where a column has none. */
  'write.parquet.bloom-filter-fpp.column.': probability,
} as const;

export type PropertyKey = keyof typeof DEFINITIONS;
export type ColumnPropertyPrefix = keyof typeof COLUMN_DEFINITIONS;
export type Properties = Readonly<Record<string, string>>;

type ValueOf<Key extends PropertyKey> =
  | NonNullable<ReturnType<(typeof DEFINITIONS)[Key]['parse']>>
  | (typeof DEFINITIONS)[Key]['defaultValue'];
type ColumnValueOf<Prefix extends ColumnPropertyPrefix> = NonNullable<
  ReturnType<(typeof COLUMN_DEFINITIONS)[Prefix]['parse']>
>;

/**
 * The value of a table property, or its default.
 *
 * @throws invalid-config — when the value is malformed; the message names key, value and what is expected
 * @see Iceberg Java, `TableProperties`
 */
export function tableProperty<Key extends PropertyKey>(
  properties: Properties,
  key: Key,
): ValueOf<Key> {
  const definition: PropertyDefinition<unknown, unknown> = DEFINITIONS[key];
  const value = properties[key];
  if (value === undefined) return definition.defaultValue as ValueOf<Key>;
  return parseProperty(key, value, definition) as ValueOf<Key>;
}

/**
 * The values of a per-column property by column name, in the order of the properties.
 *
 * @throws invalid-config — when a value is malformed
 */
export function columnProperties<Prefix extends ColumnPropertyPrefix>(
  properties: Properties,
  prefix: Prefix,
): ReadonlyMap<string, ColumnValueOf<Prefix>> {
  const parser: PropertyParser<unknown> = COLUMN_DEFINITIONS[prefix];
  const byColumn = new Map<string, ColumnValueOf<Prefix>>();
  for (const [key, value] of Object.entries(properties)) {
    if (!key.startsWith(prefix)) continue;
    const parsed = parseProperty(key, value, parser) as ColumnValueOf<Prefix>;
    byColumn.set(key.slice(prefix.length), parsed);
  }
  return byColumn;
}

/** The keys under `firn.` that this version does not know, sorted: worth a warning, since they do nothing. */
export function unknownFirnProperties(properties: Properties): readonly string[] {
  return Object.keys(properties)
    .filter((key) => key.startsWith('firn.') && !Object.hasOwn(DEFINITIONS, key))
    .sort();
}

/** What is wrong with the values of the properties that Firn reads, one message for each malformed one. */
export function malformedProperties(properties: Properties): readonly string[] {
  return Object.entries(properties).flatMap(([key, value]) => {
    const parser = parserOf(key);
    return parser === undefined || parser.parse(value) !== undefined
      ? []
      : [malformed(key, value, parser).message];
  });
}

/**
 * Refuses a table whose properties of these prefixes are not all well formed, before anything comes of reading some.
 *
 * @throws invalid-config — naming the first malformed one
 */
export function requireWellFormed(properties: Properties, prefixes: readonly string[]): void {
  for (const [key, value] of Object.entries(properties)) {
    const parser = prefixes.some((prefix) => key.startsWith(prefix)) ? parserOf(key) : undefined;
    if (parser !== undefined) parseProperty(key, value, parser);
  }
}

function parserOf(key: string): PropertyParser<unknown> | undefined {
  if (Object.hasOwn(DEFINITIONS, key)) return DEFINITIONS[key as PropertyKey];
  const prefixes = Object.keys(COLUMN_DEFINITIONS) as ColumnPropertyPrefix[];
  const prefix = prefixes.find((known) => key.startsWith(known));
  return prefix === undefined ? undefined : COLUMN_DEFINITIONS[prefix];
}

function parseProperty(key: string, value: string, parser: PropertyParser<unknown>): unknown {
  const parsed = parser.parse(value);
  if (parsed !== undefined) return parsed;
  throw malformed(key, value, parser);
}

function malformed(
  key: string,
  value: string,
  { expected }: PropertyParser<unknown>,
): IcebergError {
  const shown = value.slice(0, 100);
  return new IcebergError(
    'invalid-config',
    `table property ${key}: value ${shown} is not ${expected}`,
    { key, value: shown, expected },
  );
}
