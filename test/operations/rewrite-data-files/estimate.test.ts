import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  estimateUsage,
  type PlannedGroup,
  parseRewriteDataFilesOptions,
  type RewriteDataFilesPlan,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { countingStore, MemoryObjectStore } from '../../../shared/storage/index.ts';
import { createWarehouse, rewrite } from './rewrite-fixture.ts';

const MIB = 1024 ** 2;
const NO_REQUESTS = countingStore(new MemoryObjectStore()).requestCounts;

function group(specId: number, fileSizesBytes: readonly number[], outputCount = 1): PlannedGroup {
  return {
    groupIndex: 0,
    specId,
    partition: '',
    files: fileSizesBytes.map((fileSizeBytes, index) => ({
      filePath: `s3://bucket/t/data/${index}.parquet`,
      manifestPath: 's3://bucket/t/metadata/m0.avro',
      fileSizeBytes,
      recordCount: 10,
      dataSequenceNumber: 1n,
      reason: 'too-small',
    })),
    inputBytes: fileSizesBytes.reduce((sum, size) => sum + size, 0),
    recordCount: fileSizesBytes.length * 10,
    outputSizeBytes: 512 * MIB,
    outputFileCountExpected: outputCount,
    reason: 'enough-input-files',
  };
}

function planOf(groups: readonly PlannedGroup[]): RewriteDataFilesPlan {
  return {
    base: {
      tableUuid: 'uuid',
      metadataLocation: 's3://bucket/t/metadata/v1.metadata.json',
      branch: 'main',
      startingSnapshotId: 1n,
      startingSequenceNumber: 1n,
      verifiesRows: false,
    },
    options: parseRewriteDataFilesOptions({}, 512 * MIB),
    groups,
    scanned: { fileCount: 0, bytes: 0 },
    skippedFiles: {},
    skippedGroups: {},
  };
}

describe('estimateUsage', () => {
  it('counts every request of a small plan', () => {
    const plan = planOf([group(0, [MIB, MIB, MIB]), group(1, [2 * MIB, 2 * MIB])]);

    const usage = estimateUsage({ plan, requests: { ...NO_REQUESTS, read: 4, head: 1 } });

    assert.deepEqual(usage, {
      // Metadata 1, planning 5, inputs 5, outputs 2 (HEAD and GET), manifests 4, list and metadata 2.
      s3GetCount: 1 + 5 + 5 + 2 * 2 + 4 + 2,
      // Outputs 2, manifests 4, list and metadata 2.
      s3PutCount: 2 + 4 + 2,
      dynamoDbReadCount: 2,
      dynamoDbWriteCount: 1,
      lambdaInvocationCount: 1,
      // Five reads of 30 ms, two at a time; 7 MiB at 40 KiB a millisecond; the commit.
      lambdaDurationMs: 75 + (7 * 1024) / 40 + 2000,
      lambdaMemoryMib: 1769,
    });
  });

  it('counts ranges and parts of large files', () => {
    const plan = planOf([group(0, [100 * MIB, 100 * MIB], 2)]);

    const usage = estimateUsage({ plan, requests: NO_REQUESTS });

    // Each file of 100 MiB: its footer and 13 ranges of 8 MiB; written as 13 parts, with a beginning and an end.
    assert.equal(usage.s3GetCount, 1 + 2 * 14 + 2 * (1 + 14) + 2 + 2);
    assert.equal(usage.s3PutCount, 2 * 15 + 2 + 2);
  });

  for (const [formatVersion, verify] of [
    [1, 'standard'],
    [2, 'standard'],
    [3, 'standard'],
    [3, 'rows'],
  ] as const) {
    it(`foretells the requests of a run on a v${formatVersion} table of small files exactly, verify ${verify}`, async () => {
      const properties = { 'firn.verify': verify };
      const observing = await createWarehouse({ formatVersion, properties });
      const observed = await rewrite(observing, {}, { mode: 'observe' });
      assert.equal(observed.outcome, 'observed');
      const usage = estimateUsage(observed);

      const { requests } = await rewrite(observing);

      // The metadata file is read before the operation begins to count.
      assert.equal(requests.head + requests.read + requests.readRange + 1, usage.s3GetCount);
      assert.equal(requests.write + requests.openWriter, usage.s3PutCount);
    });
  }

  it('foretells within a tenth what a run of hundreds of files takes', async () => {
    const warehouse = await createWarehouse();
    const files = Array.from({ length: 300 }, (_, index) => ({
      rows: [{ 1: BigInt(1000 + index), 2: `r${index % 30}`, 3: 1 }],
      partition: [`r${index % 30}`],
    }));
    await warehouse.builder.append(files);
    const observed = await rewrite(warehouse, {}, { mode: 'observe' });
    assert.equal(observed.outcome, 'observed');
    const usage = estimateUsage(observed);

    const { requests } = await rewrite(warehouse);

    const getCount = requests.head + requests.read + requests.readRange + 1;
    assert.ok(Math.abs(getCount - usage.s3GetCount) <= getCount / 10, `${getCount} GETs`);
    const putCount = requests.write + requests.openWriter;
    assert.ok(Math.abs(putCount - usage.s3PutCount) <= putCount / 10, `${putCount} PUTs`);
  });
});
