import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeUtf8 } from '../../shared/bytes/index.ts';
import { type PuffinFile, readPuffinFooter } from '../../shared/puffin/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { lz4Frame } from './lz4-frames.ts';
import { blobJson, countingReader, goldenPuffin, puffinFile } from './puffin-files.ts';

const BODY = new Uint8Array(100);

function read(bytes: Uint8Array): Promise<PuffinFile> {
  return readPuffinFooter(bytesReader(bytes, 'file.puffin'));
}

async function refuses(bytes: Uint8Array, message: RegExp): Promise<void> {
  await assert.rejects(read(bytes), errorOfKind('invalid-data', message));
}

/** A file with 100 bytes for blobs. */
function fileOf(...blobs: readonly object[]): Uint8Array {
  return puffinFile({ body: BODY, payload: JSON.stringify({ blobs }) });
}

describe('files of Iceberg Java', () => {
  test('with blobs of several types, long ids, no bytes and odd properties', async () => {
    const bytes = goldenPuffin('various-blobs.puffin');

    const { blobs, properties, footerSizeBytes } = await read(bytes);

    assert.deepEqual(properties, { 'created-by': 'golden' });
    assert.equal(footerSizeBytes, bytes.length - 3360);
    assert.deepEqual(blobs, [
      {
        type: 'apache-datasketches-theta-v1',
        fields: [1],
        snapshotId: 9_007_199_254_740_993n,
        sequenceNumber: 34n,
        offset: 4,
        lengthBytes: 56,
        compressionCodec: 'zstd',
        properties: { ndv: '17' },
        unknownFields: {},
      },
      {
        type: 'apache-datasketches-theta-v1',
        fields: [2],
        snapshotId: 2n ** 63n - 1n,
        sequenceNumber: 0n,
        offset: 60,
        lengthBytes: 3300,
        properties: {},
        unknownFields: {},
      },
      {
        type: 'some-other-type-v7',
        fields: [3, 1, 2],
        snapshotId: -1n,
        sequenceNumber: -1n,
        offset: 3360,
        lengthBytes: 0,
        properties: { 'quoted "key"': 'line\nbreak', é: '雪' },
        unknownFields: {},
      },
    ]);
  });

  test('without blobs', async () => {
    const { blobs } = await read(goldenPuffin('no-blobs.puffin'));

    assert.deepEqual(blobs, []);
  });
});

describe('what a footer costs', () => {
  const bytes = goldenPuffin('various-blobs.puffin');
  const footerSizeBytes = bytes.length - 3360;

  test('one read where its size is known', async () => {
    const reader = countingReader(bytes);

    await readPuffinFooter(reader, { footerSizeBytes });

    assert.deepEqual(reader.reads, [footerSizeBytes]);
  });

  test('one read where the tail holds it', async () => {
    const reader = countingReader(bytes);

    await readPuffinFooter(reader, { tailBytes: footerSizeBytes });

    assert.deepEqual(reader.reads, [footerSizeBytes]);
  });

  test('two reads of each byte once where the tail is too short', async () => {
    const reader = countingReader(bytes);

    const { blobs } = await readPuffinFooter(reader, { tailBytes: 100 });

    assert.deepEqual(reader.reads, [100, footerSizeBytes - 100]);
    assert.equal(blobs.length, 3);
  });

  test('two reads at least of what tells its size', async () => {
    const reader = countingReader(bytes);

    await readPuffinFooter(reader, { tailBytes: 0 });

    assert.deepEqual(reader.reads, [12, footerSizeBytes - 12]);
  });
});

describe('what is accepted', () => {
  test('a compressed payload', async () => {
    const payload = lz4Frame(encodeUtf8(JSON.stringify({ blobs: [blobJson()] })));

    const { blobs } = await read(puffinFile({ payload, flags: 1 }));

    assert.equal(blobs[0]?.type, 'some-type');
  });

  test('members that the spec does not name', async () => {
    const { blobs } = await read(fileOf(blobJson({ 'new-thing': { a: [1] } })));

    assert.deepEqual(blobs[0]?.unknownFields, { 'new-thing': { a: [1] } });
  });

  test('codecs and properties that are null, and codecs that nobody knows', async () => {
    const { blobs } = await read(
      fileOf(
        blobJson({ 'compression-codec': null, properties: null }),
        blobJson({ 'compression-codec': 'snow' }),
      ),
    );

    assert.ok(!('compressionCodec' in blobs[0]!));
    assert.equal(blobs[1]?.compressionCodec, 'snow');
  });

  test('blobs in any order, and empty ones within others', async () => {
    const { blobs } = await read(
      fileOf(
        blobJson({ offset: 54, length: 50 }),
        blobJson({ offset: 4, length: 50 }),
        blobJson({ offset: 60, length: 0 }),
      ),
    );

    assert.deepEqual(
      blobs.map(({ offset }) => offset),
      [54, 4, 60],
    );
  });
});

