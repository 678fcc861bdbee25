import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DynamoDBRecord } from 'aws-lambda';
import { parseCatalogRecord } from '../../events/index.ts';
import type { ItemChange } from '../../local/dynamodb-endpoint/index.ts';
import { ItemStream, type StreamFaults, type StreamViewType } from '../../local/stream/index.ts';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';

const KEYS = { identifier: { S: 'demo.events' }, namespace: { S: 'demo' } };
const OLD = { ...KEYS, v: { S: '1' } };
const NEW = { ...KEYS, v: { S: '22' } };
const START_MS = Date.UTC(2026, 10, 30, 12, 0, 0, 789);

function open(
  options: {
    readonly viewType?: StreamViewType;
    readonly shardCount?: number;
    readonly faults?: StreamFaults;
    readonly seed?: number;
  } = {},
) {
  const clock = new ManualClock(START_MS);
  const stream = new ItemStream({
    tableName: 'iceberg',
    region: 'us-east-1',
    viewType: options.viewType ?? 'KEYS_ONLY',
    shardCount: options.shardCount ?? 1,
    clock,
    random: seededRandom(options.seed ?? 1),
    ...(options.faults === undefined ? {} : { faults: options.faults }),
  });
  const takeAll = (): DynamoDBRecord[] => stream.shards.flatMap((shard) => shard.take(10_000));
  return { clock, stream, takeAll };
}

function changeOf(table: string): ItemChange {
  const keys = { identifier: { S: `demo.${table}` }, namespace: { S: 'demo' } };
  return { tableName: 'iceberg', keys, newImage: keys };
}

function sequenceNumbers(records: readonly DynamoDBRecord[]): bigint[] {
  return records.map(({ dynamodb }) => BigInt(dynamodb?.SequenceNumber ?? -1));
}

describe('ItemStream', () => {
  for (const [viewType, images] of [
    ['KEYS_ONLY', {}],
    ['NEW_IMAGE', { NewImage: NEW }],
    ['OLD_IMAGE', { OldImage: OLD }],
    ['NEW_AND_OLD_IMAGES', { NewImage: NEW, OldImage: OLD }],
  ] as const) {
    test(`has the images of the view type ${viewType} in its records`, () => {
      const { stream, takeAll } = open({ viewType });

      stream.append({ tableName: 'iceberg', keys: KEYS, oldImage: OLD, newImage: NEW });

      const [record] = takeAll();
      const { SizeBytes, ...dynamodb } = record?.dynamodb ?? {};
      assert.deepEqual(dynamodb, {
        ApproximateCreationDateTime: Math.floor(START_MS / 1000),
        Keys: KEYS,
        ...images,
        SequenceNumber: '100000000000000000001',
        StreamViewType: viewType,
      });
      assert.equal(
        SizeBytes,
        34 + ('NewImage' in images ? 37 : 0) + ('OldImage' in images ? 36 : 0),
      );
      assert.match(record?.eventID ?? '', /^[0-9a-f]{32}$/);
      assert.equal(
        record?.eventSourceARN,
        'arn:aws:dynamodb:us-east-1:000000000000:table/iceberg/stream/2026-11-30T12:00:00.789',
      );
    });
  }

  test('names inserts, changes and removals, in records that the router understands', () => {
    const { stream, takeAll } = open({ viewType: 'NEW_AND_OLD_IMAGES' });
    const change = { tableName: 'iceberg', keys: KEYS };

    stream.append({ ...change, newImage: OLD });
    stream.append({ ...change, oldImage: OLD, newImage: NEW });
    stream.append({ ...change, oldImage: NEW });

    const parsed = takeAll().map((record) => parseCatalogRecord(record));
    assert.deepEqual(
      parsed.map((each) => each.isValid && [each.value.eventName, each.value.subject]),
      ['INSERT', 'MODIFY', 'REMOVE'].map((name) => [name, { kind: 'table', table: 'demo.events' }]),
    );
  });

  test('keeps the records of an item in one shard, in order', () => {
    const { stream } = open({ shardCount: 3 });
    for (let round = 0; round < 5; round++) {
      for (let table = 0; table < 20; table++) stream.append(changeOf(`t${table}`));
    }

    const shardOf = new Map<string, number>();
    for (const [index, shard] of stream.shards.entries()) {
      const records = shard.take(1_000);
      assert.ok(records.length > 0);
      const numbers = sequenceNumbers(records);
      assert.deepEqual(
        numbers,
        numbers.toSorted((one, other) => (one < other ? -1 : 1)),
      );
      for (const { dynamodb } of records) {
        const table = dynamodb?.Keys?.['identifier']?.S ?? '';
        assert.equal(shardOf.get(table) ?? index, index);
        shardOf.set(table, index);
      }
    }
    assert.equal(shardOf.size, 20);
  });
});

describe('faults of a stream', () => {
  function run(faults: StreamFaults, seed = 5) {
    const { clock, stream, takeAll } = open({ faults, seed });
    for (let count = 0; count < 1_000; count++) {
      stream.append(changeOf('t'));
      clock.advanceMs(10);
    }
    const atOnce = takeAll();
    clock.advanceMs(60_000);
    return { atOnce: sequenceNumbers(atOnce), late: sequenceNumbers(takeAll()) };
  }

  test('lose about as many records as they are told to, and no other', () => {
    const { atOnce, late } = run({ lossFraction: 0.25 });

    assert.deepEqual(late, []);
    assert.ok(atOnce.length > 700 && atOnce.length < 800, `${atOnce.length}`);
    assert.equal(new Set(atOnce).size, atOnce.length);
  });

  test('double records, the second one later', () => {
    const { atOnce, late } = run({ duplicateFraction: 0.25, delayMsMax: 60_000 });

    const all = [...atOnce, ...late];
    assert.equal(new Set(all).size, 1_000);
    assert.ok(all.length > 1_200 && all.length < 1_300, `${all.length}`);
    assert.ok(late.length > 100);
  });

  test('hold records back for as long as they are told to, and so reorder them', () => {
    const { atOnce, late } = run({ delayFraction: 0.5, delayMsMax: 5_000 });

    assert.equal(atOnce.length + late.length, 1_000);
    assert.equal(new Set([...atOnce, ...late]).size, 1_000);
    const overtakenCount = atOnce.filter(
      (number, index) => number < (atOnce[index - 1] ?? 0n),
    ).length;
    assert.ok(overtakenCount > 100, `${overtakenCount}`);
  });

  test('come again with the seed', () => {
    const faults = {
      lossFraction: 0.1,
      duplicateFraction: 0.2,
      delayFraction: 0.3,
      delayMsMax: 900,
    };

    assert.deepEqual(run(faults, 8), run(faults, 8));
    assert.notDeepEqual(run(faults, 8), run(faults, 9));
  });
});
