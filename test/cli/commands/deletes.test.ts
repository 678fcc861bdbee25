import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DeletesRequest, deletes } from '../../../cli/commands/deletes.ts';
import { type TableWriter, writeParquetDataFile } from '../../../local/table-writer/index.ts';
import type { JsonObject } from '../../../shared/base/index.ts';
import { createSchema, type FileOfSpec } from '../../../shared/iceberg/index.ts';
import type { Warehouse } from '../../../shared/warehouse/index.ts';
import {
  type Answer,
  answerOf,
  createTable,
  FIELDS,
  LOWERED_GUARDS,
  type MemoryWarehouse,
  memoryWarehouse,
  smallFiles,
} from '../command-fixture.ts';

function runDeletes(
  warehouse: Warehouse,
  request: Partial<DeletesRequest> = {},
  options: Parameters<typeof answerOf>[2] = {},
): Promise<Answer> {
  return answerOf(
    (session) =>
      deletes(
        {
          table: 'db.orders',
          branch: 'main',
          dryRun: false,
          optionTexts: [],
          guards: LOWERED_GUARDS,
          ...request,
        },
        session,
      ),
    warehouse,
    options,
  );
}

/** Deletes the row with an id from the files around one. */
async function deleteById(
  { store }: MemoryWarehouse,
  writer: TableWriter,
  { file, id }: { readonly file: FileOfSpec; readonly id: bigint },
): Promise<void> {
  const fields = FIELDS.slice(0, 1);
  const written = writeParquetDataFile(createSchema(0, fields), [{ 1: id }]);
  const filePath = `${file.dataFile.filePath}.${id}.deletes`;
  await store.write(filePath, written.bytes);
  const { partition } = file.dataFile;
  const content = 'equality-deletes' as const;
  const dataFile = { ...written.fields, content, filePath, partition, equalityIds: [1] };
  const addedManifests = [[{ specId: file.specId, dataFile }]];
  await writer.commit({ operation: 'delete', addedManifests });
}

async function tableWithDeletes(warehouse: MemoryWarehouse): Promise<TableWriter> {
  const writer = await createTable(warehouse, 'db.orders', { formatVersion: 3 });
  const [file] = await writer.append(smallFiles(['eu', 'us']));
  await deleteById(warehouse, writer, { file: file!, id: 0n });
  return writer;
}

describe('deletes --dry-run', () => {
  it('prints the plan, the reasons for what is taken and left, and a price', async () => {
    const warehouse = memoryWarehouse();
    const writer = await tableWithDeletes(warehouse);
    const { currentSnapshotId } = (await writer.load()).metadata;

    const { exitCode, lines } = await runDeletes(warehouse, { dryRun: true });

    assert.equal(exitCode, 0);
    assert.deepEqual(lines.slice(0, 5), [
      `db.orders: 2 data files in snapshot ${currentSnapshotId} of main (v3)`,
      'deletes: 0 vectors in 0 Puffin files, 0 position delete files, 1 equality delete file; 1 row, 156 B',
      'to rewrite: 1 delete file into 1 at most, in 1 group',
      '  partition  delete files  new, at most   read  why',
      '  region=eu             1             1  172 B  many deleted rows',
    ]);
    assert.match(lines[6] ?? '', /^estimated price on AWS: \$0\.0000\d+/);
    assert.deepEqual(lines.slice(-2), ['dry run: nothing was written', 'took 0 ms']);
  });

  it('changes nothing', async () => {
    const warehouse = memoryWarehouse();
    const writer = await tableWithDeletes(warehouse);
    const before = (await writer.load()).pointer;

    await runDeletes(warehouse, { dryRun: true });

    assert.deepEqual((await writer.load()).pointer, before);
  });

  it('says what is left alone, and until when', async () => {
    const warehouse = memoryWarehouse();
    await tableWithDeletes(warehouse);

    const { exitCode, lines } = await runDeletes(warehouse, {
      dryRun: true,
      guards: { ...LOWERED_GUARDS, minFileAgeMs: 60_000 },
    });

    assert.equal(exitCode, 3);
    assert.deepEqual(lines.slice(2, 7), [
      'to rewrite: nothing',
      'left alone',
      '  delete files  partitions  why',
      '             1           1  other jobs have deleted rows there lately',
      'the first of them may be rewritten at 2026-11-30 12:02:00Z, or now with --min-file-age-ms 0',
    ]);
  });

  it('is one document with --json', async () => {
    const warehouse = memoryWarehouse();
    await tableWithDeletes(warehouse);

    const { document } = await runDeletes(warehouse, { dryRun: true }, { isJson: true });

    assert.equal(document?.['outcome'], 'observed');
    assert.ok(document['estimate'] !== undefined);
    assert.equal((document['plan'] as JsonObject)['planVersion'], 1);
  });
});

describe('deletes', () => {
  it('commits, and tells what went and what came', async () => {
    const warehouse = memoryWarehouse();
    const writer = await tableWithDeletes(warehouse);

    const { exitCode, lines } = await runDeletes(warehouse);

    const { currentSnapshotId } = (await writer.load()).metadata;
    assert.equal(exitCode, 0);
    assert.ok(
      lines.includes(`db.orders: committed snapshot ${currentSnapshotId} with 1 group`),
      lines.join('\n'),
    );
    assert.ok(lines.some((line) => /^delete files 1 -> 1 \(\d+ B new\)$/.test(line)));
    const again = await runDeletes(warehouse);
    assert.equal(again.exitCode, 3);
    assert.ok(again.lines.includes('db.orders: nothing to do'));
  });

  it('leaves what is too little, and takes it when it is asked to', async () => {
    const warehouse = memoryWarehouse();
    await tableWithDeletes(warehouse);

    const few = await runDeletes(warehouse, { optionTexts: ['delete-ratio-threshold=0.9'] });
    const asked = await runDeletes(warehouse, {
      optionTexts: ['delete-ratio-threshold=0.9', 'rewrite-all=true'],
    });

    assert.equal(few.exitCode, 3);
    assert.ok(few.lines.some((line) => line.includes('too few to be worth it')));
    assert.equal(asked.exitCode, 0);
  });

  it('refuses options that it does not know', async () => {
    const warehouse = memoryWarehouse();
    await tableWithDeletes(warehouse);

    const { exitCode, errorText } = await runDeletes(warehouse, { optionTexts: ['colour=red'] });

    assert.equal(exitCode, 2);
    assert.match(errorText, /unknown options colour/);
  });
});
