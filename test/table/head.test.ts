import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import { createHeadReader } from '../../shared/table/head.ts';
import { createManifestReader } from '../../shared/table/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { createWarehouse } from './replace-fixture.ts';

const NOTHING = { startingSequenceNumber: 2n, groups: [], deleteGroups: [] };

describe('readNew', () => {
  it('refuses a manifest with live files of which the list says that it has none', async () => {
    const { builder, store } = await createWarehouse();
    const { metadata } = await builder.load();
    const reader = createManifestReader(store);
    const manifests = await reader.readList(metadata, snapshotOfRef(metadata)!);
    const emptied = manifests.map((manifest) => ({
      ...manifest,
      addedFilesCount: 0,
      addedRowsCount: 0,
    }));

    await assert.rejects(
      createHeadReader(NOTHING, reader).readNew(metadata, emptied),
      errorOfKind('invalid-data', /addedFilesCount is 1, the manifest list says 0/),
    );
  });
});
