import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFunctionConfig as readRewriteConfig } from '../../functions/rewrite-data-files/config.ts';
import { readFunctionConfig as readRouterConfig } from '../../functions/route-events/config.ts';
import { readFunctionConfig as readSweepConfig } from '../../functions/sweep-tables/config.ts';
import { parseDeploymentConfig } from '../../shared/deployment/index.ts';
import { DEFAULT_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { LEAST_ENVIRONMENT } from '../support/memory-deployment.ts';

const { FIRN_CATALOG, FIRN_STATE_LOCATION: _, ...QUEUES } = LEAST_ENVIRONMENT;

const QUEUE_URLS = {
  'rewrite-data-files': QUEUES.FIRN_REWRITE_DATA_FILES_QUEUE,
  'rewrite-data-files-dead-letters': QUEUES.FIRN_REWRITE_DATA_FILES_DEAD_LETTERS,
  'rewrite-deletes': QUEUES.FIRN_REWRITE_DELETES_QUEUE,
  'rewrite-deletes-dead-letters': QUEUES.FIRN_REWRITE_DELETES_DEAD_LETTERS,
  'event-dead-letters': QUEUES.FIRN_EVENT_DEAD_LETTERS,
};

describe('parseDeploymentConfig', () => {
  it('needs a catalog and queues only, and allows no table by default', () => {
    assert.deepEqual(parseDeploymentConfig({ FIRN_CATALOG, ...QUEUES, PATH: '/bin' }), {
      catalogUrl: FIRN_CATALOG,
      enabledTables: [],
      isObserving: false,
      guards: DEFAULT_GUARD_SETTINGS,
      routingIntervalMsFloor: 60_000,
      messageVisibilityMs: 180_000,
      queueUrls: QUEUE_URLS,
      logLevel: 'info',
    });
  });

  it('reads every variable', () => {
    const config = parseDeploymentConfig({
      FIRN_CATALOG,
      ...QUEUES,
      FIRN_ENABLED_TABLES: ' db.orders , lake.raw.clicks,',
      FIRN_LEDGER_TABLE: 'our-ledger',
      FIRN_STATE_LOCATION: 's3://our-state/firn',
      FIRN_LOG_LEVEL: 'debug',
      FIRN_OBSERVE: 'true',
      FIRN_MIN_FILE_AGE_MS_FLOOR: '1',
      FIRN_MIN_FILE_AGE_MS_DERIVED_MAX: '2',
      FIRN_COMMIT_INTERVAL_MS_FLOOR: '3',
      FIRN_WAP_WAIT_MS_FLOOR: '0',
      FIRN_ROUTING_INTERVAL_MS_FLOOR: '4',
      FIRN_MESSAGE_VISIBILITY_MS: '5',
      AWS_REGION: 'eu-north-1',
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
      routingIntervalMsFloor: 4,
      messageVisibilityMs: 5,
      region: 'eu-north-1',
      queueUrls: QUEUE_URLS,
      logLevel: 'debug',
    });
    assert.ok(Object.isFrozen(config));
  });

  it('names every variable that is missing', () => {
    const names = ['FIRN_CATALOG', ...Object.keys(QUEUES)];
    const message = `environment: ${names.map((name) => `${name}: is not set`).join('; ')}`;

    assert.throws(
      () => parseDeploymentConfig({}),
      errorOfKind('invalid-config', new RegExp(`^${message}$`)),
    );
  });

  it('is the same for every function', () => {
    const env = { ...LEAST_ENVIRONMENT, FIRN_OBSERVE: 'true' };

    for (const read of [readRewriteConfig, readRouterConfig, readSweepConfig]) {
      assert.deepEqual(read(env), parseDeploymentConfig(env));
    }
  });

  it('names every bad variable with its value and what was expected', () => {
    const env = {
      ...QUEUES,
      FIRN_CATALOG: 'mysql://x',
      FIRN_EVENT_DEAD_LETTERS: 'a-queue',
      FIRN_ENABLED_TABLES: 'orders,*.raw',
      FIRN_LOG_LEVEL: 'loud',
      FIRN_OBSERVE: 'yes',
      FIRN_WAP_WAIT_MS_FLOOR: '24h',
      AWS_ENDPOINT_URL_S3: 'nowhere',
    };

    assert.throws(
      () => parseDeploymentConfig(env),
      (error: Error) => {
        for (const [key, expected] of [
          ['FIRN_CATALOG', 'unknown scheme; expected dynamodb://REGION/TABLE'],
          ['FIRN_ENABLED_TABLES', 'has no namespace'],
          ['FIRN_ENABLED_TABLES', 'patterns are not understood'],
          ['FIRN_WAP_WAIT_MS_FLOOR', 'expected a whole number of milliseconds'],
          ['FIRN_EVENT_DEAD_LETTERS', 'URL'],
          ['FIRN_LOG_LEVEL', '"debug"|"info"|"warn"|"error"'],
          ['FIRN_OBSERVE', '"true"|"false"'],
          ['AWS_ENDPOINT_URL_S3', 'URL'],
        ] as const) {
          const problem = error.message.split('; ').join('\n');
          assert.match(problem, new RegExp(`${key}: `));
          assert.ok(error.message.includes(expected), `${expected} in ${error.message}`);
        }
        const bad = Object.values(env).filter((text) => !text.startsWith('https://sqs.'));
        for (const value of bad) assert.ok(error.message.includes(`(is '${value}')`));
        return errorOfKind('invalid-config')(error);
      },
    );
  });

  it('refuses a misspelt variable, since what it was to forbid would be allowed', () => {
    assert.throws(
      () =>
        parseDeploymentConfig({ ...LEAST_ENVIRONMENT, FIRN_OBSERV: 'true', FIRN_ENABLE: 'a.b' }),
      errorOfKind('invalid-config', /FIRN_ENABLE: is not known; FIRN_OBSERV: is not known/),
    );
  });
});
