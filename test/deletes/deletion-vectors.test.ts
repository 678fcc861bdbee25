import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createDeleteLoader,
  type DataFileDeletes,
  DeletionVectorWriter,
} from '../../shared/deletes/index.ts';
import type { DataFile, FileOfSpec, ManifestEntry } from '../../shared/iceberg/index.ts';
import { readPuffinFooter } from '../../shared/puffin/index.ts';
import { RoaringBitmap } from '../../shared/roaring/index.ts';
import { countingStore, MemoryObjectStore } from '../../shared/storage/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { readDeletionVectorSlowly } from '../support/slow-deletion-vector.ts';
import { exampleTable, optionalField } from './delete-files-fixture.ts';

const PUFFIN = 's3://bucket/t/data/vectors.puffin';
const COPY = 's3://bucket/t/data/copy.puffin';
const A = 's3://bucket/t/data/a.parquet';
const B = 's3://bucket/t/data/b.parquet';

const bitmap = (...positions: readonly number[]) => RoaringBitmap.fromPositions(positions, 'test');

function dataFile(filePath: string, more: Partial<DataFile> = {}): DataFile {
  return {
    content: 'data',
    filePath,
    fileFormat: 'PARQUET',
    partition: ['eu'],
    recordCount: 100_000,
    fileSizeBytes: 1000,
    unknownFields: [],
    ...more,
  };
}

function entryOf({ specId, dataFile: file }: FileOfSpec, dataSequenceNumber = 3n): ManifestEntry {
  const status = 'added';
  return { status, snapshotId: 1n, dataSequenceNumber, specId, dataFile: file, unknownFields: [] };
}

async function write(
  store: MemoryObjectStore,
  vectors: readonly (readonly [filePath: string, positions: RoaringBitmap])[],
): Promise<readonly FileOfSpec[]> {
  const writer = writerTo(store, PUFFIN);
  for (const [filePath, positions] of vectors) {
    await writer.add({ specId: 2, dataFile: dataFile(filePath), positions });
  }
  return writer.close();
}

function writerTo(store: MemoryObjectStore, location: string): DeletionVectorWriter {
  return new DeletionVectorWriter(async () => ({ location, writer: store.openWriter(location) }));
}

describe('DeletionVectorWriter', () => {
  test('gives complete entries, each with the place of its blob', async () => {
    const store = new MemoryObjectStore();

    const [one, other] = await write(store, [
      [A, bitmap(1, 5)],
      [B, bitmap(0, 1, 2, 70_000)],
    ]);

    const bytes = await store.read(PUFFIN, 1e6);
    const { blobs } = await readPuffinFooter(bytesReader(bytes));
    const common = {
      content: 'position-deletes',
      filePath: PUFFIN,
      fileFormat: 'PUFFIN',
      partition: ['eu'],
      fileSizeBytes: bytes.length,
      unknownFields: [],
    };
    for (const [index, [file, path, positions]] of (
      [
        [one, A, [1, 5]],
        [other, B, [0, 1, 2, 70_000]],
      ] as const
    ).entries()) {
      const { offset, lengthBytes } = blobs[index]!;
      assert.deepEqual(file, {
        specId: 2,
        dataFile: {
          ...common,
          recordCount: positions.length,
          referencedDataFile: path,
          contentOffset: offset,
          contentSizeBytes: lengthBytes,
        },
      });
      const blob = bytes.subarray(offset, offset + lengthBytes);
      assert.deepEqual([...readDeletionVectorSlowly(blob)], positions);
    }
  });

  test('writes no object without vectors', async () => {
    const store = new MemoryObjectStore();

    assert.deepEqual(await write(store, []), []);
    await assert.rejects(store.head(PUFFIN), errorOfKind('not-found'));
  });

  test('copies a blob of another file byte for byte, with one read', async () => {
    const memory = new MemoryObjectStore();
    const [, vector] = await write(memory, [
      [A, bitmap(1)],
      [B, bitmap(3, 4)],
    ]);
    const store = countingStore(memory);
    const writer = writerTo(memory, COPY);

    const { filePath, fileSizeBytes } = vector!.dataFile;
    await writer.copy(entryOf(vector!), store.openRanged(filePath, fileSizeBytes));
    const [copy] = await writer.close();

    assert.equal(store.requestCounts.readRange, 1);
    assert.equal(store.requestCounts.bytesRead, vector!.dataFile.contentSizeBytes);
    const { specId, dataFile: file } = copy!;
    assert.deepEqual([specId, file.recordCount, file.referencedDataFile], [2, 2, B]);
    assert.deepEqual(await blobOf(memory, file), await blobOf(memory, vector!.dataFile));
  });

  test('does not copy a blob that is broken', async () => {
    const store = new MemoryObjectStore();
    const [vector] = await write(store, [[A, bitmap(1)]]);
    const bytes = await store.read(PUFFIN, 1e6);
    bytes[vector!.dataFile.contentOffset! + 9]! ^= 1;
    const writer = writerTo(store, COPY);

    const copied = writer.copy(entryOf(vector!), bytesReader(bytes));

    await assert.rejects(copied, errorOfKind('invalid-data', /CRC-32/));
  });

  test('gives the object up when told so', async () => {
    const store = new MemoryObjectStore();
    const writer = writerTo(store, PUFFIN);
    await writer.add({ specId: 2, dataFile: dataFile(A), positions: bitmap(1) });
    assert.ok(writer.offset > 0);

    await writer.abort();

    await assert.rejects(store.head(PUFFIN), errorOfKind('not-found'));
  });

  test('takes one vector for a data file, of positions that it has', async () => {
    const store = new MemoryObjectStore();
    const mistake = { name: 'AssertionFailed' };

    await assert.rejects(
      write(store, [
        [A, bitmap(1)],
        [A, bitmap(2)],
      ]),
      mistake,
    );
    await assert.rejects(write(store, [[A, RoaringBitmap.EMPTY]]), mistake);
    await assert.rejects(write(store, [[A, bitmap(100_000)]]), mistake);
  });
});

