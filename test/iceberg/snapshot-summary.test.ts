import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../shared/base/index.ts';
import { serializeJson } from '../../shared/base/index.ts';
import { encodeUtf8 } from '../../shared/bytes/index.ts';
import {
  type DataFile,
  type FileOfSpec,
  parseTableMetadata,
  replaceSummary,
  snapshotById,
  type TableMetadata,
} from '../../shared/iceberg/index.ts';
import { throwsKind } from './expect-error.ts';
import { goldenJson, goldenMetadata, minimalMetadata } from './java-goldens.ts';

const DATA: DataFile = {
  content: 'data',
  filePath: 's3://b/f.parquet',
  fileFormat: 'PARQUET',
  partition: ['x'],
  recordCount: 10,
  fileSizeBytes: 1000,
  unknownFields: [],
};
const VECTOR: DataFile = {
  ...DATA,
  content: 'position-deletes',
  fileFormat: 'puffin',
  recordCount: 3,
  contentSizeBytes: 40,
};

function file(keys: Partial<DataFile> = {}, base = DATA): FileOfSpec {
  return { specId: 0, dataFile: { ...base, ...keys } };
}

/** A table partitioned by one column, whose current snapshot has the summary; none without one. */
function table(summary?: Record<string, string>, properties: JsonObject = {}): TableMetadata {
  const fields = [{ id: 1, name: 'a', required: false, type: 'string' }];
  const field = { 'source-id': 1, 'field-id': 1000, name: 'a', transform: 'identity' };
  const head = {
    'snapshot-id': 7,
    'timestamp-ms': 1,
    'manifest-list': 's3://l',
    summary: summary ?? {},
  };
  const keys = {
    properties,
    schemas: [{ type: 'struct', 'schema-id': 0, fields }],
    'partition-specs': [{ 'spec-id': 0, fields: [field] }],
    ...(summary === undefined ? {} : { snapshots: [head], 'current-snapshot-id': 7 }),
  };
  return parseTableMetadata(encodeUtf8(serializeJson(minimalMetadata(keys))), 'x');
}

const TOTALS = {
  'total-records': '100',
  'total-files-size': '9000',
  'total-data-files': '10',
  'total-delete-files': '2',
  'total-position-deletes': '5',
  'total-equality-deletes': '0',
};

test('counts what a compaction with a vector adds and removes', () => {
  const summary = replaceSummary({
    metadata: table(TOTALS),
    addedFiles: [file({ recordCount: 17, fileSizeBytes: 1500 })],
    removedFiles: [file(), file(), file({}, VECTOR)],
    manifests: { createdCount: 2, keptCount: 4, replacedCount: 1 },
    extra: { 'engine-name': 'firn', operation: 'append' },
  });

  assert.deepEqual(summary, {
    'engine-name': 'firn',
    operation: 'replace',
    'added-files-size': '1500',
    'added-data-files': '1',
    'added-records': '17',
    'removed-files-size': '2040',
    'deleted-data-files': '2',
    'deleted-records': '20',
    'removed-delete-files': '1',
    'removed-dvs': '1',
    'removed-position-deletes': '3',
    'changed-partition-count': '1',
    'manifests-created': '2',
    'manifests-kept': '4',
    'manifests-replaced': '1',
    'total-records': '97',
    'total-files-size': '8460',
    'total-data-files': '9',
    'total-delete-files': '1',
    'total-position-deletes': '2',
    'total-equality-deletes': '0',
  });
});

test('counts equality deletes and position deletes apart', () => {
  const equality = file({ content: 'equality-deletes', recordCount: 2, fileSizeBytes: 50 });
  const position = file({ content: 'position-deletes', recordCount: 4, fileSizeBytes: 60 });

  const summary = replaceSummary({
    metadata: table(),
    addedFiles: [position],
    removedFiles: [equality],
  });

  assert.equal(summary['added-position-delete-files'], '1');
  assert.equal(summary['removed-equality-delete-files'], '1');
  assert.equal(summary['removed-equality-deletes'], '2');
  assert.equal(summary['added-dvs'], undefined);
});

test('totals are left out where the previous one is missing, malformed or would go negative', () => {
  const previous = {
    ...TOTALS,
    'total-records': 'many',
    'total-files-size': '5',
    'total-delete-files': '-1',
  };
  const { 'total-data-files': _files, ...known } = previous;

  const summary = replaceSummary({
    metadata: table(known),
    addedFiles: [],
    removedFiles: [file()],
  });

  const totals = Object.keys(summary).filter((key) => key.startsWith('total-'));
  assert.deepEqual(totals, ['total-position-deletes', 'total-equality-deletes']);
});

