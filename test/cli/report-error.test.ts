import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportError } from '../../cli/report-error.ts';
import { ERROR_KINDS, type ErrorKind, IcebergError } from '../../shared/base/index.ts';

describe('reportError', () => {
  it('tells kind, message, where, cause and what to do', () => {
    const cause = new Error('connection reset');
    const error = new IcebergError(
      'unavailable',
      's3:GetObject s3://b/k: RequestTimeout',
      { location: 's3://b/k', offset: 12n },
      cause,
    );

    assert.deepEqual(reportError(error), {
      exitCode: 1,
      text: [
        'error (unavailable): s3:GetObject s3://b/k: RequestTimeout',
        '  offset: 12',
        '  cause: connection reset',
        '  the service did not answer; nothing was committed. Run it again',
      ].join('\n'),
      json: {
        error: {
          kind: 'unavailable',
          location: 's3://b/k',
          offset: '12',
          causes: 'connection reset',
          message: 's3:GetObject s3://b/k: RequestTimeout',
        },
      },
    });
  });

  it('says what to do about each kind', () => {
    for (const kind of Object.keys(ERROR_KINDS) as ErrorKind[]) {
      const { text } = reportError(new IcebergError(kind, 'x: y'));

      assert.match(text, new RegExp(`^error \\(${kind}\\): x: y\\n {2}.{20,}$`));
    }
  });

  it('does not ask for credentials where tables lie in a folder', () => {
    const error = new IcebergError('access-denied', 'read /tables/x: EACCES');

    assert.match(
      reportError(error, 'file:/tables').text,
      /\n {2}let this user read and write the file/,
    );
    assert.match(reportError(error, 'dynamodb://r/t').text, /\n {2}grant the action/);
  });

  it('is a usage error only for what was typed', () => {
    const typed = new IcebergError('invalid-config', 'option x: is not y');
    const property = new IcebergError('invalid-config', 'table property x: is not y', { key: 'x' });

    assert.equal(reportError(typed).exitCode, 2);
    assert.equal(reportError(property).exitCode, 1);
  });

  it('shows control characters of foreign text as escapes', () => {
    const error = new IcebergError('invalid-data', 'a\u001b[2J: b', { location: 'c\u0007' });

    assert.doesNotMatch(reportError(error).text.replaceAll('\n', ''), /\p{Cc}/u);
  });

  it('shows where a mistake in Firn happened', () => {
    const { exitCode, text } = reportError(new TypeError('x is not a function'));

    assert.equal(exitCode, 1);
    assert.match(text, /^error \(programmer-error\): x is not a function\nTypeError: /);
    assert.match(text, /report-error\.test\.ts/);
  });

  it('takes anything that is thrown', () => {
    assert.equal(reportError('text').text, 'error (programmer-error): text');
  });
});
