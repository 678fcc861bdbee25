import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isIcebergError } from '../../../shared/base/index.ts';
import { crc32 } from '../../../shared/bytes/index.ts';
import { compress } from '../../../shared/compress/index.ts';
import type { ManifestTally } from '../../../shared/operations/rewrite-data-files/manifest-tally.ts';
import type { PlanState } from '../../../shared/operations/rewrite-data-files/plan-state.ts';
import {
  parsePlanState,
  serializePlanState,
} from '../../../shared/operations/rewrite-data-files/plan-state-bytes.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';

const SEED = 20261130;

const hashes = fc
  .uniqueArray(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { maxLength: 20 })
  .map((values) => Uint32Array.from(values).sort());

const counts = fc.maxSafeNat();

const tallies: fc.Arbitrary<ManifestTally> = fc.record(
  {
    manifestPath: fc.string({ unit: 'grapheme' }).map((name) => `s3://bucket/${name}.avro`),
    content: fc.constantFrom('data', 'deletes'),
    hasGlobalDeletes: fc.boolean(),
    fileCount: counts,
    bytes: counts,
    rowGroupCount: counts,
    recordCount: counts,
    markedPartitions: hashes,
    otherPartitions: hashes,
  },
  { noNullPrototype: true },
);

const states: fc.Arbitrary<PlanState> = fc.record(
  {
    tableUuid: fc.oneof(fc.constant(''), fc.uuid()),
    branch: fc.constantFrom('main', 'größer'),
    optionsText: fc.json(),
    snapshotId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fullAtMs: counts,
    duePartitions: hashes,
    manifests: fc.array(tallies, { maxLength: 6 }),
  },
  { noNullPrototype: true },
);

function stateOf(manifests: readonly ManifestTally[]): PlanState {
  return {
    tableUuid: 'uuid',
    branch: 'main',
    optionsText: '{}',
    snapshotId: 7n,
    fullAtMs: 1_000,
    duePartitions: Uint32Array.of(1, 2 ** 32 - 1),
    manifests,
  };
}

function tallyOf(partitionCount: number): ManifestTally {
  return {
    manifestPath: 's3://bucket/m.avro',
    content: 'data',
    hasGlobalDeletes: false,
    fileCount: 2,
    bytes: 30,
    rowGroupCount: 2,
    recordCount: 4,
    markedPartitions: new Uint32Array(partitionCount),
    otherPartitions: Uint32Array.of(9),
  };
}

describe('the bytes of a plan state', () => {
  it('give the state back', () => {
    fc.assert(
      fc.property(states, (state) => {
        assert.deepEqual(parsePlanState(serializePlanState(state)!, 'state'), state);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('are refused or read when any of them is another one, and never worse', () => {
    const bytes = serializePlanState(stateOf([tallyOf(3), tallyOf(0)]))!;
    for (let offset = 0; offset < bytes.length; offset++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const damaged = Uint8Array.from(bytes);
        damaged[offset]! ^= flip;
        assert.throws(
          () => parsePlanState(damaged, 'state'),
          (error) => isIcebergError(error, 'invalid-data') || isIcebergError(error, 'unsupported'),
        );
      }
      assert.throws(
        () => parsePlanState(bytes.subarray(0, offset), 'state'),
        errorOfKind('invalid-data'),
      );
    }
  });

  it('are refused where a count exceeds what is there', () => {
    // Three empty texts, a snapshot id, a time, and a count of hashes.
    const body = Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, 0x0f);

    assert.throws(
      () => parsePlanState(file(body, 1), 'state'),
      errorOfKind('invalid-data', /4294967295 hashes in 0 bytes/),
    );
  });

  it('are refused with flags that nobody knows', () => {
    const body = Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 1, 0, 4);

    assert.throws(
      () => parsePlanState(file(body, 1), 'state'),
      errorOfKind('invalid-data', /flags 4/),
    );
  });

  it('are refused when another version wrote them', () => {
    assert.throws(
      () => parsePlanState(file(new Uint8Array(), 2), 'state'),
      errorOfKind('unsupported', /version is 2, not 1/),
    );
  });

  it('are not made of more than 32 MiB', () => {
    assert.notEqual(serializePlanState(stateOf([tallyOf(2 ** 20)])), undefined);
    assert.equal(serializePlanState(stateOf([tallyOf(2 ** 23)])), undefined);
  });
});

function file(body: Uint8Array, version: number): Uint8Array {
  const stored = compress('zstd', body);
  const bytes = new Uint8Array(10 + stored.length);
  bytes.set(new TextEncoder().encode('FRNP'));
  const view = new DataView(bytes.buffer);
  view.setUint16(4, version, true);
  view.setUint32(6, crc32(stored), true);
  bytes.set(stored, 10);
  return bytes;
}
