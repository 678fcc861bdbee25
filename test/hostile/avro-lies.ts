import { deflateRawSync } from 'node:zlib';
import { concatBytes } from '../../shared/bytes/index.ts';
import { type AvroRecord, readAvroSlowly, type SlowAvroFile } from '../support/slow-avro.ts';
import { type HostileCase, objectCase } from './hostile-case.ts';

const SYNC_BYTES = 16;

/** An Avro file of other records under the header of a given one, in one block. */
export function encodeRecords(file: SlowAvroFile, records: readonly AvroRecord[]): Uint8Array {
  return assemble(file, {
    count: BigInt(records.length),
    data: compress(file.codec, Buffer.concat(records.map((record) => file.type.toBuffer(record)))),
  });
}

/** Blocks that lie about their record count and their size, and blocks that are there twice. */
export function* lyingBlocks(location: string, bytes: Uint8Array): Generator<HostileCase> {
  const file = readAvroSlowly(bytes);
  const plain = Buffer.concat(file.records.map((record) => file.type.toBuffer(record)));
  const data = compress(file.codec, plain);
  const count = BigInt(file.records.length);
  for (const lie of [0n, count - 1n, count + 1n, -1n, -count, 2n ** 31n, 2n ** 62n, -(2n ** 63n)]) {
    if (lie === count) continue;
    yield objectCase(location, assemble(file, { count: lie, data }), `${lie} records`, true);
  }
  const size = BigInt(data.length);
  for (const lie of [0n, size - 1n, size + 1n, -1n, -size, 2n ** 31n, 2n ** 40n, 2n ** 62n]) {
    yield objectCase(location, assemble(file, { count, data, size: lie }), `${lie} bytes`, true);
  }
  for (const bomb of [1, 64]) {
    const inflated = compress(file.codec, Buffer.concat([plain, Buffer.alloc(bomb * 2 ** 20)]));
    const what = `${bomb} MiB of zeros behind its records`;
    yield objectCase(location, assemble(file, { count, data: inflated }), what, true);
    const counted = assemble(file, { count: 2n ** 24n, data: inflated });
    yield objectCase(location, counted, `${what}, counted`, true);
  }
}

function assemble(
  file: SlowAvroFile,
  block: { readonly count: bigint; readonly data: Uint8Array; readonly size?: bigint },
): Uint8Array {
  return concatBytes([
    file.header,
    encodeLong(block.count),
    encodeLong(block.size ?? BigInt(block.data.length)),
    block.data,
    file.header.subarray(-SYNC_BYTES),
  ]);
}

function compress(codec: string, plain: Uint8Array): Uint8Array {
  if (codec === 'null') return plain;
  if (codec === 'deflate') return deflateRawSync(plain);
  throw new TypeError(`hostile: manifests of codec ${codec} are not written here`);
}

function encodeLong(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
