import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AvroCodec,
  type AvroValue,
  parseAvroFile,
  serializeAvroFile,
} from '../../shared/avro/index.ts';
import { type ErrorKind, isIcebergError, type JsonValue } from '../../shared/base/index.ts';
import { ByteWriter, concatBytes, decodeUtf8, encodeUtf8 } from '../../shared/bytes/index.ts';

const CODECS: readonly AvroCodec[] = ['null', 'deflate', 'snappy', 'zstandard'];

const SCHEMA = {
  type: 'record',
  name: 'r',
  fields: [
    { name: 'id', type: 'long', 'field-id': 1 },
    { name: 'text', type: ['null', 'string'], default: null, 'field-id': 2 },
  ],
};

const RECORDS = Array.from({ length: 5000 }, (_, index) => ({
  id: BigInt(index) * 1_000_000_007n,
  text: index % 3 === 0 ? null : `row ${index} of a file that has several blocks`,
}));

for (const codec of CODECS) {
  test(`reads what it wrote with codec ${codec}`, () => {
    const bytes = write(SCHEMA, RECORDS, codec);

    const file = parseAvroFile(bytes, 'x');

    assert.deepEqual([...file.records()], RECORDS);
    assert.deepEqual(file.schema, SCHEMA);
    assert.equal(text(file.metadata.get('avro.codec')), codec);
    assert.equal(text(file.metadata.get('own')), 'entry');
    assert.deepEqual([...file.metadata.keys()], ['avro.schema', 'avro.codec', 'own']);
  });

  test(`writes the same bytes again with codec ${codec}`, () => {
    assert.deepEqual(write(SCHEMA, RECORDS, codec), write(SCHEMA, RECORDS, codec));
  });
}

test('reads a file without records', () => {
  assert.deepEqual([...parseAvroFile(write(SCHEMA, [], 'deflate'), 'x').records()], []);
});

test('hands out blocks that a Buffer held as plain arrays', () => {
  const bytes = Buffer.from(write('bytes', [Uint8Array.of(1, 2, 3)], 'null'));

  const [value] = [...parseAvroFile(bytes, 'x').records()];

  assert.deepEqual(value, Uint8Array.of(1, 2, 3));
});

test('leaves out the fields that are to be skipped', () => {
  const file = parseAvroFile(write(ALL_TYPES, [ALL_VALUES], 'null'), 'x');

  for (const name of Object.keys(ALL_VALUES)) {
    const [record] = [...file.records((field) => field.name !== name && field.name !== 'x')];
    assert.deepEqual(record, { [name]: ALL_VALUES[name as keyof typeof ALL_VALUES] });
  }
});

test('reads arrays and maps whose blocks carry their size', () => {
  const items = block((writer) => {
    for (const item of [7n, -7n]) writer.zigzag64(item);
  });
  const body = block((writer) => {
    writer.zigzag64(-2n);
    writer.zigzag64(BigInt(items.length));
    writer.bytes(items);
    writer.zigzag64(1n);
    writer.zigzag64(9n);
    writer.zigzag64(0n);
  });
  const bytes = container({ type: 'array', items: 'long' }, 1n, body);

  assert.deepEqual([...parseAvroFile(bytes, 'x').records()], [[7n, -7n, 9n]]);
});

