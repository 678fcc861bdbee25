import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IcebergError } from '../../shared/base/index.ts';
import { createJsonLogger, errorFields } from '../../shared/logging/index.ts';

describe('createJsonLogger', () => {
  it('writes one JSON object a line with event, message and the fields of every line', () => {
    const lines: string[] = [];
    const logger = createJsonLogger({
      level: 'info',
      fields: { table: 'demo.events' },
      destination: { write: (line) => lines.push(line) },
    });

    logger.debug('plan.created', 'not shown');
    logger.info('commit.succeeded', 'committed 3 files', { snapshotId: '9007199254740993' });

    assert.equal(lines.length, 1);
    const { time, ...rest } = JSON.parse(lines[0]!);
    assert.match(time, /^\d{4}-\d\d-\d\dT/);
    assert.deepEqual(rest, {
      level: 'info',
      table: 'demo.events',
      event: 'commit.succeeded',
      snapshotId: '9007199254740993',
      message: 'committed 3 files',
    });
  });
});

describe('errorFields', () => {
  it('gives the kind, the context with ids as text, and the causes', () => {
    const cause = new IcebergError('unavailable', 's3: slow down', {}, new Error('503'));
    const error = new IcebergError('not-found', 'table: gone', { snapshotId: 2n ** 60n }, cause);

    assert.deepEqual(errorFields(error), {
      kind: 'not-found',
      snapshotId: '1152921504606846976',
      causes: 's3: slow down <- 503',
    });
  });

  it('calls anything else a programmer error', () => {
    assert.deepEqual(errorFields('text'), { kind: 'programmer-error' });
  });
});
