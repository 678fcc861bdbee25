import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type CatalogRecord,
  parseCatalogRecord,
  parseCatalogStreamEvent,
  sequenceNumberOf,
} from '../../events/index.ts';
import { readSamples } from './read-samples.ts';

const VALID = readSamples('catalog-stream/v1', 'samples');
const INVALID = readSamples('catalog-stream/v1', 'samples/invalid');

function recordsOf(event: unknown): readonly unknown[] {
  const parsed = parseCatalogStreamEvent(event);
  assert.ok(parsed.isValid);
  return parsed.value;
}

function parseSample(name: string): CatalogRecord[] {
  const sample = VALID.find((each) => each.name === name);
  return recordsOf(sample?.value).map((record) => {
    const parsed = parseCatalogRecord(record);
    assert.ok(parsed.isValid, parsed.isValid ? '' : parsed.reason);
    return parsed.value;
  });
}

function reasonFor(name: string): string {
  const sample = INVALID.find((each) => each.name === name);
  const parsed = parseCatalogRecord(recordsOf(sample?.value)[0]);
  assert.ok(!parsed.isValid);
  return parsed.reason;
}

describe('catalog-stream v1', () => {
  for (const viewType of ['keys-only', 'new-image', 'old-image', 'new-and-old-images']) {
    test(`reads an insert, a change and a removal of the view type ${viewType}`, () => {
      const records = parseSample(`${viewType}.json`);

      assert.deepEqual(
        records.map(({ eventName }) => eventName),
        ['INSERT', 'MODIFY', 'REMOVE'],
      );
      for (const { subject, sequenceNumber, writtenAtMs } of records) {
        assert.deepEqual(subject, { kind: 'table', table: 'demo.events' });
        assert.match(sequenceNumber, /^1100000000017454\d+$/);
        assert.ok(writtenAtMs !== undefined && writtenAtMs % 1000 === 0);
      }
    });
  }

  test('tells the item of a namespace from a table', () => {
    const [record] = parseSample('namespace.json');

    assert.deepEqual(record?.subject, { kind: 'namespace', namespace: 'demo' });
  });

  test('says why a table cannot be addressed', () => {
    const [record] = parseSample('unaddressable-table.json');

    assert.deepEqual(record?.subject, {
      kind: 'unaddressable',
      identifier: 'demo.orders.2026',
      reason: 'demo.orders.2026: is not in the namespace demo',
    });
  });

  test('tolerates what DynamoDB adds, and times that are finer than a second', () => {
    const [record] = parseSample('unknown-envelope-field.json');

    assert.equal((record?.writtenAtMs ?? 0) % 1000, 250);
  });

  test('refuses each invalid sample for a reason that names the place', () => {
    const reasons = Object.fromEntries(INVALID.map(({ name }) => [name, reasonFor(name)]));

    assert.deepEqual(reasons, {
      'empty-key.json':
        'stream record: dynamodb.Keys.namespace.S: Too small: expected string to have >=1 characters',
      'no-keys.json':
        'stream record: dynamodb.Keys: Invalid input: expected object, received undefined',
      'no-object.json': 'stream record: Invalid input: expected object, received string',
      'no-sequence-number.json':
        'stream record: dynamodb.SequenceNumber: Invalid input: expected string, received undefined',
      'number-key.json':
        'stream record: dynamodb.Keys.identifier.S: Invalid input: expected string, received undefined',
      'other-keys.json':
        'stream record: dynamodb.Keys.identifier: Invalid input: expected object, received undefined; ' +
        'dynamodb.Keys.namespace: Invalid input: expected object, received undefined',
      'other-source.json': 'stream record: eventSource: Invalid input: expected "aws:dynamodb"',
      'unknown-event-name.json':
        'stream record: eventName: Invalid option: expected one of "INSERT"|"MODIFY"|"REMOVE"',
    });
  });

  test('finds the sequence number of a malformed record where it has one', () => {
    const numbers = Object.fromEntries(
      INVALID.map(({ name, value }) => [name, sequenceNumberOf(recordsOf(value)[0]) !== undefined]),
    );

    assert.deepEqual(numbers, {
      'empty-key.json': true,
      'no-keys.json': true,
      'no-object.json': false,
      'no-sequence-number.json': false,
      'number-key.json': true,
      'other-keys.json': true,
      'other-source.json': true,
      'unknown-event-name.json': true,
    });
  });

  test('refuses an event without records', () => {
    assert.deepEqual(parseCatalogStreamEvent({ detail: {} }), {
      isValid: false,
      reason: 'stream event: Records: Invalid input: expected array, received undefined',
    });
  });

  test('never throws, and shortens long lists of problems', () => {
    fc.assert(
      fc.property(fc.anything(), (event) => {
        const parsed = parseCatalogRecord(event);
        assert.ok(parsed.isValid || parsed.reason.length < 2_000);
        parseCatalogStreamEvent(event);
        sequenceNumberOf(event);
      }),
      { seed: 11 },
    );
    const { isValid, ...rest } = parseCatalogRecord({ dynamodb: { Keys: {} } });
    assert.equal(isValid, false);
    assert.match(JSON.stringify(rest), /eventSource: .*eventName: .*SequenceNumber: /);
  });

  test('takes keys apart as the catalog puts them together', () => {
    const level = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      .filter((text) => !text.includes('.'));
    fc.assert(
      fc.property(fc.array(level, { minLength: 1, maxLength: 3 }), level, (levels, name) => {
        const namespace = levels.join('.');
        const table = `${namespace}.${name}`;
        const record = {
          eventSource: 'aws:dynamodb',
          eventName: 'MODIFY',
          dynamodb: {
            SequenceNumber: '1',
            Keys: { identifier: { S: table }, namespace: { S: namespace } },
          },
        };

        const parsed = parseCatalogRecord(record);

        assert.ok(parsed.isValid);
        assert.deepEqual(parsed.value.subject, { kind: 'table', table });
      }),
      { seed: 12 },
    );
  });
});
