import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDeleteLoader, type DataFileDeletes } from '../../shared/deletes/index.ts';
import {
  currentSchema,
  fieldByName,
  type ManifestEntry,
  parseTableMetadata,
} from '../../shared/iceberg/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { slowParser } from '../support/slow-parser.ts';
import { deletedRowsSlowly, javaTable, partitionsOf, tableAt } from './deleted-rows.ts';

describe('tables by Iceberg Java', () => {
  // How many rows position deletes and vectors delete after each commit, see GoldenTableMaker.deletes.
  for (const [name, counts] of [
    ['v2-deletes', [0, 0, 2, 6, 6, 6, 6]],
    ['v3-deletes', [0, 0, 6, 7, 7, 7, 7]],
  ] as const) {
    test(`${name}: the same rows are deleted as another reader finds, at every snapshot`, async () => {
      const { store, metadataLocation } = await javaTable(name);
      const bytes = await store.read(metadataLocation, 1e6);
      const found: number[] = [];

      for (const { snapshotId } of parseTableMetadata(bytes, metadataLocation).snapshots) {
        const table = await tableAt(store, metadataLocation, snapshotId);
        const slow = await deletedRowsSlowly(table);
        let count = 0;
        for (const files of await partitionsOf(table)) {
          const loader = createDeleteLoader({ ...table, files });
          for (const { entry, deletes } of files) {
            const { filePath } = entry.dataFile;
            const positions = [...(await loader.readPositionDeletes(filePath)).positions()];
            count += positions.length;
            if (deletes.equalityDeleteFiles.length === 0) {
              assert.deepEqual(positions, slow[filePath]);
            } else {
              const refusal = errorOfKind('unsupported', /by column price of type double/);
              await assert.rejects(loader.readEqualityDeletes(filePath), refusal);
            }
          }
        }
        found.push(count);
      }

      assert.deepEqual(found, counts);
    });

    test(`${name}: an equality delete file is read by one of the columns it has`, async () => {
      const { store, metadataLocation } = await javaTable(name);
      const table = await tableAt(store, metadataLocation);
      const { fieldId } = fieldByName(currentSchema(table.metadata), 'id')!.field;
      const partitions = await partitionsOf(table);
      const files = partitions.find((some) => some.some(hasEqualityDeletes))!;
      const byId = files.map((file) => withEqualityIds(file, [fieldId]));

      const loader = createDeleteLoader({ ...table, files: byId });
      for (const { entry, deletes } of files) {
        const { filePath } = entry.dataFile;
        const positions = [...(await loader.readEqualityDeletes(filePath)).positions()];
        const deletedIds = await idsOf(store, deletes.equalityDeleteFiles);
        const ids = await idsOf(store, [entry]);
        const expected = ids.map((_, row) => row).filter((row) => deletedIds.includes(ids[row]));
        assert.deepEqual(positions, expected);
        assert.equal(deletedIds.length, hasEqualityDeletes({ entry, deletes }) ? 2 : 0);
      }
    });
  }
});

/** The column `id` of some files. */
async function idsOf(
  store: ObjectStore,
  entries: readonly ManifestEntry[],
): Promise<readonly unknown[]> {
  const ids: unknown[] = [];
  for (const { dataFile } of entries) {
    const { rows } = await slowParser(store).parquet(dataFile);
    ids.push(...rows.map((row) => row['id']));
  }
  return ids;
}

function hasEqualityDeletes({ deletes }: DataFileDeletes): boolean {
  return deletes.equalityDeleteFiles.length > 0;
}

function withEqualityIds(
  { entry, deletes }: DataFileDeletes,
  equalityIds: readonly number[],
): DataFileDeletes {
  const equalityDeleteFiles = deletes.equalityDeleteFiles.map((file) => ({
    ...file,
    dataFile: { ...file.dataFile, equalityIds },
  }));
  return { entry, deletes: { ...deletes, equalityDeleteFiles } };
}
