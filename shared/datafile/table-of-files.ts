import {
  type FormatVersion,
  type Partition,
  type PartitionSpec,
  parseNameMapping,
  type Schema,
  tableProperty,
} from '../iceberg/index.ts';
import type { OpenInputOptions } from './open-input.ts';
import { identityPartitionValues } from './partition-values.ts';
import { type TargetSchema, targetSchemaFor } from './target-schema.ts';

/** The first format version whose files hold row lineage. */
const LINEAGE_FORMAT_VERSION = 3;

/** What a table says of files of one partition. */
export interface TableOfFiles {
  /** The table's current schema. */
  readonly schema: Schema;
  readonly formatVersion: FormatVersion;
  /** The spec of all files: identity-partitioned columns may be missing in files, and are filled from it. */
  readonly partitionSpec: PartitionSpec;
  readonly partition: Partition;
  /** The table's properties as they stand: `schema.name-mapping.default` is used. */
  readonly properties: Readonly<Record<string, string>>;
}

/** The columns of the table's files as they are written now, with lineage from v3 on. */
export function targetOf({
  schema,
  formatVersion,
}: Pick<TableOfFiles, 'schema' | 'formatVersion'>): TargetSchema {
  return targetSchemaFor(schema, { withLineage: hasLineage(formatVersion) });
}

export function hasLineage(formatVersion: FormatVersion): boolean {
  return formatVersion >= LINEAGE_FORMAT_VERSION;
}

/** How files are opened that are read under the table's schema. */
export function openInputOptions(table: TableOfFiles): OpenInputOptions {
  const { schema, formatVersion, partitionSpec, partition, properties } = table;
  const mapping = tableProperty(properties, 'schema.name-mapping.default');
  return {
    target: targetOf(table),
    formatVersion,
    partitionValues: identityPartitionValues(schema, partitionSpec, partition),
    nameMapping: mapping === undefined ? undefined : parseNameMapping(mapping),
  };
}
