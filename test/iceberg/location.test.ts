import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serializeJson } from '../../shared/base/index.ts';
import { encodeUtf8 } from '../../shared/bytes/index.ts';
import {
  dataLocation,
  newDataLocation,
  newManifestListLocation,
  newManifestLocation,
  newMetadataLocation,
  parseTableMetadata,
  specById,
  stripTrailingSlash,
} from '../../shared/iceberg/index.ts';
import { throwsKind } from './expect-error.ts';
import { minimalMetadata } from './java-goldens.ts';

const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const SPECS = [
  { 'spec-id': 0, fields: [] },
  {
    'spec-id': 1,
    fields: [{ 'source-id': 1, 'field-id': 1000, name: 'a', transform: 'identity' }],
  },
  { 'spec-id': 2, fields: [{ 'source-id': 1, 'field-id': 1000, name: 'a', transform: 'void' }] },
];

function table(properties: Record<string, string> = {}, location = 's3://bucket/tbl/') {
  const fields = [{ id: 1, name: 'a', required: false, type: 'string' }];
  const schemas = [{ type: 'struct', 'schema-id': 0, fields }];
  const keys = { properties, location, schemas, 'partition-specs': SPECS };
  return parseTableMetadata(encodeUtf8(serializeJson(minimalMetadata(keys))), 'x');
}

test('the next metadata file counts on from the name of the current one', () => {
  const next = (current: string) => newMetadataLocation(table(), current, UUID);
  const named = (version: string) => `s3://bucket/tbl/metadata/${version}-${UUID}.metadata.json`;

  assert.equal(next('s3://bucket/tbl/metadata/00041-a.metadata.json'), named('00042'));
  assert.equal(next('s3://else-where/99999-a.gz.metadata.json'), named('100000'));
  assert.equal(next('00001-a-b.metadata.json'), named('00002'));
  for (const unknown of ['s3://b/v7.metadata.json', 's3://b/x1-a.metadata.json', 's3://b/-a', '']) {
    assert.equal(next(unknown), named('00000'));
  }
  assert.equal(next('s3://b/2147483647-a.metadata.json'), named('00000'));
});

test('metadata files go where and how the properties say', () => {
  const properties = {
    'write.metadata.path': 's3://other/meta//',
    'write.metadata.compression-codec': 'GZIP',
  };

  assert.equal(
    newMetadataLocation(table(properties), '00000-a.metadata.json', UUID),
    `s3://other/meta/00001-${UUID}.gz.metadata.json`,
  );
  assert.equal(newManifestLocation(table(properties), UUID, 3), `s3://other/meta/${UUID}-m3.avro`);
  assert.equal(
    newManifestListLocation(table(), { snapshotId: 2n ** 62n, attempt: 2, commitUuid: UUID }),
    `s3://bucket/tbl/metadata/snap-4611686018427387904-2-${UUID}.avro`,
  );
});

test('files of an unpartitioned spec have no partition folders', () => {
  const locate = (specId: number) =>
    newDataLocation(table(), specById(table(), specId), specId === 0 ? [] : ['x y'], 'f.parquet');

  assert.equal(locate(0), 's3://bucket/tbl/data/f.parquet');
  assert.equal(locate(1), 's3://bucket/tbl/data/a=x+y/f.parquet');
  assert.equal(locate(2), 's3://bucket/tbl/data/f.parquet');
});

test('the deprecated paths are used where write.data.path is missing', () => {
  const folder = { 'write.folder-storage.path': 's3://b/folder/' };
  const store = {
    'write.object-storage.enabled': 'true',
    'write.object-storage.path': 's3://b/store',
  };
  const at = (properties: Record<string, string>) =>
    dataLocation('s3://bucket/db/tbl', properties, undefined, 'f');

  assert.equal(at(folder), 's3://b/folder/f');
  assert.equal(at({ ...folder, 'write.data.path': 's3://b/data' }), 's3://b/data/f');
  assert.match(at(store), /^s3:\/\/b\/store\/[01]{4}\/[01]{4}\/[01]{4}\/[01]{8}\/db\/tbl\/f$/);
  assert.match(
    at({ ...folder, 'write.object-storage.enabled': 'true' }),
    /^s3:\/\/b\/folder\/[01]{4}\//,
  );
});

test('locations without scheme or folders have the context that Hadoop paths have', () => {
  const properties = { 'write.object-storage.enabled': 'true', 'write.data.path': 's3://b/d' };
  const context = (location: string) =>
    dataLocation(location, properties, undefined, 'f').replace(/^s3:\/\/b\/d\/[01/]{23}\//, '');

  assert.equal(context('/wh/db/tbl'), 'db/tbl/f');
  assert.equal(context('file:/wh//db//tbl'), 'db/tbl/f');
  assert.equal(context('tbl'), '/tbl/f');
  assert.equal(context('s3://bucket'), '/f');
});

test('a location provider of the table is unsupported, with its class named', () => {
  const properties = { 'write.location-provider.impl': 'com.example.Provider' };
  const locate = () => newDataLocation(table(properties), specById(table(), 0), [], 'f');
  throwsKind(locate, 'unsupported', /com.example.Provider/);
});

test('strips the slashes at the end, but not those of the scheme', () => {
  assert.equal(stripTrailingSlash('s3://b/t//'), 's3://b/t');
  assert.equal(stripTrailingSlash('s3://'), 's3://');
  assert.equal(stripTrailingSlash('/'), '');
});
