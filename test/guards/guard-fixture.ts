import {
  DEFAULT_GUARD_SETTINGS,
  type GuardSettings,
  type RunToJudge,
} from '../../shared/guards/index.ts';
import { parseTableMetadata, type TableMetadata } from '../../shared/iceberg/index.ts';

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** When the tests take place. */
export const NOW_MS = Date.UTC(2026, 10, 30);

export interface ExampleSnapshot {
  readonly id: number;
  readonly agoMs: number;
  readonly parent?: number;
  readonly operation?: string;
  readonly summary?: Readonly<Record<string, string>>;
}

export interface ExampleTable {
  readonly snapshots: readonly ExampleSnapshot[];
  /** The last snapshot where it is not given. */
  readonly main?: number;
  readonly branches?: Readonly<Record<string, number>>;
  readonly tags?: Readonly<Record<string, number>>;
  /** Snapshots that were current once. */
  readonly log?: readonly number[];
  readonly properties?: Readonly<Record<string, string>>;
}

export function exampleTable(table: ExampleTable): TableMetadata {
  const { snapshots, branches = {}, tags = {}, properties = {} } = table;
  const main = table.main ?? snapshots.at(-1)?.id ?? -1;
  const refs = [
    ...(main === -1 ? [] : [['main', { 'snapshot-id': main, type: 'branch' }]]),
    ...Object.entries(branches).map(([name, id]) => [name, { 'snapshot-id': id, type: 'branch' }]),
    ...Object.entries(tags).map(([name, id]) => [name, { 'snapshot-id': id, type: 'tag' }]),
  ];
  const json = {
    'format-version': 2,
    'table-uuid': '7e4a1c0e-6d0c-4c55-b0a2-8d0b6d1a5b11',
    location: 's3://bucket/t',
    'last-sequence-number': snapshots.length,
    'last-updated-ms': NOW_MS,
    'last-column-id': 1,
    'current-schema-id': 0,
    schemas: [
      {
        type: 'struct',
        'schema-id': 0,
        fields: [{ id: 1, name: 'id', required: true, type: 'long' }],
      },
    ],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties,
    'current-snapshot-id': main,
    refs: Object.fromEntries(refs),
    snapshots: snapshots.map(({ id, agoMs, parent, operation = 'append', summary }, index) => ({
      'snapshot-id': id,
      ...(parent === undefined ? {} : { 'parent-snapshot-id': parent }),
      'sequence-number': index + 1,
      'timestamp-ms': NOW_MS - agoMs,
      'manifest-list': `s3://bucket/t/metadata/${id}.avro`,
      summary: { operation, ...summary },
      'schema-id': 0,
    })),
    'snapshot-log': (table.log ?? (main === -1 ? [] : [main])).map((id, index) => ({
      'snapshot-id': id,
      'timestamp-ms': NOW_MS - DAY_MS + index,
    })),
    'metadata-log': [],
  };
  const bytes = new TextEncoder().encode(JSON.stringify(json));
  return parseTableMetadata(bytes, 's3://bucket/t/metadata/00001-a.metadata.json');
}

export function runOn(
  table: ExampleTable,
  other: Partial<Omit<RunToJudge, 'metadata' | 'settings'>> & {
    readonly settings?: Partial<GuardSettings>;
  } = {},
): RunToJudge {
  return {
    metadata: exampleTable(table),
    branch: 'main',
    operation: 'rewrite-data-files',
    nowMs: NOW_MS,
    ...other,
    settings: { ...DEFAULT_GUARD_SETTINGS, ...other.settings },
  };
}
