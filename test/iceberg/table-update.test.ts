import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonObject, parseJson, serializeJson } from '../../shared/base/index.ts';
import { decodeUtf8, encodeUtf8 } from '../../shared/bytes/index.ts';
import {
  applyTableUpdates,
  checkRequirement,
  createSnapshot,
  parseTableMetadata,
  type SnapshotFields,
  serializeTableMetadata,
  snapshotOfRef,
  type TableMetadata,
  type TableUpdate,
} from '../../shared/iceberg/index.ts';
import { throwsKind } from './expect-error.ts';
import { goldenMetadata, minimalMetadata } from './java-goldens.ts';

const LOCATION = 's3://bucket/wh/db.db/tbl/metadata/00001-a.metadata.json';
const BEFORE_MS = 1_700_000_000_000;
const NOW_MS = BEFORE_MS + 5000;
const CONTEXT = { nowMs: NOW_MS, metadataLocationBefore: LOCATION };
const MAIN: TableUpdate = {
  action: 'set-snapshot-ref',
  refName: 'main',
  type: 'branch',
  snapshotId: 8n,
};

function table(keys: JsonObject = {}): TableMetadata {
  return parseTableMetadata(encodeUtf8(serializeJson(minimalMetadata(keys))), LOCATION);
}

function add(
  fields: Partial<SnapshotFields> = {},
  formatVersion: 1 | 2 | 3 = 2,
): Extract<TableUpdate, { action: 'add-snapshot' }> {
  const snapshot = createSnapshot(
    {
      snapshotId: 8n,
      sequenceNumber: 1n,
      timestampMs: NOW_MS - 100,
      manifestList: 's3://bucket/snap-8.avro',
      summary: { operation: 'replace' },
      schemaId: 0,
      ...fields,
    },
    formatVersion,
  );
  return { action: 'add-snapshot', snapshot };
}

test('a snapshot on main becomes current, is logged at its own time, and moves the table on', () => {
  const before = table();

  const after = applyTableUpdates(before, [add(), MAIN], CONTEXT);

  assert.equal(after.currentSnapshotId, 8n);
  assert.equal(snapshotOfRef(after)?.snapshotId, 8n);
  assert.equal(after.lastSequenceNumber, 1n);
  assert.equal(after.lastUpdatedMs, NOW_MS);
  assert.deepEqual(
    after.snapshotLog.map(({ timestampMs, snapshotId }) => [timestampMs, snapshotId]),
    [[NOW_MS - 100, 8n]],
  );
  assert.deepEqual(
    after.metadataLog.map(({ timestampMs, metadataFile }) => [timestampMs, metadataFile]),
    [[BEFORE_MS, LOCATION]],
  );
  assert.equal(before.snapshots.length, 0);
});

test('what was applied is written, and read back as the same table', () => {
  const after = applyTableUpdates(table(), [add({ parentSnapshotId: 3n }), MAIN], CONTEXT);

  const bytes = serializeTableMetadata(after, LOCATION);

  const reread = parseTableMetadata(bytes, LOCATION);
  assert.deepEqual(serializeTableMetadata(reread, LOCATION), bytes);
  assert.equal(reread.currentSnapshotId, after.currentSnapshotId);
  assert.equal(reread.lastUpdatedMs, after.lastUpdatedMs);
  assert.deepEqual(reread.source['snapshots'], [
    {
      'sequence-number': 1,
      'snapshot-id': 8,
      'parent-snapshot-id': 3,
      'timestamp-ms': NOW_MS - 100,
      summary: { operation: 'replace' },
      'manifest-list': 's3://bucket/snap-8.avro',
      'schema-id': 0,
    },
  ]);
});

test('tables that Java wrote take a snapshot, and keep everything else', () => {
  for (const { location, bytes } of goldenMetadata()) {
    const before = parseTableMetadata(bytes, location);
    const isV1 = before.formatVersion === 1;
    const snapshot = add(
      {
        sequenceNumber: isV1 ? 0n : before.lastSequenceNumber + 1n,
        timestampMs: before.lastUpdatedMs + 1,
        ...(before.nextRowId === undefined ? {} : { firstRowId: before.nextRowId, addedRows: 5n }),
      },
      before.formatVersion,
    );
    const context = { nowMs: before.lastUpdatedMs + 2, metadataLocationBefore: location };

    const after = applyTableUpdates(before, [snapshot, MAIN], context);

    const reread = parseTableMetadata(serializeTableMetadata(after, location), location);
    assert.equal(reread.currentSnapshotId, 8n);
    assert.equal(reread.snapshots.length, before.snapshots.length + 1);
    assert.equal(
      reread.nextRowId,
      before.nextRowId === undefined ? undefined : before.nextRowId + 5n,
    );
    for (const key of Object.keys(before.source)) {
      const isChanged = /^(last-|current-snap|snapshot|metadata-log|refs|next-row-id)/.test(key);
      const isKept = key === 'last-column-id' || key === 'last-partition-id' || !isChanged;
      if (isKept) assert.deepEqual(reread.source[key], before.source[key], key);
    }
  }
});

