import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from '../../../cli/commands/inspect.ts';
import { deleteFileOf } from '../../../local/table-writer/index.ts';
import type { JsonObject } from '../../../shared/base/index.ts';
import type { Warehouse } from '../../../shared/warehouse/index.ts';
import {
  type Answer,
  answerOf,
  createTable,
  type MemoryWarehouse,
  memoryWarehouse,
  smallFiles,
} from '../command-fixture.ts';

function runInspect(
  warehouse: Warehouse,
  options: Parameters<typeof answerOf>[2] & { readonly files?: boolean } = {},
): Promise<Answer> {
  const { files = true, ...other } = options;
  return answerOf((session) => inspect('db.orders', { files }, session), warehouse, other);
}

/** Puts another document in the place of the table's metadata. */
async function replaceMetadata(
  { store }: MemoryWarehouse,
  metadataLocation: string,
  change: (text: string) => string,
): Promise<void> {
  const text = new TextDecoder().decode(await store.read(metadataLocation, 1_000_000));
  await store.write(metadataLocation, new TextEncoder().encode(change(text)));
}

describe('inspect', () => {
  it('shows what the table is and how its files are', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders', {
      properties: { 'write.target-file-size-bytes': '1048576' },
    });
    const files = await writer.append(smallFiles(['eu', 'us', 'eu', null]));
    const deletes = deleteFileOf(files[0]!, 'position-deletes', {
      referencedDataFile: files[0]!.dataFile.filePath,
    });
    await writer.commit({
      operation: 'delete',
      addedManifests: [[deletes]],
      summary: { 'engine-name': 'spark', 'engine-version': '4.1.3' },
    });
    await writer.addRef('audit', 'branch');
    const { metadata, metadataLocation } = await writer.load();

    const { exitCode, lines } = await runInspect(warehouse);

    assert.equal(exitCode, 0);
    assert.deepEqual(lines, [
      'table db.orders, format v2',
      '  location           s3://bucket/db.orders',
      `  uuid               ${metadata.tableUuid}`,
      `  metadata           ${metadataLocation}`,
      '  last updated       2026-11-30 12:00:00Z',
      '  snapshots          2, and 3 earlier metadata files',
      `  current snapshot   ${metadata.currentSnapshotId}, 2026-11-30 12:00:00Z`,
      '  last operation     delete by spark 4.1.3',
      '  partitioned by     identity(region)',
      '  sorted by          (nothing)',
      "  maintenance        firn.enabled is not set: the deployment's list decides",
      'columns: 3',
      '  id  name    presence  type',
      '   1  id      required  long',
      '   2  region  optional  string',
      '   3  amount  optional  double',
      'other branches, and tags',
      `  branch audit at ${metadata.currentSnapshotId}`,
      'properties',
      '  key                             value',
      '  write.target-file-size-bytes  1048576',
      'data files: 4, 1.6 KiB, 8 records',
      `  < 64 KiB  4  ${'█'.repeat(32)}`,
      '  partition    spec  files  bytes  records  with deletes',
      '  region=eu       0      2  819 B        4             1',
      '  region=null     0      1  369 B        2             0',
      '  region=us       0      1  412 B        2             0',
    ]);
  });

  it('shows evolved specs and schemas, and tables without files', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.evolveSpec([
      {
        sourceIds: [1],
        fieldId: 1001,
        name: 'id_b',
        transform: { kind: 'bucket', bucketCount: 8 },
      },
    ]);

    const { lines } = await runInspect(warehouse);

    assert.ok(lines.includes('  partitioned by     bucket[8](id) (and 1 other spec)'));
    assert.ok(lines.includes('  current snapshot   (none)'));
    assert.equal(lines.at(-1), 'data files: none');
  });

  it('leaves manifests unread with --no-files', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(['eu']));
    const { metadata } = await writer.load();
    await warehouse.store.delete([metadata.snapshots[0]?.manifestList ?? '']);

    const { exitCode, lines } = await runInspect(warehouse, { files: false });

    assert.equal(exitCode, 0);
    assert.equal(
      lines.some((line) => line.startsWith('data files')),
      false,
    );
  });

  it('sums up wide schemas, many partitions and many properties', async () => {
    const warehouse = memoryWarehouse();
    const columns = Array.from({ length: 70 }, (_, index) => ({
      fieldId: index + 10,
      name: `c${index}`,
      isRequired: false,
      type: { kind: 'string' as const },
    }));
    const region = {
      fieldId: 2,
      name: 'region',
      isRequired: false,
      type: { kind: 'string' as const },
    };
    const writer = await createTable(warehouse, 'db.orders', {
      fields: [region, ...columns],
      properties: Object.fromEntries(columns.map(({ name }) => [`comment.${name}`, 'x'])),
    });
    await writer.append(
      Array.from({ length: 20 }, (_, index) => ({
        rows: [{ 2: `r${index}` }],
        partition: [`r${index}`],
      })),
    );

    const { lines } = await runInspect(warehouse);

    assert.ok(lines.includes('  and 11 columns more (all with --json)'));
    assert.ok(lines.includes('  and 40 more (all with --json)'));
    assert.ok(lines.includes('  and 5 partitions more (all with --json)'));
  });

  it('shows no control character of names, locations, summaries and properties', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders', {
      location: 's3://bucket/\u001b[2Jorders',
      fields: [{ fieldId: 2, name: 'na\u001bme', isRequired: false, type: { kind: 'string' } }],
      properties: { 'comment\u0007': 'a\nb', 'firn.\u001bx': '1' },
    });
    await writer.append([{ rows: [{ 2: '\u001b[1m' }], partition: ['\u001b[1m'] }]);
    await writer.commit({ operation: 'append', summary: { 'engine-name': '\u001b]0;x\u0007' } });
    await writer.addRef('b\u001b', 'branch');

    const { lines } = await runInspect(warehouse);

    for (const line of lines) assert.doesNotMatch(line, /\p{Cc}/u);
    assert.ok(lines.includes('  location           s3://bucket/\\u001b[2Jorders'));
    assert.ok(
      lines.some((line) => line.includes('last operation     append by \\u001b]0;x\\u0007')),
    );
  });

  it('keeps tables within the terminal', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders', {
      properties: { comment: 'long '.repeat(100) },
    });
    await writer.append(smallFiles(['x'.repeat(300)]));

    const { lines } = await runInspect(warehouse, { widthMax: 80 });

    const tables = lines.filter((line) => /comment|region=/.test(line));
    assert.equal(tables.length, 2);
    for (const line of tables) {
      assert.ok(line.length <= 80, line);
      assert.ok(line.includes('…'));
    }
  });

  it('warns of properties that do nothing', async () => {
    const warehouse = memoryWarehouse();
    await createTable(warehouse, 'db.orders', {
      properties: { 'firn.enable': 'true', 'write.target-file-size-bytes': '512MB' },
    });

    const { lines } = await runInspect(warehouse);

    assert.deepEqual(
      lines.filter((line) => line.startsWith('warning')),
      [
        'warning: table property firn.enable is not known to Firn',
        `warning: table property write.target-file-size-bytes: value 512MB is not an integer from 1 to ${Number.MAX_SAFE_INTEGER}`,
      ],
    );
  });

  it('says that a malformed firn.enabled is refused, and warns of it', async () => {
    const warehouse = memoryWarehouse();
    await createTable(warehouse, 'db.orders', { properties: { 'firn.enabled': 'maybe' } });

    const { lines } = await runInspect(warehouse);

    assert.ok(
      lines.includes(
        '  maintenance        firn.enabled is maybe: refused, it has to be true or false',
      ),
      lines.join('\n'),
    );
    assert.ok(
      lines.some((line) => /^warning: table property firn\.enabled: value maybe/.test(line)),
    );
  });
});

