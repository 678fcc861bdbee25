import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readManifest, readManifestList } from '../../shared/iceberg/index.ts';
import {
  describeEntry,
  describeManifest,
  expectedEntry,
  expectedManifest,
  goldenManifestLists,
  goldenManifests,
} from './manifest-goldens.ts';

for (const { name, bytes, decoded, metadata } of goldenManifestLists()) {
  test(`reads the manifest list ${name} as Java does`, () => {
    const manifests = readManifestList(bytes, name, metadata.formatVersion);

    assert.deepEqual(manifests.map(describeManifest), decoded.map(expectedManifest));
    assert.deepEqual(
      manifests.flatMap((manifest) => manifest.unknownFields),
      [],
    );
  });
}

for (const { name, bytes, decoded, manifest, context } of goldenManifests()) {
  test(`reads the manifest ${name} as Java does`, () => {
    const entries = [...readManifest(bytes, manifest, context)];

    assert.deepEqual(entries.map(describeEntry), decoded.map(expectedEntry));
    assert.deepEqual(
      entries.flatMap((entry) => entry.dataFile.unknownFields),
      [],
    );
  });
}
