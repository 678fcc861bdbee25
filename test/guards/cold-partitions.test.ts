import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  coldPartitionRule,
  DEFAULT_GUARD_SETTINGS,
  type GuardSettings,
} from '../../shared/guards/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { type ExampleTable, exampleTable, HOUR_MS, MINUTE_MS, NOW_MS } from './guard-fixture.ts';

const AGE = { 'firn.min-file-age-ms': String(30 * MINUTE_MS) };

function rule(table: ExampleTable, settings: Partial<GuardSettings> = {}) {
  return coldPartitionRule({
    metadata: exampleTable(table),
    branch: 'main',
    settings: { ...DEFAULT_GUARD_SETTINGS, ...settings },
    nowMs: NOW_MS,
  });
}

function touchingIds(table: ExampleTable, settings: Partial<GuardSettings> = {}): bigint[] {
  return rule(table, settings).touchingSnapshots.map(({ snapshotId }) => snapshotId);
}

describe('coldPartitionRule', () => {
  it('asks for twice the minimum file age, to the millisecond', () => {
    const table: ExampleTable = {
      properties: AGE,
      snapshots: [
        { id: 1, agoMs: HOUR_MS, operation: 'delete' },
        { id: 2, agoMs: HOUR_MS - 1, operation: 'delete', parent: 1 },
      ],
    };

    const found = rule(table);

    assert.equal(found.coldAgeMs, HOUR_MS);
    assert.deepEqual(touchingIds(table), [2n]);
    assert.equal(found.dueAtMs({ timestampMs: NOW_MS - HOUR_MS + 1 }), NOW_MS + 1);
  });

  it('counts deletes, overwrites and what says nothing, but neither appends nor replaces', () => {
    const snapshots = ['append', 'delete', 'replace', 'overwrite', 'merge'].map(
      (operation, index) => ({
        id: index + 1,
        agoMs: MINUTE_MS,
        operation,
        ...(index === 0 ? {} : { parent: index }),
      }),
    );

    assert.deepEqual(touchingIds({ properties: AGE, snapshots }), [5n, 4n, 2n]);
  });

  it('leaves out what Firn did, and what happened to other branches', () => {
    const summary = { 'firn.run-id': 'run' };
    const snapshots = [
      { id: 1, agoMs: MINUTE_MS, operation: 'delete', summary },
      { id: 2, agoMs: MINUTE_MS, operation: 'delete', parent: 1 },
      { id: 3, agoMs: MINUTE_MS, operation: 'delete', parent: 2 },
    ];

    assert.deepEqual(touchingIds({ properties: AGE, snapshots, main: 2, branches: { audit: 3 } }), [
      2n,
    ]);
  });

  it('takes everything as cold where the minimum file age is nothing', () => {
    const overrides = { minFileAgeMs: 0 };
    const snapshots = [{ id: 1, agoMs: 0, operation: 'delete' }];

    assert.equal(rule({ snapshots }, { overrides }).coldAgeMs, 0);
    assert.deepEqual(touchingIds({ snapshots }, { overrides }), []);
  });

  it('refuses a malformed age', () => {
    const properties = { 'firn.min-file-age-ms': 'soon' };

    assert.throws(() => rule({ snapshots: [], properties }), errorOfKind('invalid-config'));
  });
});
