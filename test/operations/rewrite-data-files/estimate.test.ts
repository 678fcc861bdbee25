import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countingCatalog } from '../../../shared/catalog/index.ts';
import type { FileOfSpec } from '../../../shared/iceberg/index.ts';
import {
  estimateUsage,
  type PlannedGroup,
  parseRewriteDataFilesOptions,
  type RewriteDataFilesPlan,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { countingStore, MemoryObjectStore } from '../../../shared/storage/index.ts';
import {
  append,
  commitDeletes,
  createWarehouse as createDeletesWarehouse,
  type Warehouse as DeletesWarehouse,
  equalityDelete,
  fileScopedDelete,
  partitionScopedDelete,
  vectors,
} from '../rewrite-deletes/deletes-fixture.ts';
import { compact } from './compact-deletes.ts';
import { createWarehouse, rewrite } from './rewrite-fixture.ts';

const MIB = 1024 ** 2;
const NO_REQUESTS = countingStore(new MemoryObjectStore()).requestCounts;

function group(specId: number, fileSizesBytes: readonly number[], outputCount = 1): PlannedGroup {
  return {
    groupIndex: 0,
    specId,
    partitionKey: `${specId}:`,
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
      formatVersion: 2,
      deletesTreatment: 'auto',
    },
    scope: { kind: 'full', reason: 'requested' },
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
      dynamoDbReadCount: 8,
      dynamoDbWriteCount: 14,
      lambdaInvocationCount: 1,
      // A round of reads of 30 ms in each group, both at once; 5 files; 7 MiB at 40 KiB a millisecond; the commit.
      lambdaDurationMs: 30 + 5 * 8 + (7 * 1024) / 40 + 2000,
      lambdaMemoryMib: 1769,
    });
  });

  it('takes the time that 500 files of 40 KiB in five groups take, as they do in a bench', () => {
    const files = Array.from({ length: 100 }, () => 40 * 1024);
    const plan = planOf(Array.from({ length: 5 }, () => group(0, files)));

    const { lambdaDurationMs } = estimateUsage({ plan, requests: NO_REQUESTS });

    // Seven rounds of reads for each group, two groups at a time; 500 files; 20 MB; the commit.
    assert.equal(lambdaDurationMs, (5 * 7 * 30) / 2 + 500 * 8 + 500 + 2000);
  });

  it('takes longer for rows that are to be left out than for pages that are copied', () => {
    const plain = group(0, [12 * MIB]);
    const fileScoped = { fileCount: 1, rowCount: 5, bytes: 100 };
    const none = { fileCount: 0, rowCount: 0, bytes: 0 };
    const deletes = { fileScoped, partitionScoped: none, equality: none };
    const files = plain.files.map((file) => ({ ...file, deletes }));

    const durationOf = (planned: PlannedGroup): number =>
      estimateUsage({ plan: planOf([planned]), requests: NO_REQUESTS }).lambdaDurationMs;

    // Two ranges and the footer; 12 MiB at 40 or 12 KiB a millisecond; one small delete file.
    assert.equal(durationOf(plain), 3 * 30 + 8 + (12 * 1024) / 40 + 2000);
    assert.equal(durationOf({ ...plain, files, deletes }), 3 * 30 + 30 / 16 + 4 + 8 + 1024 + 2000);
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
      const options = { formatVersion, properties };
      const observed = await rewrite(await createWarehouse(options), {}, { mode: 'observe' });
      assert.equal(observed.outcome, 'observed');
      const usage = estimateUsage(observed);
      const warehouse = await createWarehouse(options);
      const catalog = countingCatalog(warehouse.catalog);

      const { requests } = await rewrite(warehouse, {}, { ports: { catalog } });

      const inCatalog = catalog.requestCounts;
      const inLedger = warehouse.ledger.requestCounts;
      // The metadata file is read before the operation begins to count.
      assert.equal(requests.head + requests.read + requests.readRange + 1, usage.s3GetCount);
      assert.equal(requests.write + requests.openWriter, usage.s3PutCount);
      assert.equal(inCatalog.readCount + inLedger.readCount + 1, usage.dynamoDbReadCount);
      assert.equal(inCatalog.writeCount + inLedger.writeCount, usage.dynamoDbWriteCount);
    });
  }

  for (const [name, formatVersion, treatment] of [
    ['file-scoped', 2, 'purge'],
    ['file-scoped', 2, 'carry'],
    ['partition-scoped', 2, 'purge'],
    ['equality', 2, 'purge'],
    ['equality', 2, 'carry'],
    ['vectors', 3, 'purge'],
    ['vectors', 3, 'carry'],
    ['equality', 3, 'carry'],
  ] as const) {
    it(`foretells the requests of a v${formatVersion} run that has to ${treatment} rows deleted by ${name} deletes`, async () => {
      const warehouse = await createDeletesWarehouse({
        formatVersion,
        properties: { 'firn.rewrite-data-files.deletes': treatment },
      });
      await deleteRows(warehouse, name);
      const observed = await compact(warehouse, {}, { mode: 'observe' });
      assert.equal(observed.outcome, 'observed');
      const usage = estimateUsage(observed);

      const { requests } = await compact(warehouse);

      assert.deepEqual(
        {
          gets: requests.head + requests.read + requests.readRange + 1,
          puts: requests.write + requests.openWriter,
        },
        { gets: usage.s3GetCount, puts: usage.s3PutCount },
      );
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

/** Rows of two of six files. */
async function deleteRows(
  warehouse: DeletesWarehouse,
  kind: 'file-scoped' | 'partition-scoped' | 'equality' | 'vectors',
): Promise<void> {
  const files: FileOfSpec[] = [];
  for (let index = 0; index < 6; index++) files.push(await append(warehouse, index * 100));
  const [one, two] = [files[0]!, files[1]!];
  const deletes = [
    { file: one, positions: [1, 2] },
    { file: two, positions: [3] },
  ];
  switch (kind) {
    case 'vectors':
      return commitDeletes(warehouse, await vectors(warehouse, deletes));
    case 'partition-scoped':
      await commitDeletes(warehouse, [await partitionScopedDelete(warehouse, deletes)]);
      // Outputs are younger than the deletes then.
      await append(warehouse, 900);
      return;
    case 'equality':
      return commitDeletes(warehouse, [
        await equalityDelete(warehouse, one, [{ 1: 1n }, { 1: 103n }]),
      ]);
    case 'file-scoped':
      return commitDeletes(warehouse, [
        await fileScopedDelete(warehouse, one, [1, 2]),
        await fileScopedDelete(warehouse, two, [3]),
      ]);
  }
}
