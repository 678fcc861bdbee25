import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDeleteLoader } from '../../shared/deletes/index.ts';
import { countingStore } from '../../shared/storage/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import {
  type ExampleTable,
  equalityDeleteFile,
  exampleTable,
  optionalField,
  positionDeleteFile,
} from './delete-files-fixture.ts';
import { partitionsOf } from './deleted-rows.ts';

const X = optionalField(1, 'x', 'int');
const rows = (...values: readonly number[]) => values.map((value) => ({ 1: value }));

/** Three data files of rows 0 to 9, then position deletes of one and of two of them, and two equality deletes. */
async function start() {
  const table = await exampleTable({ fields: [X] });
  const values = rows(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  const files = await table.writer.append([{ rows: values }, { rows: values }, { rows: values }]);
  const [a, b, c] = files.map(({ dataFile }) => dataFile.filePath) as [string, string, string];
  const place = files[0]!;
  const position = (path: string, ...positions: readonly number[]) =>
    positions.map((each) => ({ path, position: each }));
  const add = async (some: Parameters<typeof positionDeleteFile>[2]) =>
    table.addDeleteFile(await positionDeleteFile(table, place, some));
  await add(position(a, 0, 1));
  await add([...position(a, 2), ...position(b, 3)]);
  for (const value of [7, 8]) {
    const file = { fields: [X], rows: rows(value) };
    await table.addDeleteFile(await equalityDeleteFile(table, place, file));
  }
  return { table, a, b, c };
}

async function optionsOf(table: ExampleTable) {
  const at = await table.load();
  const [files] = await partitionsOf(at);
  return { ...at, files: files! };
}

describe('createDeleteLoader', () => {
  test('tells deletes by position from those by value, and gives all', async () => {
    const { table, a, b, c } = await start();
    const loader = createDeleteLoader(await optionsOf(table));

    const found = await Promise.all(
      [a, b, c].map(async (path) => ({
        byPosition: [...(await loader.readPositionDeletes(path)).positions()],
        byValue: [...(await loader.readEqualityDeletes(path)).positions()],
        all: [...(await loader.readDeletes(path)).positions()],
      })),
    );

    assert.deepEqual(found, [
      { byPosition: [0, 1, 2], byValue: [7, 8], all: [0, 1, 2, 7, 8] },
      { byPosition: [3], byValue: [7, 8], all: [3, 7, 8] },
      { byPosition: [], byValue: [7, 8], all: [7, 8] },
    ]);
  });

  test('reads each delete file and each data file once', async () => {
    const { table, a, b, c } = await start();
    const options = await optionsOf(table);
    const store = countingStore(options.store);
    const loader = createDeleteLoader({ ...options, store });

    await Promise.all([a, b, c].map((path) => loader.readDeletes(path)));

    assert.equal(store.requestCounts.readRange, 4 + 3);
  });

  test('reads nothing before it is asked, and nothing for files without deletes', async () => {
    const table = await exampleTable({ fields: [X] });
    const [file] = await table.writer.append([{ rows: rows(1) }]);
    const options = await optionsOf(table);
    const store = countingStore(options.store);

    const loader = createDeleteLoader({ ...options, store });

    assert.ok((await loader.readDeletes(file!.dataFile.filePath)).isEmpty);
    assert.equal(store.requestCounts.readRange, 0);
  });

  test('refuses positions beyond the rows of the data file', async () => {
    const { table, b } = await start();
    const place = { specId: 0, dataFile: { partition: [] } };
    const beyond = [{ path: b, position: 10 }];
    await table.addDeleteFile(await positionDeleteFile(table, place, beyond));
    const loader = createDeleteLoader(await optionsOf(table));

    const message = /position 10 is deleted, the file has 10 rows/;
    await assert.rejects(loader.readDeletes(b), errorOfKind('invalid-data', message));
  });

  test('refuses more than the memory allowed', async () => {
    const { table, b } = await start();
    const options = await optionsOf(table);

    const loader = createDeleteLoader({ ...options, memoryBytesMax: 300 });

    const message = /its deletes need \d+ bytes of memory, the limit is 300/;
    await assert.rejects(loader.readPositionDeletes(b), errorOfKind('unsupported', message));
  });

  test('is for the data files of one partition', async () => {
    const { table } = await start();
    const options = await optionsOf(table);
    const [first, second] = options.files;
    const other = { ...second!, entry: { ...second!.entry, specId: 9 } };

    assert.throws(() => createDeleteLoader({ ...options, files: [first!, other] }), {
      name: 'AssertionFailed',
    });
    await assert.rejects(createDeleteLoader(options).readDeletes('s3://bucket/unknown'), {
      name: 'AssertionFailed',
    });
  });
});
