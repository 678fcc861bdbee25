import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import {
  readManifest,
  readManifestList,
  specById,
  writeManifest,
  writeManifestList,
} from '../../shared/iceberg/index.ts';
import { mutationsOf } from '../support/mutations.ts';
import { goldenManifestLists, goldenManifests } from './manifest-goldens.ts';

const SEED = 20261130;
const OFFSETS_MAX = 400;
const TABLES = ['v1-evolved', 'v2-deletes', 'v3-deletes'];

for (const table of TABLES) {
  const list = goldenManifestLists().findLast(({ name }) => name.includes(`/${table}/`))!;
  const { formatVersion } = list.metadata;
  const manifests = readManifestList(list.bytes, list.name, formatVersion);
  // Compressed blocks answer most mutations before a record is reached; plain ones let them through.
  const plain = writeManifestList({
    formatVersion,
    snapshotId: 1n,
    sequenceNumber: 1n,
    ...(formatVersion === 3 ? { firstRowId: 0n } : {}),
    manifests,
    codec: 'null',
  });

  test(`answers mutations of a manifest list of ${table} with values or a named error`, () => {
    for (const bytes of [list.bytes, plain]) {
      for (const { mutated, what } of mutationsOf(bytes, SEED, OFFSETS_MAX)) {
        expectNamed(what, () => readManifestList(mutated, list.name, formatVersion));
      }
    }
  });
}

for (const table of TABLES) {
  const golden = goldenManifests().findLast(({ name }) => name.includes(`/${table}/`))!;
  const { manifest, context, metadata } = golden;
  const { bytes: plain } = writeManifest({
    formatVersion: metadata.formatVersion,
    schemas: [context.schemas[0]!, ...context.schemas.slice(1)],
    spec: specById(metadata, manifest.partitionSpecId),
    content: manifest.content,
    entries: [...readManifest(golden.bytes, manifest, context)].map((entry) => ({
      ...entry,
      status: entry.status === 'deleted' ? 'deleted' : 'existing',
    })),
    codec: 'null',
  });
  const { addedFilesCount: _added, existingFilesCount: _existing, ...uncounted } = manifest;

  test(`answers mutations of a manifest of ${table} with values or a named error`, () => {
    for (const bytes of [golden.bytes, plain]) {
      for (const { mutated, what } of mutationsOf(bytes, SEED, OFFSETS_MAX)) {
        const ofLength = { ...uncounted, manifestLengthBytes: mutated.length };
        expectNamed(what, () => {
          for (const entry of readManifest(mutated, ofLength, context)) assert.ok(entry.dataFile);
        });
      }
    }
  });
}

function expectNamed(what: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    const isNamed = isIcebergError(error, 'invalid-data') || isIcebergError(error, 'unsupported');
    assert.ok(isNamed, `${what}: ${error}`);
  }
}
