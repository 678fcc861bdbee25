import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  hasCorruptByteArrayBounds,
  needsRecode,
  parseCreatedBy,
} from '../../shared/parquet/created-by.ts';
import { CREATED_BY } from '../../shared/parquet/file-writer.ts';

const SUSPECT = [
  undefined,
  '',
  'hyparquet',
  'parquet-mr',
  'parquet-mr version',
  'parquet-mr version (build abcd)',
  'parquet-mr version 1.6',
  'parquet-mr version 1.x.0 (build abcd)',
  'parquet-mr version 99999999999.0.0',
  'parquet-mr version 1.5.0-cdh99999999999.99999999999',
  'parquet-mr version 1.2.5 (build abcd)',
  'parquet-mr version 1.6.0rc4 (build abcd)',
  'parquet-mr version 1.7.0 (build abcd)',
  'parquet-mr version 1.8.0rc2-SNAPSHOT (build ddb469afac70404ea63b72ed2f07a911a8592ff7)',
  'parquet-mr version 1.8.0-SNAPSHOT (build abcd)',
  'parquet-mr version 1.5.0-cdh5.4.999 (build abcd)',
  'parquet-mr version 1.4.9-cdh5.5.0 (build abcd)',
  'parquet-mr version 1.5.0 (build abcd)',
  'parquet-mr version 1.8.1 (build abcd',
  'x'.repeat(2000),
];

const SOUND = [
  'parquet-mr version 1.8.0 (build abcd)',
  'parquet-mr version 1.8.1-SNAPSHOT',
  'parquet-mr version 1.10.0+build7 (build abcd)',
  'parquet-mr version 1.13.1 (build db4183109d5b734ec5930d870cdae161e408ddba)',
  'parquet-cpp-arrow version 26.0.1',
  'parquet-cpp version 1.0.0',
  'DuckDB version v1.5.6 (build 0123456789)',
  'impala version 1.0 (build 6cf94d29b2b7115df4de2c06e2ab4326d721eb55)',
  'parquet-rs version 50.0.0',
  CREATED_BY,
];

const SOUND_BOUNDS_ONLY = [
  'parquet-mr version 1.5.0-cdh5.5.0 (build abcd)',
  'parquet-mr version 1.5.0-cdh5.5.0-SNAPSHOT',
  'parquet-mr version 1.5.0-cdh5.12.1',
  'parquet-mr version 1.5.0-cdh6.0.0',
];

describe('hasCorruptByteArrayBounds', () => {
  for (const createdBy of SUSPECT) {
    test(`distrusts ${JSON.stringify(createdBy?.slice(0, 90))}`, () => {
      assert.equal(hasCorruptByteArrayBounds(createdBy), true);
    });
  }
  for (const createdBy of [...SOUND, ...SOUND_BOUNDS_ONLY]) {
    test(`trusts ${JSON.stringify(createdBy)}`, () => {
      assert.equal(hasCorruptByteArrayBounds(createdBy), false);
    });
  }
});

describe('needsRecode', () => {
  test('asks for DELTA_BYTE_ARRAY of unknown writers and of parquet-mr before 1.8.0', () => {
    for (const createdBy of [...SUSPECT, ...SOUND_BOUNDS_ONLY]) {
      assert.equal(needsRecode(createdBy, ['PLAIN', 'DELTA_BYTE_ARRAY']), true, createdBy);
    }
  });

  test('lets DELTA_BYTE_ARRAY of other writers pass', () => {
    for (const createdBy of SOUND) {
      assert.equal(needsRecode(createdBy, ['DELTA_BYTE_ARRAY']), false, createdBy);
    }
  });

  test('lets other encodings of any writer pass', () => {
    for (const createdBy of SUSPECT) {
      assert.equal(needsRecode(createdBy, ['PLAIN', 'DELTA_LENGTH_BYTE_ARRAY', 'RLE']), false);
    }
  });
});

describe('parseCreatedBy', () => {
  test('splits application, version and build', () => {
    assert.deepEqual(parseCreatedBy('parquet-mr version 1.8.0rc2-SNAPSHOT ( build ddb4 )'), {
      application: 'parquet-mr',
      version: '1.8.0rc2-SNAPSHOT',
      build: 'ddb4',
    });
    assert.deepEqual(parseCreatedBy('parquet-mr  version 1.8.0'), {
      application: 'parquet-mr',
      version: '1.8.0',
    });
    assert.deepEqual(parseCreatedBy('a version b version (build )'), {
      application: 'a',
      version: 'b version',
    });
  });

  test('understands our own', () => {
    assert.deepEqual(parseCreatedBy(CREATED_BY), {
      application: 'firn',
      version: '0.1.0',
      build: '1',
    });
  });

  test('does not take an application for granted', () => {
    assert.equal(parseCreatedBy(' version 1.8.0'), undefined);
    assert.equal(parseCreatedBy('two\nlines version 1.8.0'), undefined);
  });

  test('answers at once on long runs of spaces', () => {
    assert.equal(parseCreatedBy(`a version${' '.repeat(1000)}(`), undefined);
  });
});