const CORRUPT: Readonly<Record<string, () => Uint8Array>> = {
  'an empty file': () => new Uint8Array(0),
  'another magic': () => change(write(SCHEMA, RECORDS, 'null'), 3, 2),
  'a header that ends early': () => write(SCHEMA, RECORDS, 'null').subarray(0, 40),
  'a header without schema': () => container(undefined, 1n, Uint8Array.of(2)),
  'a schema that is not JSON': () => containerOfText('{', 1n, Uint8Array.of(2)),
  'a header entry that stands twice': () =>
    headerWith([
      ['a', ''],
      ['a', ''],
    ]),
  'a block without its sync marker': () => {
    const bytes = write(SCHEMA, RECORDS, 'null');
    return change(bytes, bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1);
  },
  'a file cut in a block': () => write(SCHEMA, RECORDS, 'null').subarray(0, -20),
  'a block of more records than bytes': () => container('long', 1_000_000n, Uint8Array.of(2)),
  'a block of a negative number of records': () => container('long', -1n, Uint8Array.of(2)),
  'a block with bytes left over': () => container('long', 1n, Uint8Array.of(2, 2)),
  'a block of a million values without bytes': () =>
    container('null', 1_000_000n, new Uint8Array(0)),
  'a string longer than the block': () => container('string', 1n, Uint8Array.of(20, 0x61)),
  'a string of negative length': () => container('string', 1n, Uint8Array.of(1, 0x61)),
  'a string that is not UTF-8': () => container('string', 1n, Uint8Array.of(2, 0xff)),
  'a boolean of 2': () => container('boolean', 1n, Uint8Array.of(2)),
  'an int beyond 32 bits': () => container('int', 1n, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x7f)),
  'a long beyond 64 bits': () => container('long', 1n, new Uint8Array(10).fill(0xff)),
  'a union branch that does not exist': () => container(['null', 'int'], 1n, Uint8Array.of(4, 0)),
  'an enum symbol that does not exist': () =>
    container({ type: 'enum', name: 'e', symbols: ['a'] }, 1n, Uint8Array.of(2)),
  'an array of 2^62 items': () =>
    container(
      { type: 'array', items: 'int' },
      1n,
      block((writer) => writer.zigzag64(2n ** 62n)),
    ),
  'an array of -2^63 items': () =>
    container(
      { type: 'array', items: 'int' },
      1n,
      block((writer) => writer.zigzag64(-(2n ** 63n))),
    ),
  'an array of a billion nulls': () =>
    container(
      { type: 'array', items: 'null' },
      1n,
      block((writer) => writer.zigzag64(10n ** 9n)),
    ),
  'an array whose block is shorter than its size': () =>
    container({ type: 'array', items: 'int' }, 1n, Uint8Array.of(1, 4, 2, 0, 0)),
  'a snappy block whose checksum does not match': () => {
    const bytes = write('long', [1n], 'snappy');
    return change(bytes, bytes.length - 17, (bytes.at(-17) ?? 0) ^ 1);
  },
  'a snappy block shorter than its checksum': () =>
    container('long', 1n, Uint8Array.of(1, 2), 'snappy'),
  'a deflate block that is not deflate': () =>
    container('long', 1n, Uint8Array.of(7, 7, 7), 'deflate'),
};

for (const [what, make] of Object.entries(CORRUPT)) {
  test(`rejects ${what}`, () => assert.throws(() => readAll(make()), isKind('invalid-data')));
}

const UNSUPPORTED: Readonly<Record<string, () => Uint8Array>> = {
  'codec bzip2': () => container('long', 1n, Uint8Array.of(2), 'bzip2'),
  'two thousand header entries': () =>
    headerWith(Array.from({ length: 2000 }, (_, index) => [`${index}`, ''] as const)),
  'a record of a million items': () =>
    write({ type: 'array', items: 'boolean' }, [new Array(1_000_000).fill(true)], 'zstandard'),
};

for (const [what, make] of Object.entries(UNSUPPORTED)) {
  test(`does not support ${what}`, () =>
    assert.throws(() => readAll(make()), isKind('unsupported')));
}

test('rejects a block that grows beyond its limit before it is allocated', () => {
  const zeros = write('bytes', [new Uint8Array(70 * 1024 * 1024)], 'zstandard');

  assert.ok(zeros.length < 20_000);
  assert.throws(() => readAll(zeros), isKind('invalid-data'));
});

const ALL_TYPES = {
  type: 'record',
  name: 'all',
  fields: [
    { name: 'nothing', type: 'null' },
    { name: 'flag', type: 'boolean' },
    { name: 'int', type: 'int' },
    { name: 'long', type: 'long' },
    { name: 'float', type: 'float' },
    { name: 'double', type: 'double' },
    { name: 'bytes', type: 'bytes' },
    { name: 'string', type: 'string' },
    { name: 'fixed', type: { type: 'fixed', name: 'f3', size: 3 } },
    { name: 'enum', type: { type: 'enum', name: 'e', symbols: ['a', 'b'] } },
    { name: 'array', type: { type: 'array', items: ['null', 'f3'] } },
    { name: 'map', type: { type: 'map', values: 'long' } },
    { name: 'record', type: { type: 'record', name: 'r', fields: [{ name: 'x', type: 'int' }] } },
    { name: 'time', type: ['null', { type: 'long', logicalType: 'timestamp-micros' }] },
  ],
};

