import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DEFAULT_GUARD_SETTINGS,
  fileAgeRule,
  type GuardSettings,
} from '../../shared/guards/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import {
  type ExampleSnapshot,
  type ExampleTable,
  exampleTable,
  HOUR_MS,
  MINUTE_MS,
  NOW_MS,
} from './guard-fixture.ts';

function rule(table: ExampleTable, settings: Partial<GuardSettings> = {}) {
  return fileAgeRule({
    metadata: exampleTable(table),
    settings: { ...DEFAULT_GUARD_SETTINGS, ...settings },
    nowMs: NOW_MS,
  });
}

/** Commits at the given distances, the last of them now. */
function commitsApart(gapsMs: readonly number[]): ExampleSnapshot[] {
  let agoMs = gapsMs.reduce((sum, gapMs) => sum + gapMs, 0);
  return [0, ...gapsMs].map((gapMs, index) => {
    agoMs -= gapMs;
    return { id: index + 1, agoMs };
  });
}

describe('fileAgeRule', () => {
  it('leaves a file alone until its adding snapshot is old enough, to the millisecond', () => {
    const table = {
      snapshots: [
        { id: 1, agoMs: HOUR_MS },
        { id: 2, agoMs: HOUR_MS - 1 },
      ],
      properties: { 'firn.min-file-age-ms': String(HOUR_MS) },
    };

    const { dueAtMs } = rule(table);

    assert.equal(dueAtMs(1n), undefined);
    assert.equal(dueAtMs(2n), NOW_MS + 1);
  });

  it('takes a file as old whose adding snapshot has expired', () => {
    const { dueAtMs } = rule({ snapshots: [{ id: 2, agoMs: 0 }] });

    assert.equal(dueAtMs(1n), undefined);
    assert.equal(dueAtMs(2n), NOW_MS + 2 * HOUR_MS);
  });

  it('takes twice the 95th percentile of the gaps', () => {
    // 19 gaps of 10 minutes and one of an hour: one in twenty may be longer.
    const gaps = [...new Array<number>(19).fill(10 * MINUTE_MS), HOUR_MS];

    assert.equal(rule({ snapshots: commitsApart(gaps) }).minFileAgeMs, 20 * MINUTE_MS);
    assert.equal(
      rule({ snapshots: commitsApart([...gaps.slice(1), HOUR_MS - 1]) }).minFileAgeMs,
      2 * (HOUR_MS - 1),
    );
  });

  it('looks at the last 50 foreign commits only', () => {
    const gaps = [
      ...new Array<number>(30).fill(HOUR_MS),
      ...new Array<number>(49).fill(12 * MINUTE_MS),
    ];

    assert.equal(rule({ snapshots: commitsApart(gaps) }).minFileAgeMs, 24 * MINUTE_MS);
  });

  it('does not take own commits for those of a writer', () => {
    const own = { id: 99, agoMs: MINUTE_MS, summary: { 'firn.run-id': 'r' } };

    const { minFileAgeMs } = rule({
      snapshots: [...commitsApart([30 * MINUTE_MS, 30 * MINUTE_MS]), own],
    });

    assert.equal(minFileAgeMs, HOUR_MS);
  });

  it('stays between the floor and the longest derived age', () => {
    assert.equal(rule({ snapshots: commitsApart([1000, 1000]) }).minFileAgeMs, 15 * MINUTE_MS);
    assert.equal(rule({ snapshots: commitsApart([24 * HOUR_MS]) }).minFileAgeMs, 2 * HOUR_MS);
  });

  it('takes the longest derived age where there is no gap to go by', () => {
    assert.equal(rule({ snapshots: [] }).minFileAgeMs, 2 * HOUR_MS);
    assert.equal(rule({ snapshots: commitsApart([]) }).minFileAgeMs, 2 * HOUR_MS);
  });

  it('lets the table ask for more than the deployment, and not for less', () => {
    const table = (ageMs: number) => ({
      snapshots: [],
      properties: { 'firn.min-file-age-ms': String(ageMs) },
    });

    assert.equal(rule(table(24 * HOUR_MS)).minFileAgeMs, 24 * HOUR_MS);
    assert.equal(rule(table(0)).minFileAgeMs, 15 * MINUTE_MS);
    assert.equal(rule(table(0), { minFileAgeMsFloor: 0 }).minFileAgeMs, 0);
  });

  it('lets a person decide otherwise for a run, also about files from a clock ahead of ours', () => {
    const table = {
      snapshots: [{ id: 1, agoMs: -MINUTE_MS }],
      properties: { 'firn.min-file-age-ms': String(HOUR_MS) },
    };

    const { minFileAgeMs, dueAtMs } = rule(table, { overrides: { minFileAgeMs: 0 } });

    assert.equal(minFileAgeMs, 0);
    assert.equal(dueAtMs(1n), undefined);
  });

  it('refuses a malformed property', () => {
    const properties = { 'firn.min-file-age-ms': '15m' };

    assert.throws(() => rule({ snapshots: [], properties }), errorOfKind('invalid-config', /15m/));
  });
});
