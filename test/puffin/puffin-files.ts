import { readFileSync } from 'node:fs';
import type { ByteSink, RangedReader } from '../../shared/base/index.ts';
import { ByteWriter, concatBytes, encodeUtf8 } from '../../shared/bytes/index.ts';
import { bytesReader } from '../support/file-reader.ts';

const MAGIC = encodeUtf8('PFA1');

/** A sink that keeps what it is given. */
export class MemorySink implements ByteSink {
  readonly #parts: Uint8Array[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    this.#parts.push(bytes);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return concatBytes(this.#parts);
  }
}

/** A reader that counts its reads and their bytes. */
export function countingReader(bytes: Uint8Array): RangedReader & { readonly reads: number[] } {
  const reader = bytesReader(bytes, 'file.puffin');
  const reads: number[] = [];
  return {
    ...reader,
    reads,
    read: (offset, lengthBytes) => {
      reads.push(lengthBytes);
      return reader.read(offset, lengthBytes);
    },
  };
}

export function goldenPuffin(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`../fixtures/puffin/${name}`, import.meta.url)));
}

/** A file of any payload, as the spec lays it out. */
export function puffinFile(parts: {
  readonly body?: Uint8Array;
  readonly payload: string | Uint8Array;
  readonly flags?: number;
  readonly payloadSize?: number;
}): Uint8Array {
  const { body = new Uint8Array(0), flags = 0 } = parts;
  const payload = typeof parts.payload === 'string' ? encodeUtf8(parts.payload) : parts.payload;
  const writer = new ByteWriter();
  for (const bytes of [MAGIC, body, MAGIC, payload]) writer.bytes(bytes);
  writer.i32le(parts.payloadSize ?? payload.length);
  writer.u32le(flags);
  writer.bytes(MAGIC);
  return writer.finish();
}

/** The JSON of one blob, with some members changed; undefined leaves one out. */
export function blobJson(changes: Readonly<Record<string, unknown>> = {}): object {
  return {
    type: 'some-type',
    fields: [1],
    'snapshot-id': 5,
    'sequence-number': 6,
    offset: 4,
    length: 0,
    ...changes,
  };
}