async function blobOf(store: MemoryObjectStore, file: DataFile): Promise<Uint8Array> {
  return store.readRange(file.filePath, file.contentOffset ?? 0, file.contentSizeBytes ?? 0);
}

describe('vectors of a data file', () => {
  async function start(positions: RoaringBitmap) {
    const store = new MemoryObjectStore();
    const [vector] = await write(store, [
      [B, bitmap(77)],
      [A, positions],
    ]).then((files) => files.slice(1));
    const table = await exampleTable({ fields: [optionalField(1, 'x', 'int')], formatVersion: 3 });
    const { metadata } = await table.writer.load();
    return { store, metadata, vector: entryOf(vector!) };
  }

  function fileWith(
    vectors: readonly ManifestEntry[],
    more: Partial<DataFile> = {},
  ): DataFileDeletes {
    return {
      entry: entryOf({ specId: 2, dataFile: dataFile(A, more) }, 1n),
      deletes: {
        deletionVectors: vectors,
        fileScopedPositionDeleteFiles: [],
        partitionScopedPositionDeleteFiles: [],
        equalityDeleteFiles: [],
      },
    };
  }

  test('are read with one range, of exactly the blob', async () => {
    const { store: memory, metadata, vector } = await start(bitmap(3, 99_999));
    const store = countingStore(memory);
    const loader = createDeleteLoader({ store, metadata, files: [fileWith([vector])] });

    const positions = await loader.readDeletes(A);

    assert.deepEqual([...positions.positions()], [3, 99_999]);
    const { readRange, read, head, bytesRead } = store.requestCounts;
    assert.deepEqual([readRange, read, head], [1, 0, 0]);
    assert.equal(bytesRead, vector.dataFile.contentSizeBytes);
  });

  async function refused(
    more: {
      readonly vectors?: (vector: ManifestEntry) => readonly ManifestEntry[];
      readonly file?: Partial<DataFile>;
    },
    message: RegExp,
  ): Promise<void> {
    const { store, metadata, vector } = await start(bitmap(3, 99_999));
    const vectors = more.vectors?.(vector) ?? [vector];
    const files = [fileWith(vectors, more.file)];
    const loader = createDeleteLoader({ store, metadata, files });

    await assert.rejects(loader.readDeletes(A), errorOfKind('invalid-data', message));
  }

  const withFields = (more: Partial<DataFile>) => (vector: ManifestEntry) => [
    { ...vector, dataFile: { ...vector.dataFile, ...more } },
  ];

  test('with another number of positions than their entry says are refused', async () => {
    const vectors = withFields({ recordCount: 3 });

    await refused({ vectors }, /holds 2 positions, the manifest says 3/);
  });

  test('that name rows which the data file does not have are refused', async () => {
    const file = { recordCount: 99_999 };

    await refused({ file }, /a.parquet: position 99999 is deleted, the file has 99999 rows/);
  });

  test('of another partition, or beside a second one, are refused', async () => {
    const message = /belongs to partition 2:s2:us;, the data file to 2:s2:eu;/;
    await refused({ vectors: withFields({ partition: ['us'] }) }, message);
    await refused({ vectors: (vector) => [vector, vector] }, /2 deletion vectors, 1 is allowed/);
  });

  test('that end behind their file are refused', async () => {
    await refused({ vectors: withFields({ contentOffset: 10_000 }) }, /vectors.puffin/);
    await refused({ vectors: withFields({ contentSizeBytes: 100_000 }) }, /vectors.puffin/);
  });

  test('with any byte changed are refused', async () => {
    const { store, metadata, vector } = await start(bitmap(3, 99_999));
    const bytes = await store.read(PUFFIN, 1e6);
    const { contentOffset = 0, contentSizeBytes = 0 } = vector.dataFile;
    for (let offset = contentOffset; offset < contentOffset + contentSizeBytes; offset++) {
      const changed = Uint8Array.from(bytes);
      changed[offset]! ^= 1 << (offset % 8);
      await store.write(PUFFIN, changed);
      const loader = createDeleteLoader({ store, metadata, files: [fileWith([vector])] });

      await assert.rejects(loader.readDeletes(A), errorOfKind('invalid-data'));
    }
  });
});