test('no updates leave the very same table', () => {
  const before = table();
  assert.equal(applyTableUpdates(before, [], CONTEXT), before);
});

test('a snapshot that no reference names is staged: it is added, and not logged', () => {
  const after = applyTableUpdates(table(), [add()], CONTEXT);

  assert.equal(after.currentSnapshotId, undefined);
  assert.equal(after.snapshots.length, 1);
  assert.equal(after.snapshotLog.length, 0);
});

test('a snapshot on another branch does not become current', () => {
  const after = applyTableUpdates(table(), [add(), { ...MAIN, refName: 'audit' }], CONTEXT);

  assert.equal(after.currentSnapshotId, undefined);
  assert.equal(after.refs.get('audit')?.snapshotId, 8n);
  assert.equal(after.snapshotLog.length, 0);
});

test('going back to an old snapshot is logged at the time of the change', () => {
  const first = applyTableUpdates(table(), [add(), MAIN], CONTEXT);
  const second = applyTableUpdates(
    first,
    [
      add({ snapshotId: 9n, sequenceNumber: 2n, timestampMs: NOW_MS + 1 }),
      { ...MAIN, snapshotId: 9n },
    ],
    { ...CONTEXT, nowMs: NOW_MS + 1 },
  );

  const back = applyTableUpdates(second, [MAIN], { ...CONTEXT, nowMs: NOW_MS + 2 });

  assert.deepEqual(
    back.snapshotLog.map(({ timestampMs, snapshotId }) => [timestampMs, snapshotId]),
    [
      [NOW_MS - 100, 8n],
      [NOW_MS + 1, 9n],
      [NOW_MS + 2, 8n],
    ],
  );
});

test('of several snapshots set in one commit only the last is logged', () => {
  const next = add({ snapshotId: 9n, sequenceNumber: 2n });

  const after = applyTableUpdates(
    table(),
    [add(), MAIN, next, { ...MAIN, snapshotId: 9n }],
    CONTEXT,
  );

  assert.deepEqual(
    after.snapshotLog.map(({ snapshotId }) => snapshotId),
    [9n],
  );
  assert.equal(after.lastSequenceNumber, 2n);
});

test('the metadata log keeps as many entries as the property says, at least one', () => {
  const entries = [1, 2, 3].map((n) => ({
    'metadata-file': `s3://m${n}`,
    'timestamp-ms': n,
    x: n,
  }));
  const filesKept = (max: string | undefined) => {
    const properties = max === undefined ? {} : { 'write.metadata.previous-versions-max': max };
    const after = applyTableUpdates(
      table({ 'metadata-log': entries, properties }),
      [add()],
      CONTEXT,
    );
    return after.metadataLog.map(({ metadataFile }) => metadataFile);
  };

  assert.deepEqual(filesKept('2'), ['s3://m3', LOCATION]);
  assert.deepEqual(filesKept('0'), [LOCATION]);
  assert.deepEqual(filesKept(undefined), ['s3://m1', 's3://m2', 's3://m3', LOCATION]);
  throwsKind(() => filesKept('many'), 'invalid-config', /previous-versions-max: value many/);
});

test('a reference keeps unknown keys and takes the retention of the update', () => {
  const refs = {
    main: {
      'snapshot-id': 7,
      type: 'branch',
      'max-ref-age-ms': 5,
      'min-snapshots-to-keep': 3,
      x: 1,
    },
  };
  const old = { 'snapshot-id': 7, 'timestamp-ms': 1, 'manifest-list': 's3://l' };
  const before = table({ 'current-snapshot-id': 7, snapshots: [old], refs });

  const after = applyTableUpdates(before, [add(), { ...MAIN, maxSnapshotAgeMs: 9 }], CONTEXT);

  assert.deepEqual(after.refs.get('main'), {
    type: 'branch',
    snapshotId: 8n,
    maxSnapshotAgeMs: 9,
    source: { x: 1, 'snapshot-id': 8n, type: 'branch', 'max-snapshot-age-ms': 9 },
  });
});