describe('inspect --json', () => {
  it('gives one document, ids as strings', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders', { formatVersion: 3 });
    await writer.append(smallFiles(['eu', 'us', 'eu']));
    await writer.addRef('v1', 'tag');
    const { metadata, pointer } = await writer.load();
    const snapshotId = String(metadata.currentSnapshotId);

    const { exitCode, lines, document } = await runInspect(warehouse, { isJson: true });

    assert.deepEqual([exitCode, lines], [0, []]);
    const { currentSnapshot, schema, partitionSpec, files, ...rest } = document as {
      readonly [key: string]: JsonObject;
    };
    assert.deepEqual(rest, {
      table: 'db.orders',
      metadataLocation: pointer.metadataLocation,
      previousMetadataLocation: pointer.previousMetadataLocation,
      formatVersion: 3,
      tableUuid: metadata.tableUuid,
      location: 's3://bucket/db.orders',
      lastUpdatedMs: metadata.lastUpdatedMs,
      snapshotCount: 1,
      properties: {},
      refs: {
        main: { type: 'branch', snapshotId },
        v1: { type: 'tag', snapshotId },
      },
      warnings: [],
      isMaintained: true,
      reason: null,
    });
    assert.equal(currentSnapshot?.['snapshotId'], snapshotId);
    assert.equal(schema?.['schema-id'], 0);
    assert.equal(partitionSpec?.['spec-id'], 0);
    assert.deepEqual(files, {
      fileCount: 3,
      bytes: 1231,
      partitions: [
        {
          partition: 'region=eu',
          specId: 0,
          fileCount: 2,
          bytes: 819,
          recordCount: 4,
          withDeletesCount: 0,
        },
        {
          partition: 'region=us',
          specId: 0,
          fileCount: 1,
          bytes: 412,
          recordCount: 2,
          withDeletesCount: 0,
        },
      ],
    });
  });
});

