import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isIcebergError, seededRandom } from '../../shared/base/index.ts';
import { decodeColumnChunk } from '../../shared/parquet/decode-column-chunk.ts';
import type { ParquetFile } from '../../shared/parquet/parquet-file.ts';
import { readParquetFooter } from '../../shared/parquet/read-footer.ts';
import { bytesReader } from '../support/file-reader.ts';

const FIXTURES = new URL('../fixtures/parquet-pyarrow/', import.meta.url);
const SEED = 20260103;
const MUTATIONS_PER_CHUNK = 60;

/** Decodes one chunk of a damaged file; only named errors may come out. */
async function decodeDamaged(bytes: Uint8Array, file: ParquetFile, columnIndex: number) {
  const chunk = file.rowGroups[0]!.chunks[columnIndex]!;
  let valueCount = 0;
  try {
    const options = { createdBy: file.metadata.createdBy, subject: 'damaged' };
    for await (const batch of decodeColumnChunk(bytesReader(bytes), chunk, options)) {
      valueCount += batch.valueCount;
    }
  } catch (error) {
    assert.ok(
      isIcebergError(error, 'invalid-data') || isIcebergError(error, 'unsupported'),
      String(error),
    );
    return 'refused';
  }
  assert.equal(valueCount, chunk.metaData.numValues);
  return 'decoded';
}

describe('decodeColumnChunk on damaged bytes', () => {
  for (const name of [
    'exotic-v1',
    'exotic-v2',
    'dictionary-v2',
    'nested-v1',
    'nested-v2',
    'int96-v1',
  ]) {
    test(`of ${name} gives all values or a named error`, async () => {
      const bytes = new Uint8Array(readFileSync(new URL(`${name}.parquet`, FIXTURES)));
      const file = await readParquetFooter(bytesReader(bytes));
      const random = seededRandom(SEED);
      const outcomes = new Set<string>();

      for (const { columnIndex } of file.leaves) {
        const { offset, lengthBytes } = file.rowGroups[0]!.chunks[columnIndex]!.range;
        for (let round = 0; round < MUTATIONS_PER_CHUNK; round++) {
          const damaged = bytes.slice();
          const [high, low, value, count] = random.bytes(4);
          // The first page and its header come first: half of the damage goes there.
          const reach = round % 2 === 0 ? Math.min(lengthBytes, 120) : lengthBytes;
          const at = offset + ((high! * 256 + low!) % reach);
          damaged.fill(value!, at, Math.min(at + 1 + (count! % 3), offset + lengthBytes));
          outcomes.add(await decodeDamaged(damaged, file, columnIndex));
        }
      }

      assert.ok(outcomes.has('refused'));
    });
  }
});