const ALL_VALUES = {
  nothing: null,
  flag: true,
  int: -(2 ** 31),
  long: -(2n ** 63n),
  float: 1.5,
  double: -0.1,
  bytes: Uint8Array.of(1, 2),
  string: '\uFEFFé😀',
  fixed: Uint8Array.of(7, 8, 9),
  enum: 'b',
  array: [null, Uint8Array.of(0, 0, 1)],
  map: Object.assign(Object.create(null), { a: 1n, ['__proto__']: 2n }),
  record: { x: 5 },
  time: 2n ** 63n - 1n,
};

for (const codec of CODECS) {
  test(`reads every type with codec ${codec}`, () => {
    assert.deepEqual(
      [...parseAvroFile(write(ALL_TYPES, [ALL_VALUES], codec), 'x').records()],
      [ALL_VALUES],
    );
  });
}

test('refuses to write values that do not fit the schema', () => {
  const misfits: readonly (readonly [JsonValue, AvroValue])[] = [
    ['long', 1],
    ['long', 2n ** 63n],
    ['int', 2 ** 31],
    ['int', 1n],
    ['string', 5],
    ['bytes', 'text'],
    [{ type: 'fixed', name: 'f', size: 2 }, Uint8Array.of(1)],
    [['null', 'long'], 'text'],
    [SCHEMA, { text: null }],
  ];

  for (const [schema, value] of misfits) {
    assert.throws(() => write(schema, [value], 'null'), isKind('invalid-data'));
  }
});

test('does not write names that are not ASCII', () => {
  const schema = { type: 'record', name: 'r', fields: [{ name: 'été', type: 'int' }] };

  assert.throws(() => write(schema, [], 'null'), isKind('unsupported'));
});

test('reads names that are not ASCII, as Java writes them', () => {
  const schema = { type: 'record', name: 'r', fields: [{ name: 'été', type: 'int' }] };

  const bytes = container(schema, 1n, Uint8Array.of(2));

  assert.deepEqual([...parseAvroFile(bytes, 'x').records()], [{ été: 1 }]);
});

function write(schema: JsonValue, records: readonly AvroValue[], codec: AvroCodec): Uint8Array {
  return serializeAvroFile({ schema, metadata: { own: 'entry' }, records, codec }, 'x');
}

function readAll(bytes: Uint8Array): AvroValue[] {
  return [...parseAvroFile(bytes, 'x').records()];
}

/** A file of one block, by hand. */
function container(
  schema: JsonValue | undefined,
  recordCount: bigint,
  stored: Uint8Array,
  codec = 'null',
): Uint8Array {
  const schemaText = schema === undefined ? undefined : JSON.stringify(schema);
  return containerOfText(schemaText, recordCount, stored, codec);
}

function containerOfText(
  schemaText: string | undefined,
  recordCount: bigint,
  stored: Uint8Array,
  codec = 'null',
): Uint8Array {
  const schemaEntry = schemaText === undefined ? [] : [['avro.schema', schemaText] as const];
  const header = headerWith([...schemaEntry, ['avro.codec', codec]]);
  const body = block((writer) => {
    writer.zigzag64(recordCount);
    writer.zigzag64(BigInt(stored.length));
    writer.bytes(stored);
    writer.bytes(new Uint8Array(16));
  });
  return concatBytes([header, body]);
}

/** Magic, header entries and a sync marker of zeros. */
function headerWith(entries: readonly (readonly [string, string])[]): Uint8Array {
  return block((writer) => {
    writer.bytes(Uint8Array.of(0x4f, 0x62, 0x6a, 1));
    writer.zigzag64(BigInt(entries.length));
    for (const part of entries.flat()) {
      writer.zigzag64(BigInt(encodeUtf8(part).length));
      writer.utf8(part);
    }
    writer.zigzag64(0n);
    writer.bytes(new Uint8Array(16));
  });
}

function block(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter();
  write(writer);
  return writer.finish();
}

function change(bytes: Uint8Array, offset: number, value: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[offset] = value;
  return changed;
}

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : decodeUtf8(bytes, 'x');
}

function isKind(kind: ErrorKind): (error: unknown) => boolean {
  return (error) => isIcebergError(error, kind);
}
