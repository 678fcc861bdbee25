import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ManifestEntry,
  type ManifestFile,
  type NewManifestEntry,
  readManifest,
  readManifestList,
  toManifestFile,
  writeManifest,
  writeManifestList,
} from '../../shared/iceberg/index.ts';
import { goldenManifestLists, goldenManifests } from './manifest-goldens.ts';

for (const { name, bytes, manifest, context, metadata } of goldenManifests()) {
  test(`rewrites the manifest ${name} without loss`, () => {
    const entries = [...readManifest(bytes, manifest, context)];
    const [schema, ...schemas] = context.schemas;
    const spec = context.specs.find(({ specId }) => specId === manifest.partitionSpecId);
    assert.ok(schema !== undefined && spec !== undefined);

    const written = writeManifest({
      formatVersion: metadata.formatVersion,
      schemas: [schema, ...schemas],
      spec,
      content: manifest.content,
      entries: entries.map(toNewEntry),
    });

    const rewritten = withFirstRowId(toManifestFile(written, manifest), manifest);
    const { manifestLengthBytes: _length, ...rest } = rewritten;
    const { manifestLengthBytes: _javaLength, ...javaRest } = manifest;
    assert.deepEqual(rest, { ...javaRest, minSequenceNumber: rewritten.minSequenceNumber });
    assert.deepEqual([...readManifest(written.bytes, rewritten, context)], entries);
  });
}

for (const { name, bytes, metadata } of goldenManifestLists()) {
  test(`rewrites the manifest list ${name} without loss`, () => {
    const { formatVersion } = metadata;
    const manifests = readManifestList(bytes, name, formatVersion);
    const isAssigned = manifests.every(
      ({ content, firstRowId }) => content === 'deletes' || firstRowId !== undefined,
    );
    const version = formatVersion === 3 && !isAssigned ? 2 : formatVersion;

    const rewritten = writeManifestList({
      formatVersion: version,
      snapshotId: 1n,
      sequenceNumber: 1n,
      ...(version === 3 ? { firstRowId: 0n } : {}),
      manifests,
    });

    assert.deepEqual(readManifestList(rewritten, name, formatVersion), manifests);
  });
}

/** Added entries stay added, with the sequence number that they inherited. */
function toNewEntry(entry: ManifestEntry): NewManifestEntry {
  const { specId: _specId, status, fileSequenceNumber, ...rest } = entry;
  if (status !== 'added') {
    return { ...rest, status, ...(fileSequenceNumber === undefined ? {} : { fileSequenceNumber }) };
  }
  const { firstRowId: _firstRowId, ...dataFile } = rest.dataFile;
  return { ...rest, status, dataFile };
}

function withFirstRowId(manifest: ManifestFile, { firstRowId }: ManifestFile): ManifestFile {
  return firstRowId === undefined ? manifest : { ...manifest, firstRowId };
}
