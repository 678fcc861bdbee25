import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFunctionConfig } from '../../../functions/rewrite-data-files/config.ts';
import { DEFAULT_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import { errorOfKind } from '../../support/error-of-kind.ts';

const FIRN_CATALOG = 'dynamodb://us-east-1/iceberg';

describe('readFunctionConfig', () => {
  it('needs a catalog only, and allows no table by default', () => {
    assert.deepEqual(readFunctionConfig({ FIRN_CATALOG, PATH: '/bin' }), {
      catalogUrl: FIRN_CATALOG,
      enabledTables: [],
      isObserving: false,
      guards: DEFAULT_GUARD_SETTINGS,
      logLevel: 'info',
    });
  });

  it('reads every variable', () => {
    const config = readFunctionConfig({
      FIRN_CATALOG,
      FIRN_ENABLED_TABLES: ' db.orders , lake.raw.clicks,',
      FIRN_LEDGER_TABLE: 'our-ledger',
      FIRN_STATE_LOCATION: 's3://our-state/firn',
      FIRN_LOG_LEVEL: 'debug',
      FIRN_OBSERVE: 'true',
      FIRN_MIN_FILE_AGE_MS_FLOOR: '1',
      FIRN_MIN_FILE_AGE_MS_DERIVED_MAX: '2',
      FIRN_COMMIT_INTERVAL_MS_FLOOR: '3',
      FIRN_WAP_WAIT_MS_FLOOR: '0',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000',
    });

    assert.deepEqual(config, {
      catalogUrl: FIRN_CATALOG,
      s3Endpoint: 'http://127.0.0.1:9000',
      ledgerTable: 'our-ledger',
      stateLocation: 's3://our-state/firn',
      enabledTables: ['db.orders', 'lake.raw.clicks'],
      isObserving: true,
      guards: {
        minFileAgeMsFloor: 1,
        minFileAgeMsDerivedMax: 2,
        commitIntervalMsFloor: 3,
        wapWaitMsFloor: 0,
      },
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
      FIRN_WAP_WAIT_MS_FLOOR: '24h',
      AWS_ENDPOINT_URL_S3: 'nowhere',
    };

    assert.throws(
      () => readFunctionConfig(env),
      (error: Error) => {
        for (const [key, expected] of [
          ['FIRN_CATALOG', 'unknown scheme; expected dynamodb://REGION/TABLE'],
          ['FIRN_ENABLED_TABLES', 'has no namespace'],
          ['FIRN_ENABLED_TABLES', 'patterns are not understood'],
          ['FIRN_WAP_WAIT_MS_FLOOR', 'expected a whole number of milliseconds'],
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
