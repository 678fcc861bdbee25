import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeAwsChunked } from '../../local/s3-endpoint/aws-chunked.ts';
import { parseTarget } from '../../local/s3-endpoint/call.ts';
import { createChecksum } from '../../local/s3-endpoint/checksums.ts';
import { pathOfKey } from '../../local/s3-endpoint/folder-body-store.ts';
import { element, elements, elementText, readXml } from '../../local/s3-endpoint/xml.ts';

async function* pieces(bytes: Uint8Array, lengthBytes: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += lengthBytes) {
    yield bytes.subarray(start, start + lengthBytes);
  }
}

async function decode(text: string, pieceBytes: number) {
  const trailers = new Map<string, string>();
  const decoded = decodeAwsChunked(pieces(Buffer.from(text, 'latin1'), pieceBytes), trailers);
  const bytes = Buffer.concat(await Array.fromAsync(decoded));
  return { text: bytes.toString('latin1'), trailers: Object.fromEntries(trailers) };
}

describe('aws-chunked bodies', () => {
  const signed =
    '5;chunk-signature=abc\r\nhello\r\n6;chunk-signature=def\r\n\r\nworl\r\n' +
    '0;chunk-signature=ghi\r\nx-amz-checksum-crc32:AAAAAA==\r\nx-amz-trailer-signature:jkl\r\n\r\n';

  for (const pieceBytes of [1, 2, 3, 7, 1000]) {
    it(`lose their framing when they come in pieces of ${pieceBytes} bytes`, async () => {
      assert.deepEqual(await decode(signed, pieceBytes), {
        text: 'hello\r\nworl',
        trailers: { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-trailer-signature': 'jkl' },
      });
    });
  }

  it('may be empty, and may end without the last line end', async () => {
    assert.deepEqual(await decode('0\r\n\r\n', 1), { text: '', trailers: {} });
    assert.deepEqual(await decode('1\r\na\r\n0\r\n', 1), { text: 'a', trailers: {} });
  });

  for (const broken of [
    'hello',
    'zz\r\nhello\r\n0\r\n\r\n',
    '5\r\nhel',
    '5\r\nhelloworld\r\n0\r\n\r\n',
    '-1\r\n\r\n',
    '0\r\nno colon\r\n\r\n',
    `${'1'.repeat(20_000)}\r\n`,
  ]) {
    it(`are refused when they are ${JSON.stringify(broken.slice(0, 30))}`, async () => {
      await assert.rejects(decode(broken, 4), { kind: 'invalid-data' });
    });
  }
});

describe('checksums', () => {
  // The check values of the published CRC catalogues, over the nine digits.
  for (const [name, hex] of [
    ['crc32', 'cbf43926'],
    ['crc32c', 'e3069283'],
    ['crc64nvme', 'ae8b14860a799888'],
  ] as const) {
    it(`of ${name} have its check value, in one piece or in nine`, () => {
      const whole = createChecksum(name);
      whole.update(Buffer.from('123456789'));
      const parts = createChecksum(name);
      for (const digit of '123456789') parts.update(Buffer.from(digit));

      assert.equal(Buffer.from(whole.toBase64(), 'base64').toString('hex'), hex);
      assert.equal(Buffer.from(parts.toBase64(), 'base64').toString('hex'), hex);
    });
  }
});

describe('request targets', () => {
  it('split into bucket and key without normalising the key', () => {
    const { bucket, key, query } = parseTarget(
      '/b/a//../%2E/x%2Fy+z%20?list-type=2&prefix=a%2Bb+c',
    );

    assert.equal(bucket, 'b');
    assert.equal(key, 'a//.././x/y+z ');
    assert.equal(query.get('prefix'), 'a+b c');
  });

  it('are refused when they are no percent encoding', () => {
    assert.throws(() => parseTarget('/b/%zz'), { kind: 'invalid-data' });
  });
});

describe('XML of requests', () => {
  it('gives escaped text back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const clean = text.replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '');
        const xml = readXml(`<Delete>${element('Key', clean)}</Delete>`);
        assert.equal(elementText(xml, 'Key'), clean);
      }),
      { seed: 7 },
    );
  });

  it('holds elements with attributes, and empty ones', () => {
    const xml = '<A x="1"><Key>1</Key></A><A><Key/></A>';

    assert.deepEqual(
      elements(xml, 'A').map((inner) => elementText(inner, 'Key')),
      ['1', ''],
    );
  });

  for (const broken of ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', '<a>\u0001</a>']) {
    it(`is refused when it holds ${JSON.stringify(broken.slice(0, 10))}`, () => {
      assert.throws(() => readXml(broken), { kind: 'invalid-data' });
    });
  }
});

describe('paths of keys in a folder', () => {
  it('differ where keys differ, and never leave the folder', () => {
    const segment = fc.constantFrom('', '.', '..', 'a', '%', '%-', '%2E', 'a b', '\u00fc', '+');
    const key = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(key, key, (one, other) => {
        assert.equal(pathOfKey(one) === pathOfKey(other), one === other);
        assert.ok(
          !pathOfKey(one)
            .split('/')
            .some((name) => ['', '.', '..'].includes(name)),
        );
      }),
      { seed: 7 },
    );
  });
});
