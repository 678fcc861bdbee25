import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { locationScheme, parseS3Object, parseS3Prefix } from '../../shared/storage/location.ts';

describe('locations in S3', () => {
  it('keep scheme, bucket and key as they are written', () => {
    assert.deepEqual(parseS3Object('s3a://my.bucket/a//b/%2F/../c d'), {
      root: 's3a://my.bucket/',
      bucket: 'my.bucket',
      key: 'a//b/%2F/../c d',
    });
  });

  it('may start with a slash, or be the whole bucket of a prefix', () => {
    assert.equal(parseS3Object('s3://bucket//a').key, '/a');
    assert.equal(parseS3Prefix('s3://bucket').key, '');
    assert.equal(parseS3Prefix('s3n://bucket/').key, '');
  });

  for (const location of [
    's3://',
    's3:///key',
    's3:/bucket/key',
    's3://bucket',
    's3://bucket/',
    `s3://bucket/${'\u00fc'.repeat(513)}`,
    's3://bucket/\udc00',
  ]) {
    it(`are refused as invalid-data when they are ${location.slice(0, 20)}`, () => {
      assert.throws(() => parseS3Object(location), { kind: 'invalid-data' });
    });
  }

  for (const location of [
    'gs://bucket/key',
    'file:/a',
    '/a',
    'bucket/key',
    '',
    'S3://bucket/key',
  ]) {
    it(`are refused as invalid-config when they are ${JSON.stringify(location)}`, () => {
      assert.throws(() => parseS3Object(location), { kind: 'invalid-config' });
    });
  }

  it('have a scheme in lower case', () => {
    assert.equal(locationScheme('S3A://bucket/key'), 's3a');
    assert.equal(locationScheme('file:/a'), 'file');
    assert.equal(locationScheme('/a:b'), 'file');
  });
});
