import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAvroFile, serializeAvroFile } from '../../shared/avro/index.ts';
import { isIcebergError } from '../../shared/base/index.ts';
import { mutationsOf } from '../support/mutations.ts';

const SCHEMA = {
  type: 'record',
  name: 'r',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'text', type: ['null', 'string'], default: null },
    { name: 'list', type: { type: 'array', items: { type: 'fixed', name: 'f', size: 2 } } },
    { name: 'map', type: { type: 'map', values: 'bytes' } },
    { name: 'kind', type: { type: 'enum', name: 'e', symbols: ['a', 'b'] } },
    { name: 'real', type: ['null', 'double'], default: null },
  ],
};

const RECORDS = Array.from({ length: 12 }, (_, index) => ({
  id: BigInt(index) * 123_456_789_012n,
  text: index % 2 === 0 ? null : `text ${index}`,
  list: Array.from({ length: index % 4 }, () => Uint8Array.of(index, 255)),
  map: { key: Uint8Array.of(index) },
  kind: index % 3 === 0 ? 'a' : 'b',
  real: index / 3,
}));

for (const codec of ['null', 'deflate', 'snappy', 'zstandard'] as const) {
  test(`answers every mutation of a ${codec} file with values or a named error`, () => {
    const bytes = serializeAvroFile({ schema: SCHEMA, metadata: {}, records: RECORDS, codec }, 'x');

    for (const { mutated, what } of mutationsOf(bytes, 20261130)) {
      try {
        for (const record of parseAvroFile(mutated, 'x').records()) assert.ok(record !== undefined);
      } catch (error) {
        const isNamed =
          isIcebergError(error, 'invalid-data') || isIcebergError(error, 'unsupported');
        assert.ok(isNamed, `${what}: ${error}`);
      }
    }
  });
}