test('refuses snapshots that are behind the table as a conflict', () => {
  const behind = table({ 'last-sequence-number': 1 });
  throwsKind(
    () => applyTableUpdates(behind, [add()], CONTEXT),
    'commit-conflict',
    /1 does not exceed/,
  );
  const v3 = table({ 'format-version': 3, 'next-row-id': 10 });
  const low = add({ firstRowId: 9n, addedRows: 1n }, 3);
  throwsKind(
    () => applyTableUpdates(v3, [low], CONTEXT),
    'commit-conflict',
    /row id 9 is below .* 10/,
  );
});

test('refuses updates that cannot apply to the table', () => {
  const v1 = table({ 'format-version': 1 });
  const v3 = table({ 'format-version': 3, 'next-row-id': 10 });
  const tag: TableUpdate = { ...MAIN, refName: 't', type: 'tag' };
  const cases: readonly (readonly [TableMetadata, readonly TableUpdate[], RegExp])[] = [
    [table(), [add(), add({ sequenceNumber: 2n })], /already has a snapshot/],
    [table(), [MAIN], /snapshot 8 does not exist/],
    [table(), [add(), { ...MAIN, type: 'tag' }], /cannot become a tag/],
    [table(), [add(), tag, { ...tag, type: 'branch' }], /cannot become a branch/],
    [v1, [add({ sequenceNumber: 1n }, 1)], /must be 0/],
    [v3, [add({}, 3)], /without assigned row ids/],
  ];
  for (const [metadata, updates, message] of cases) {
    throwsKind(() => applyTableUpdates(metadata, updates, CONTEXT), 'commit-rejected', message);
  }
});

test('row ids are assigned from where the table stands, and must fit 64 bits', () => {
  const v3 = table({ 'format-version': 3, 'next-row-id': 10 });

  const after = applyTableUpdates(v3, [add({ firstRowId: 10n, addedRows: 7n }, 3)], CONTEXT);

  assert.equal(after.nextRowId, 17n);
  const huge = add({ firstRowId: 10n, addedRows: 2n ** 63n - 10n }, 3);
  throwsKind(() => applyTableUpdates(v3, [huge], CONTEXT), 'invalid-data', /does not fit 64 bits/);
});

test('a clock up to a minute behind the table is accepted, one further behind is not', () => {
  const at = (nowMs: number) =>
    applyTableUpdates(table(), [add({ timestampMs: nowMs }), MAIN], { ...CONTEXT, nowMs });

  assert.equal(at(BEFORE_MS - 60_000).lastUpdatedMs, BEFORE_MS - 60_000);
  throwsKind(() => at(BEFORE_MS - 60_001), 'commit-rejected', /metadata-log/);
  const future = [add({ timestampMs: NOW_MS + 60_001 }), MAIN];
  throwsKind(() => applyTableUpdates(table(), future, CONTEXT), 'commit-rejected', /snapshot-log/);
});

test('a v1 snapshot is written without sequence number', () => {
  const v1 = table({ 'format-version': 1 });
  const after = applyTableUpdates(v1, [add({ sequenceNumber: 0n }, 1), MAIN], CONTEXT);

  const text = decodeUtf8(serializeTableMetadata(after, LOCATION), 'text');

  const [snapshot] = (parseJson(text, 'text') as JsonObject)['snapshots'] as readonly JsonObject[];
  assert.equal(snapshot?.['sequence-number'], undefined);
});

test('a requirement of the table uuid holds without regard to case, and is never retried', () => {
  const uuid = '9c12d441-03fe-4693-9a96-a0705ddf69c1';
  checkRequirement(table(), { type: 'assert-table-uuid', uuid: uuid.toUpperCase() });
  const other = { type: 'assert-table-uuid', uuid: 'other' } as const;
  throwsKind(() => checkRequirement(table(), other), 'commit-rejected', /expected other/);
  const old = table({ 'format-version': 1, 'table-uuid': null });
  throwsKind(() => checkRequirement(old, other), 'commit-rejected', /uuid is absent/);
});

test('a requirement of a reference holds where it points, or does not exist, as expected', () => {
  const after = applyTableUpdates(table(), [add(), MAIN], CONTEXT);
  const main = { type: 'assert-ref-snapshot-id', ref: 'main' } as const;
  checkRequirement(after, { ...main, snapshotId: 8n });
  checkRequirement(table(), main);
  throwsKind(() => checkRequirement(after, main), 'commit-conflict', /8, expected nothing/);
  throwsKind(
    () => checkRequirement(table(), { ...main, snapshotId: 8n }),
    'commit-conflict',
    /nothing, expected 8/,
  );
});