describe('what is refused', () => {
  test('files too short for a footer', async () => {
    await refuses(new Uint8Array(19), /19 bytes are too few/);
  });

  test('magic that is missing at the end, before the payload, or at the start', async () => {
    const sound = fileOf(blobJson());
    const footerStart = 4 + BODY.length;
    for (const offset of [sound.length - 1, footerStart, 0]) {
      const changed = sound.slice();
      changed[offset] = 0;
      await refuses(changed, /no magic PFA1/);
    }
  });

  test('payload sizes that are negative or beyond the file', async () => {
    const payload = '{"blobs":[]}';
    await refuses(puffinFile({ payload, payloadSize: -1 }), /footer of 15 bytes is not between 16/);
    await refuses(puffinFile({ payload, payloadSize: -(2 ** 31) }), /not between 16 and 28/);
    await refuses(puffinFile({ payload, payloadSize: 2 ** 31 - 1 }), /2147483663 bytes/);
    await refuses(puffinFile({ payload, payloadSize: 13 }), /footer of 29 bytes/);
  });

  test('a size from table metadata that is not the footer’s', async () => {
    const bytes = goldenPuffin('no-blobs.puffin');
    const reader = bytesReader(bytes, 'file.puffin');

    for (const [footerSizeBytes, message] of [
      [15, /footer of 15 bytes is not between 16 and 65/],
      [bytes.length, /footer of 69 bytes is not between 16 and 65/],
      [64, /footer is said to have 64 bytes, not 65/],
      [Number.NaN, /footer of NaN bytes/],
    ] as const) {
      await assert.rejects(
        readPuffinFooter(reader, { footerSizeBytes }),
        errorOfKind('invalid-data', message),
      );
    }
  });

  test('flags that are not known, as unsupported', async () => {
    for (const flags of [2, 1 << 8, 0x8000_0000, 3]) {
      await assert.rejects(
        read(puffinFile({ payload: '{"blobs":[]}', flags })),
        errorOfKind('unsupported', /footer flags \d+ are not known/),
      );
    }
  });

  test('footers beyond the limit, as unsupported', async () => {
    const options = { footerBytesMax: 50 };
    const plain = puffinFile({ payload: JSON.stringify({ blobs: [blobJson()] }) });
    const text = encodeUtf8(`{"blobs":[]${' '.repeat(1000)}}`);
    const compressed = puffinFile({ payload: lz4Frame(text), flags: 1 });

    await assert.rejects(
      readPuffinFooter(bytesReader(plain), options),
      errorOfKind('unsupported', /footer of \d+ bytes exceeds the limit of 50/),
    );
    await assert.rejects(
      readPuffinFooter(bytesReader(compressed), { footerBytesMax: 100 }),
      errorOfKind('unsupported', /uncompressed size 1012 exceeds the limit of 100/),
    );
  });

  for (const [payload, message] of [
    ['', /not valid JSON/],
    ['[]', /is not a JSON object/],
    ['{}', /blobs is not a JSON array/],
    ['{"blobs":[1]}', /blob 0: is not a JSON object/],
    ['{"blobs":[],"properties":7}', /properties is not a JSON object/],
    ['{"blobs":[],"properties":{"a":1}}', /property a: is not a string/],
  ] as const) {
    test(`the payload ${payload}`, async () => {
      await refuses(puffinFile({ payload }), message);
    });
  }

  test('a payload that is not UTF-8', async () => {
    await refuses(puffinFile({ payload: Uint8Array.of(0x22, 0xff, 0x22) }), /is not UTF-8/);
  });

  for (const [changes, message] of [
    [{ type: undefined }, /blob 0: type: is not a string/],
    [{ fields: undefined }, /blob 0: fields: is not a JSON array/],
    [{ fields: ['1'] }, /fields: is not an integer/],
    [{ fields: [2 ** 31] }, /fields: 2147483648 exceeds 32 bits/],
    [{ 'snapshot-id': 1.5 }, /snapshot-id: is not an integer/],
    [{ 'sequence-number': null }, /sequence-number: is not an integer/],
    [{ offset: -1 }, /offset: -1 is negative/],
    [{ length: -1 }, /length: -1 is negative/],
    [{ offset: 3 }, /blob of 0 bytes at offset 3 is not between 4 and 104/],
    [{ offset: 104, length: 1 }, /blob of 1 bytes at offset 104 is not between 4 and 104/],
    [{ offset: 4, length: 101 }, /blob of 101 bytes at offset 4/],
    [{ offset: 105 }, /blob of 0 bytes at offset 105/],
    [{ 'compression-codec': 7 }, /compression-codec: is not a string/],
    [{ properties: { a: null } }, /property a: is not a string/],
  ] as const) {
    test(`a blob with ${JSON.stringify(changes)}`, async () => {
      await refuses(fileOf(blobJson(changes)), message);
    });
  }

  test('ids of more than 64 bits, and sizes of more than 53', async () => {
    const withNumber = (name: string, digits: string): Uint8Array =>
      puffinFile({
        payload: JSON.stringify({ blobs: [blobJson({ [name]: 777 })] }).replace('777', digits),
      });

    await refuses(withNumber('snapshot-id', '9223372036854775808'), /does not fit 64 bits/);
    await assert.rejects(
      read(withNumber('length', '9223372036854775807')),
      errorOfKind('unsupported', /exceeds the largest safe integer/),
    );
  });

  test('blobs that overlap', async () => {
    await refuses(
      fileOf(
        blobJson({ offset: 50, length: 10 }),
        blobJson({ offset: 4, length: 47 }),
        blobJson({ offset: 70, length: 1 }),
      ),
      /blob of 47 bytes at offset 4 overlaps the one at 50/,
    );
    await refuses(
      fileOf(blobJson({ offset: 4, length: 9 }), blobJson({ offset: 4, length: 9 })),
      /overlaps the one at 4/,
    );
  });
});