describe('inspect of a table that Firn leaves alone', () => {
  it('says what a table of format version 4 is', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    const { metadata, metadataLocation } = await writer.load();
    await replaceMetadata(warehouse, metadataLocation, (text) =>
      text
        .replace('"format-version":2', '"format-version":4')
        .replace('bucket/db.orders', 'bucket/\\u001b[2J'),
    );

    const text = await runInspect(warehouse);
    const json = await runInspect(warehouse, { isJson: true });

    const reason = 'table metadata: format version 4 exceeds 3, the highest that Firn reads';
    assert.deepEqual([text.exitCode, json.exitCode], [0, 0]);
    assert.deepEqual(text.lines, [
      'table db.orders, format v4',
      '  location           s3://bucket/\\u001b[2J',
      `  uuid               ${metadata.tableUuid}`,
      `  metadata           ${metadataLocation}`,
      `not maintained by Firn: ${reason}`,
    ]);
    assert.equal(json.document?.['formatVersion'], 4);
    assert.equal(json.document?.['isMaintained'], false);
    assert.equal(json.document?.['reason'], reason);
  });

  it('says that a table is encrypted, and reads no manifest', async () => {
    const warehouse = memoryWarehouse();
    await createTable(warehouse, 'db.orders', {
      formatVersion: 3,
      properties: { 'encryption.key-id': 'k' },
    });

    const text = await runInspect(warehouse);
    const json = await runInspect(warehouse, { isJson: true });

    assert.equal(text.exitCode, 0);
    assert.equal(text.lines.at(-1), 'not maintained by Firn: the table is encrypted');
    assert.equal(json.document?.['isMaintained'], false);
    assert.equal(json.document?.['reason'], 'the table is encrypted');
    assert.equal('files' in (json.document ?? {}), false);
  });

  it('says that its files are named by a class', async () => {
    const warehouse = memoryWarehouse();
    const writer = await createTable(warehouse, 'db.orders');
    await writer.append(smallFiles(['eu']));
    await writer.setProperties({ 'write.location-provider.impl': 'com.example.Provider' });

    const { exitCode, lines } = await runInspect(warehouse);

    assert.equal(exitCode, 0);
    assert.match(lines.at(-1) ?? '', /^not maintained by Firn: .* \(com\.example\.Provider\)$/);
    assert.ok(lines.some((line) => line.startsWith('data files: 1')));
  });
});
