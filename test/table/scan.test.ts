import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deleteFileOf } from '../../local/table-writer/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import { countingStore } from '../../shared/storage/index.ts';
import {
  createManifestReader,
  readDataFiles,
  readDeleteIndex,
  type ScannedDataFile,
  scanSnapshot,
} from '../../shared/table/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { createWarehouse, row, type Warehouse } from './replace-fixture.ts';

async function scan(
  { builder, store }: Warehouse,
  reader = createManifestReader(store),
): Promise<readonly ScannedDataFile[]> {
  const { metadata } = await builder.load();
  const files: ScannedDataFile[] = [];
  await scanSnapshot({
    metadata,
    snapshot: snapshotOfRef(metadata)!,
    reader,
    skipsMetrics: true,
    visit: (file) => files.push(file),
  });
  return files;
}

describe('scanSnapshot', () => {
  it('visits every live file once and none that was deleted', async () => {
    const warehouse = await createWarehouse();
    const [first] = await scan(warehouse);
    const removed = first!.entry.dataFile.filePath;
    await warehouse.builder.commit({ operation: 'delete', removedPaths: [removed] });

    const files = await scan(warehouse);

    const paths = files.map((file) => file.entry.dataFile.filePath);
    assert.equal(paths.length, 6);
    assert.equal(new Set(paths).size, 6);
    assert.ok(!paths.includes(removed));
  });

  it('tells which deletes apply to which file', async () => {
    const warehouse = await createWarehouse();
    const [first] = await scan(warehouse);
    const file = { specId: 0, dataFile: first!.entry.dataFile };
    const deletes = deleteFileOf(file, 'position-deletes', {
      referencedDataFile: file.dataFile.filePath,
    });
    await warehouse.builder.commit({ operation: 'delete', addedManifests: [[deletes]] });

    const files = await scan(warehouse);

    const withDeletes = files.filter(
      ({ deletes: { fileScopedPositionDeleteFiles } }) => fileScopedPositionDeleteFiles.length > 0,
    );
    assert.deepEqual(
      withDeletes.map(({ entry }) => entry.dataFile.filePath),
      [file.dataFile.filePath],
    );
  });

  it('costs one read for the list and one for each manifest, and none the second time', async () => {
    const warehouse = await createWarehouse();
    const store = countingStore(warehouse.store);
    const reader = createManifestReader(store);

    await scan(warehouse, reader);
    const { read } = store.requestCounts;
    await scan(warehouse, reader);

    assert.equal(read, 3);
    assert.equal(store.requestCounts.read, 3);
  });

  it('leaves manifests without live files unread', async () => {
    const warehouse = await createWarehouse();
    await warehouse.builder.append([{ rows: [row(99n, 'eu')], partition: ['eu'] }]);
    const last = (await scan(warehouse)).find(({ entry }) => entry.dataSequenceNumber === 3n)!;
    await warehouse.builder.commit({
      operation: 'delete',
      removedPaths: [last.entry.dataFile.filePath],
    });
    const store = countingStore(warehouse.store);

    await scan(warehouse, createManifestReader(store));

    assert.equal(store.requestCounts.read, 3);
  });

  it('refuses a manifest that is not as long as the list says', async () => {
    const warehouse = await createWarehouse();
    const [first] = await scan(warehouse);
    const bytes = await warehouse.store.read(first!.manifest.manifestPath, 1e6);
    await warehouse.store.write(first!.manifest.manifestPath, bytes.subarray(1));

    await assert.rejects(scan(warehouse), errorOfKind('invalid-data'));
  });

  it('refuses an encrypted manifest', async () => {
    const { builder, store } = await createWarehouse();
    const { metadata } = await builder.load();
    const reader = createManifestReader(store);
    const [manifest] = await reader.readList(metadata, snapshotOfRef(metadata)!);

    await assert.rejects(
      reader.readEntries(
        metadata,
        { ...manifest!, keyMetadata: new Uint8Array(1) },
        { skipsMetrics: true },
      ),
      errorOfKind('unsupported', /is encrypted/),
    );
  });

  it('refuses a manifest that a later snapshot added', async () => {
    const { builder, store } = await createWarehouse();
    const { metadata } = await builder.load();
    const snapshot = { ...snapshotOfRef(metadata)!, sequenceNumber: 1n };

    await assert.rejects(
      createManifestReader(store).readList(metadata, snapshot),
      errorOfKind('invalid-data', /sequence number 2 exceeds 1/),
    );
  });

  it('refuses a v1 snapshot without a manifest list', async () => {
    const { builder, store } = await createWarehouse();
    const { metadata } = await builder.load();
    const { manifestList: _, ...snapshot } = snapshotOfRef(metadata)!;

    await assert.rejects(
      createManifestReader(store).readList(metadata, snapshot),
      errorOfKind('unsupported', /has no manifest list/),
    );
  });
});

describe('readDataFiles', () => {
  it('reads chosen entries with their metrics', async () => {
    const warehouse = await createWarehouse();
    const [first] = await scan(warehouse);
    const { filePath } = first!.entry.dataFile;
    const { metadata } = await warehouse.builder.load();

    const entries = await readDataFiles(
      new Map([[first!.manifest.manifestPath, new Set([filePath])]]),
      {
        metadata,
        snapshot: snapshotOfRef(metadata)!,
        reader: createManifestReader(warehouse.store),
      },
    );

    assert.deepEqual([...entries.keys()], [filePath]);
    assert.equal(first!.entry.dataFile.valueCounts, undefined);
    assert.equal(entries.get(filePath)?.dataFile.valueCounts?.get(1), 1);
  });

  it('refuses a path that its manifest does not have', async () => {
    const warehouse = await createWarehouse();
    const [first] = await scan(warehouse);
    const { metadata } = await warehouse.builder.load();

    await assert.rejects(
      readDataFiles(new Map([[first!.manifest.manifestPath, new Set(['missing'])]]), {
        metadata,
        snapshot: snapshotOfRef(metadata)!,
        reader: createManifestReader(warehouse.store),
      }),
      errorOfKind('invalid-data', /missing is not live in it/),
    );
  });
});

describe('readDeleteIndex', () => {
  it('has what applies to some data files, and nothing of other files and partitions', async () => {
    const warehouse = await createWarehouse();
    const files = await scan(warehouse);
    const [first, second] = files.map(({ entry }) => ({
      specId: entry.specId,
      dataFile: entry.dataFile,
    }));
    await warehouse.builder.commit({
      operation: 'delete',
      addedManifests: [
        [first!, second!].map((file) =>
          deleteFileOf(file, 'position-deletes', { referencedDataFile: file.dataFile.filePath }),
        ),
      ],
    });
    const { metadata } = await warehouse.builder.load();
    const after = await scan(warehouse);
    const entryOf = (path: string) =>
      after.find(({ entry }) => entry.dataFile.filePath === path)!.entry;
    const wanted = entryOf(first!.dataFile.filePath);

    const index = await readDeleteIndex([wanted], {
      metadata,
      snapshot: snapshotOfRef(metadata)!,
      reader: createManifestReader(warehouse.store),
    });

    const deletesOf = (path: string) => index.attachedTo(entryOf(path));
    const { fileScopedPositionDeleteFiles } = deletesOf(first!.dataFile.filePath);
    assert.deepEqual(
      fileScopedPositionDeleteFiles.map(({ dataFile }) => dataFile.referencedDataFile),
      [first!.dataFile.filePath],
    );
    assert.deepEqual(deletesOf(second!.dataFile.filePath).fileScopedPositionDeleteFiles, []);
  });
});
