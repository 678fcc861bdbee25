import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { parseCatalogUrl } from '../../shared/warehouse/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';

describe('parseCatalogUrl', () => {
  it('reads region, table and both endpoints', () => {
    assert.deepEqual(
      parseCatalogUrl(
        'dynamodb://eu-west-1/iceberg?endpoint=http://127.0.0.1:8000&s3-endpoint=http://127.0.0.1:9000',
      ),
      {
        kind: 'dynamodb',
        region: 'eu-west-1',
        catalogTable: 'iceberg',
        dynamoDbEndpoint: 'http://127.0.0.1:8000',
        s3Endpoint: 'http://127.0.0.1:9000',
      },
    );
  });

  it('reads where the ledger is; a state location ends with a slash', () => {
    assert.deepEqual(
      parseCatalogUrl('dynamodb://us-east-1/iceberg?ledger=our-ledger&state=s3://our-state/firn'),
      {
        kind: 'dynamodb',
        region: 'us-east-1',
        catalogTable: 'iceberg',
        ledgerTable: 'our-ledger',
        stateLocation: 's3://our-state/firn/',
      },
    );
  });

  for (const [parameter, subject] of [
    ['ledger=a', /^ledger table a: is no name/],
    ['state=firn', /^state location firn: is not of the form/],
    ['state=s3://', /^state location s3:\/\/: is not of the form/],
  ] as const) {
    it(`refuses ${parameter}`, () => {
      assert.throws(
        () => parseCatalogUrl(`dynamodb://us-east-1/iceberg?${parameter}`),
        errorOfKind('invalid-config', subject),
      );
    });
  }

  it('leaves endpoints out when they are not given', () => {
    assert.deepEqual(parseCatalogUrl('dynamodb://us-east-1/iceberg'), {
      kind: 'dynamodb',
      region: 'us-east-1',
      catalogTable: 'iceberg',
    });
  });

  it('makes the folder of a file catalog absolute', () => {
    assert.deepEqual(parseCatalogUrl('file:data'), { kind: 'file', folder: resolve('data') });
    assert.deepEqual(parseCatalogUrl('file:///data'), { kind: 'file', folder: '/data' });
  });

  for (const text of [
    'glue://us-east-1',
    'file:',
    'dynamodb://us-east-1',
    'dynamodb:///iceberg',
    'dynamodb://us-east-1/ice/berg',
    'dynamodb://us-east-1/iceberg?endpont=http://127.0.0.1:8000',
    'dynamodb://us-east-1/iceberg?endpoint=nonsense',
  ]) {
    it(`refuses ${text}, naming it`, () => {
      assert.throws(
        () => parseCatalogUrl(text),
        (error) => isIcebergError(error, 'invalid-config') && error.message.includes('expected'),
      );
    });
  }
});