test('totals begin at 0 on a branch without snapshots', () => {
  const change = { metadata: table(TOTALS), addedFiles: [], removedFiles: [] };
  assert.equal(replaceSummary(change)['total-records'], '100');
  assert.equal(replaceSummary({ ...change, refName: 'new' })['total-records'], '0');
});

test('describes partitions up to the limit of the table', () => {
  const change = {
    addedFiles: [file({ recordCount: 5 })],
    removedFiles: [file(), file({ partition: [null] })],
  };
  const summaryAt = (limit: string) =>
    replaceSummary({
      ...change,
      metadata: table(TOTALS, { 'write.summary.partition-limit': limit }),
    });

  assert.equal(summaryAt('1')['partition-summaries-included'], undefined);
  const summary = summaryAt('2');
  assert.equal(summary['changed-partition-count'], '2');
  assert.equal(summary['partition-summaries-included'], 'true');
  assert.equal(
    summary['partitions.a=x'],
    'added-files-size=1000,added-data-files=1,added-records=5,removed-files-size=1000,deleted-data-files=1,deleted-records=10',
  );
  assert.equal(
    summary['partitions.a=null'],
    'removed-files-size=1000,deleted-data-files=1,deleted-records=10',
  );
});

test('refuses a replace that adds more records than it removes', () => {
  const change = {
    metadata: table(),
    addedFiles: [file()],
    removedFiles: [file({ recordCount: 9 })],
  };
  throwsKind(() => replaceSummary(change), 'invariant', /10 records are added, only 9 are removed/);
});

interface GoldenEntry {
  readonly status: number;
  readonly snapshot_id: bigint | number;
  readonly data_file: {
    readonly content: number;
    readonly file_format: string;
    readonly partition: readonly { readonly value: string }[];
    readonly record_count: number;
    readonly file_size_in_bytes: number;
    readonly content_size_in_bytes?: number;
  };
}

const CONTENTS = ['data', 'position-deletes', 'equality-deletes'] as const;

/** The files that a golden snapshot added (status 1) or deleted (2), with string partitions. */
function filesOf(
  name: string,
  manifestList: string,
  snapshotId: bigint,
  status: number,
): FileOfSpec[] {
  const folder = `tables/${name}/metadata/`;
  const decoded = (location: string) =>
    goldenJson(`${folder}${location.split('/').at(-1)}.decoded.json`);
  const manifests = decoded(manifestList) as readonly { readonly manifest_path: string }[];
  return manifests
    .flatMap(({ manifest_path }) => decoded(manifest_path) as readonly GoldenEntry[])
    .filter((entry) => entry.status === status && BigInt(entry.snapshot_id) === snapshotId)
    .map(({ data_file: golden }) =>
      file({
        content: CONTENTS[golden.content] ?? 'data',
        fileFormat: golden.file_format,
        partition: golden.partition.map(({ value }) => value),
        recordCount: golden.record_count,
        fileSizeBytes: golden.file_size_in_bytes,
        ...(golden.content_size_in_bytes ? { contentSizeBytes: golden.content_size_in_bytes } : {}),
      }),
    );
}

for (const { table: name, location, bytes } of goldenMetadata()) {
  if (!['v2-deletes', 'v3-deletes'].includes(name)) continue;
  test(`summarizes the changes of ${name} as Java does`, () => {
    const metadata = parseTableMetadata(bytes, location);
    const changes = metadata.snapshots.filter(({ summary }) => summary['operation'] !== 'append');
    assert.ok(changes.length >= 4);
    for (const { snapshotId, parentSnapshotId, summary: golden, manifestList = '' } of changes) {
      const parent = snapshotById(metadata, parentSnapshotId ?? 0n);
      const main = { snapshotId: parent?.snapshotId ?? 0n, type: 'branch', source: {} } as const;

      const summary = replaceSummary({
        metadata: { ...metadata, refs: new Map([['main', main]]) },
        addedFiles: filesOf(name, manifestList, snapshotId, 1),
        removedFiles: filesOf(name, manifestList, snapshotId, 2),
        manifests: {
          createdCount: Number(golden['manifests-created']),
          keptCount: Number(golden['manifests-kept']),
          replacedCount: Number(golden['manifests-replaced']),
        },
      });

      const { operation: _operation, 'iceberg-version': _version, ...expected } = golden;
      const { operation: _ours, ...actual } = summary;
      assert.deepEqual(actual, expected);
    }
  });
}
