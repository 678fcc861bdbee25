import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFunctionConfig } from '../../../functions/rewrite-data-files/config.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';

const FIRN_CATALOG = 'dynamodb://us-east-1/iceberg';

describe('readFunctionConfig', () => {
  it('needs a catalog only, and allows no table by default', () => {
    assert.deepEqual(readFunctionConfig({ FIRN_CATALOG, PATH: '/bin' }), {
      catalogUrl: FIRN_CATALOG,
      enabledTables: [],
      isObserving: false,
      logLevel: 'info',
    });
  });

  it('reads every variable', () => {
    const config = readFunctionConfig({
      FIRN_CATALOG,
      FIRN_ENABLED_TABLES: ' db.orders , lake.raw.clicks,',
      FIRN_LOG_LEVEL: 'debug',
      FIRN_OBSERVE: 'true',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000',
    });

    assert.deepEqual(config, {
      catalogUrl: FIRN_CATALOG,
      s3Endpoint: 'http://127.0.0.1:9000',
      enabledTables: ['db.orders', 'lake.raw.clicks'],
      isObserving: true,
      logLevel: 'debug',
    });
    assert.ok(Object.isFrozen(config));
  });

  it('names a variable that is missing', () => {
    assert.throws(
      () => readFunctionConfig({}),
      errorOfKind('invalid-config', /^environment: FIRN_CATALOG: is not set$/),
    );
  });

  it('names every bad variable with its value and what was expected', () => {
    const env = {
      FIRN_CATALOG: 'mysql://x',
      FIRN_ENABLED_TABLES: 'orders,*.raw',
      FIRN_LOG_LEVEL: 'loud',
      FIRN_OBSERVE: 'yes',
      AWS_ENDPOINT_URL_S3: 'nowhere',
    };

    assert.throws(
      () => readFunctionConfig(env),
      (error: Error) => {
        for (const [key, expected] of [
          ['FIRN_CATALOG', 'unknown scheme; expected dynamodb://REGION/TABLE'],
          ['FIRN_ENABLED_TABLES', 'has no namespace'],
          ['FIRN_ENABLED_TABLES', 'patterns are not understood'],
          ['FIRN_LOG_LEVEL', '"debug"|"info"|"warn"|"error"'],
          ['FIRN_OBSERVE', '"true"|"false"'],
          ['AWS_ENDPOINT_URL_S3', 'URL'],
        ] as const) {
          const problem = error.message.split('; ').join('\n');
          assert.match(problem, new RegExp(`${key}: `));
          assert.ok(error.message.includes(expected), `${expected} in ${error.message}`);
        }
        for (const value of Object.values(env))
          assert.ok(error.message.includes(`(is '${value}')`));
        return errorOfKind('invalid-config')(error);
      },
    );
  });

  it('refuses a misspelt variable, since what it was to forbid would be allowed', () => {
    assert.throws(
      () => readFunctionConfig({ FIRN_CATALOG, FIRN_OBSERV: 'true', FIRN_ENABLE: 'a.b' }),
      errorOfKind('invalid-config', /FIRN_ENABLE: is not known; FIRN_OBSERV: is not known/),
    );
  });
});
