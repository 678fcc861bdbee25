import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rewriteFileGroup } from '../../shared/datafile/index.ts';
import { countingStore, MemoryObjectStore, type ObjectStore } from '../../shared/storage/index.ts';
import { DuckDb, field, rewriteOptions } from './rewrite-fixture.ts';

const KIB = 1024;
const MIB = 1024 ** 2;
const WINDOW_BYTES = 8 * MIB;

const FIELDS = [field(1, 'id', 'long'), field(2, 'kind', 'string'), field(3, 'text', 'string')];
const FIELD_IDS = ', FIELD_IDS {id: 1, kind: 2, text: 3}';

/** Rows of which `text` takes 32 bytes each in the file; `kind` gets a dictionary and a Bloom filter. */
function rowsOf(rowCount: number): string {
  return `SELECT i AS id, 'kind-' || i % 9 AS kind, md5(i::VARCHAR) AS text FROM range(${rowCount}) t(i)`;
}

describe('rewriteFileGroup', () => {
  let duckDb: DuckDb;
  before(async () => {
    duckDb = await DuckDb.open();
  });
  after(() => duckDb[Symbol.asyncDispose]());

  for (const formatVersion of [2, 3] as const) {
    test(`reads small files of a v${formatVersion} table with one request each, and writes one object`, async () => {
      const bytes = await duckDb.write(rowsOf(1000), FIELD_IDS);
      const files = Array.from({ length: 50 }, () => ({ bytes }));
      assert.ok(bytes.length > 30 * KIB && bytes.length < 64 * KIB, `${bytes.length} bytes`);

      const { requestCounts, result } = await rewriteCounted({ files, formatVersion });

      assert.equal(result.outputs[0]?.dataFile.recordCount, 50_000);
      const { readRange, bytesRead, openWriter, bytesWritten, ...others } = requestCounts;
      assert.equal(readRange, 50);
      assert.equal(bytesRead, 50 * bytes.length);
      assert.equal(openWriter, 1);
      assert.equal(bytesWritten, result.outputs[0]?.dataFile.fileSizeBytes);
      assert.ok(Object.values(others).every((count) => count === 0));
    });
  }

  test('reads a large file once, in windows, after its footer', async () => {
    const bytes = await duckDb.write(rowsOf(300_000), `${FIELD_IDS}, COMPRESSION uncompressed`);
    const windowCount = Math.ceil(bytes.length / WINDOW_BYTES);
    assert.equal(windowCount, 2);

    const { requestCounts } = await rewriteCounted({ files: [{ bytes }], formatVersion: 2 });

    assert.equal(requestCounts.readRange, 1 + windowCount);
    assert.ok(requestCounts.bytesRead <= bytes.length + 64 * KIB);
  });

  test('opens 16 small inputs ahead of the one being rewritten', async () => {
    const bytes = await duckDb.write(rowsOf(10), FIELD_IDS);

    assert.equal(await mostReadsAtOnce(Array.from({ length: 40 }, () => ({ bytes }))), 17);
  });

  test('opens fewer inputs ahead where they are large', async () => {
    const bytes = await duckDb.write(rowsOf(220_000), `${FIELD_IDS}, COMPRESSION uncompressed`);
    assert.ok(bytes.length > WINDOW_BYTES, `${bytes.length} bytes`);

    assert.equal(await mostReadsAtOnce(Array.from({ length: 6 }, () => ({ bytes }))), 4);
  });
});

interface Group {
  readonly files: readonly { readonly bytes: Uint8Array }[];
  readonly formatVersion: 2 | 3;
}

async function rewriteCounted(group: Group) {
  const memory = new MemoryObjectStore();
  const options = await storedOptions(group, memory);
  const store = countingStore(memory);
  const result = await rewriteFileGroup(overStore(options, store));
  return { result, requestCounts: store.requestCounts };
}

/** The most reads under way at one time, each taking as long as everything else that can go on. */
async function mostReadsAtOnce(files: Group['files']): Promise<number> {
  const memory = new MemoryObjectStore();
  const options = await storedOptions({ files, formatVersion: 2 }, memory);
  let underWayCount = 0;
  let most = 0;
  const slow = new Proxy(memory, {
    get: (store, name) =>
      name === 'openRanged'
        ? (...[location, sizeBytes]: Parameters<ObjectStore['openRanged']>) => ({
            location,
            fileSizeBytes: sizeBytes,
            read: async (offset: number, lengthBytes: number) => {
              most = Math.max(most, ++underWayCount);
              await new Promise(setImmediate);
              underWayCount--;
              return store.readRange(location, offset, lengthBytes);
            },
          })
        : Reflect.get(store, name).bind(store),
  });
  await rewriteFileGroup(overStore(options, slow));
  return most;
}

type Options = Awaited<ReturnType<typeof rewriteOptions>>;

/** The files in the store, and what to do with them. */
async function storedOptions(group: Group, store: MemoryObjectStore): Promise<Options> {
  const options = await rewriteOptions({ ...group, fields: FIELDS }, store);
  for (const [index, { dataFile }] of options.inputs.entries()) {
    await store.write(dataFile.filePath, group.files[index]!.bytes);
  }
  return options;
}

function overStore(options: Options, store: ObjectStore): Options {
  return {
    ...options,
    inputs: options.inputs.map((input) => ({
      ...input,
      reader: store.openRanged(input.dataFile.filePath, input.dataFile.fileSizeBytes),
    })),
    openOutput: async () => {
      const location = 's3://bucket/data/out.parquet';
      return { location, writer: store.openWriter(location) };
    },
  };
}
