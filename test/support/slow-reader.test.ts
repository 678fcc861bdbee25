import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type NewTable, TableWriter } from '../../local/table-writer/index.ts';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { MemoryCatalog } from '../../shared/catalog/index.ts';
import type { NestedField } from '../../shared/iceberg/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { canonicalField } from './slow-canonical.ts';
import { listFilesSlowly } from './slow-files.ts';
import { readParquetSlowly } from './slow-parquet-rows.ts';
import { readFilesSlowly, readRowsSlowly } from './slow-reader.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url);

function fixture(path: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(path, FIXTURES)));
}

function optional(fieldId: number, name: string, type: NestedField['type']): NestedField {
  return { fieldId, name, isRequired: false, type };
}

const ID: NestedField = { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } };
const WORD = optional(2, 'word', { kind: 'string' });
const NO_PARTITION: ReadonlyMap<number, string> = new Map();

describe('readParquetSlowly with canonicalField', () => {
  /** The schema of `hostile-parquet/generate.py`. */
  const fields = [
    ID,
    WORD,
    optional(3, 'price', { kind: 'decimal', precision: 9, scale: 2 }),
    optional(4, 'tags', {
      kind: 'list',
      elementId: 5,
      isElementRequired: false,
      elementType: { kind: 'int' },
    }),
    optional(6, 'attrs', {
      kind: 'map',
      keyId: 7,
      keyType: { kind: 'string' },
      valueId: 8,
      isValueRequired: false,
      valueType: { kind: 'double' },
    }),
    optional(9, 'point', {
      kind: 'struct',
      fields: [optional(10, 'x', { kind: 'int' }), optional(11, 'y', { kind: 'string' })],
    }),
  ];

  /** The rows of `hostile-parquet/generate.py`, by the same formulas. */
  function expectedRow(start: number, k: number): readonly string[] {
    const tags = Array.from({ length: k % 4 }, (_, j) => (j === 1 ? 'null' : String(j * k)));
    const attrs = Array.from({ length: k % 3 }, (_, j) => `"k${j}":${bits(k / 7)}`);
    const y = k % 4 === 1 ? 'null' : `"y${k}"`;
    return [
      String(start + k),
      k % 11 === 3 ? 'null' : `"word ${k % 5}"`,
      k % 7 === 1 ? 'null' : String(k * 1001 - 5005),
      k % 6 === 0 ? 'null' : `[${tags.join(',')}]`,
      k % 9 === 0 ? 'null' : `<${attrs.join(',')}>`,
      k % 5 === 0 ? 'null' : `{${k},${y}}`,
    ];
  }

  function bits(value: number): string {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    return `f${view.getBigUint64(0).toString(16)}`;
  }

  for (const [name, start] of [
    ['arrow-v1', 100],
    ['arrow-v2', 200],
    ['duckdb-a', 300],
    ['duckdb-b', 400],
  ] as const) {
    test(`gives the rows that ${name} was written from`, async () => {
      const { root, rows } = await readParquetSlowly(fixture(`hostile-parquet/${name}.parquet`));

      assert.equal(rows.length, 40);
      for (const [k, row] of rows.entries()) {
        const texts = fields.map((field) =>
          canonicalField(field, root.children, row, NO_PARTITION),
        );
        assert.deepEqual(texts, expectedRow(start, k));
      }
    });
  }

  test('tells empty lists and maps from missing ones, three levels deep', async () => {
    for (const name of ['nested-v1', 'nested-v2']) {
      const { rows } = await readParquetSlowly(fixture(`parquet-pyarrow/${name}.parquet`));

      for (const [i, row] of rows.entries()) {
        assert.deepEqual(JSON.parse(textOf(row['deep'])), expectedDeep(i), `${name} row ${i}`);
        const items = Array.from({ length: i % 4 }, (_, j) => ({
          a: j,
          b: Array.from({ length: i % 3 }, () => `${j}`),
        }));
        assert.deepEqual(JSON.parse(textOf(row['items'])), items, `${name} row ${i}`);
      }
    }
  });

  /** What `parquet-pyarrow/generate.py` puts into the column `deep`. */
  function expectedDeep(i: number): unknown {
    if (i % 13 === 0) return null;
    return Array.from({ length: i % 4 }, (_, j) =>
      j === 1 ? null : Array.from({ length: (i + j) % 3 }, (_text, k) => `${i}-${k}`),
    );
  }

  /** Lists as plain arrays: what the three levels hold, without their names. */
  function textOf(value: unknown): string {
    return JSON.stringify(plain(value) ?? null);
  }

  function plain(value: unknown): unknown {
    if (value instanceof Uint8Array) return Buffer.from(value).toString();
    if (typeof value !== 'object' || value === null) return value ?? null;
    const record = value as Readonly<Record<string, unknown>>;
    if ('list' in record) {
      return ((record['list'] ?? []) as readonly Record<string, unknown>[]).map((item) =>
        plain(item['element']),
      );
    }
    return Object.fromEntries(Object.entries(record).map(([key, part]) => [key, plain(part)]));
  }

  test('reads INT96 as the instant it is, also long before 1970', async () => {
    const { root, rows } = await readParquetSlowly(fixture('parquet-pyarrow/int96-v1.parquet'));
    const field = optional(1, 't', { kind: 'timestamp' });
    const nodes = root.children.map((node) => ({
      ...node,
      element: { ...node.element, field_id: 1 },
    }));

    for (const [i, row] of rows.entries()) {
      const year = 1678 + Math.floor((i * 5) / 6);
      const micros = BigInt(Date.UTC(year, 8, 22, 1, 2, 3)) * 1000n + BigInt(i * 1001);
      const expected = i % 5 === 3 ? 'null' : String(micros);
      assert.equal(canonicalField(field, nodes, row, NO_PARTITION), expected);
    }
  });

  test('shows values promoted, defaulted and partitioned as the table has them', async () => {
    const { root, rows } = await readParquetSlowly(fixture('hostile-parquet/arrow-v1.parquet'));
    const point = root.children.find(({ element }) => element.name === 'point')!;
    const read = (field: NestedField, partition = NO_PARTITION): string =>
      canonicalField(field, point.children, { x: 7, y: null }, partition);

    assert.equal(read(optional(10, 'renamed', { kind: 'long' })), '7');
    assert.equal(read(optional(77, 'added', { kind: 'int' })), 'null');
    assert.equal(read({ ...optional(77, 'a', { kind: 'int' }), initialDefault: 5 }), '5');
    assert.equal(read(optional(77, 'a', { kind: 'int' }), new Map([[77, '6']])), '6');
    assert.throws(() => read({ ...optional(77, 'a', { kind: 'int' }), isRequired: true }));
    assert.equal(rows.length, 40);
  });
});

describe('readRowsSlowly', () => {
  test('gives every live row with its lineage, as often as it is there', async () => {
    const { builder, read } = await startTable(3);
    await builder.append([{ rows: [row(1, 'a'), row(1, 'a')] }, { rows: [row(2, null)] }]);
    const [removed] = await builder.append([{ rows: [row(3, 'gone')] }]);
    await builder.commit({ operation: 'delete', removedPaths: [removed!.dataFile.filePath] });

    assert.deepEqual(await read(false), ['1|"a"', '1|"a"', '2|null']);
    assert.deepEqual(await read(true), ['0|1|1|"a"', '1|1|1|"a"', '2|1|2|null']);
  });

  test('reads an older snapshot with the schema of its time', async () => {
    const { builder, store } = await startTable(2);
    await builder.append([{ rows: [row(1, 'a')] }]);
    const { metadata } = await builder.load();
    const snapshotId = metadata.currentSnapshotId!;
    await builder.evolveSchema([ID, WORD, optional(3, 'late', { kind: 'int' })]);
    await builder.append([{ rows: [{ ...row(2, 'b'), 3: 5 }] }]);
    const { metadataLocation } = await builder.load();

    const older = await readRowsSlowly({ store, metadataLocation, snapshotId });

    assert.deepEqual(older, ['1|"a"']);
    const current = await readRowsSlowly({ store, metadataLocation });
    assert.deepEqual(current, ['1|"a"|null', '2|"b"|5']);
  });

  test('has no rows before the first snapshot', async () => {
    const { read } = await startTable(2);

    assert.deepEqual(await read(false), []);
  });

  test('fails where a file cannot be read, and still shows the others by file', async () => {
    const { builder, store, read } = await startTable(2);
    const [broken] = await builder.append([{ rows: [row(1, 'a')] }, { rows: [row(2, 'b')] }]);
    const { filePath, fileSizeBytes } = broken!.dataFile;
    await store.write(filePath, new Uint8Array(fileSizeBytes));
    const { metadataLocation } = await builder.load();

    await assert.rejects(read(false));
    const files = await readFilesSlowly({ store, metadataLocation });
    assert.deepEqual(files.map(({ rows, failure }) => [rows, failure !== undefined]).sort(), [
      [[], true],
      [['2|"b"'], false],
    ]);
  });

  test('shows the rows of the row groups that can be read in a broken file', async () => {
    const { builder, store } = await startTable(3);
    const rows = [row(1, 'a'), row(2, 'b'), row(3, 'c'), row(4, 'd')];
    const [file] = await builder.append([{ rows, layout: { rowsPerRowGroup: 2 } }]);
    const { filePath, splitOffsets } = file!.dataFile;
    const bytes = await store.read(filePath, 1e6);
    bytes.fill(0xff, splitOffsets![0], splitOffsets![0]! + 20);
    await store.write(filePath, bytes);
    const { metadataLocation } = await builder.load();

    const [broken] = await readFilesSlowly({ store, metadataLocation, withLineage: true });

    assert.deepEqual(broken!.rows, ['2|1|3|"c"', '3|1|4|"d"']);
    assert.notEqual(broken!.failure, undefined);
  });

  test('reads a column of any name', async () => {
    const { builder, store } = await startTable(2);
    await builder.evolveSchema([ID, { ...WORD, name: '__proto__' }]);
    await builder.append([{ rows: [row(1, 'a')] }]);
    const { metadataLocation } = await builder.load();

    assert.deepEqual(await readRowsSlowly({ store, metadataLocation }), ['1|"a"']);
  });

  // 40 rows each, see GoldenTableMaker.deletes. Positions 0 and 3 of one file, 1 and 5 of two, two rows by value;
  // and vectors of 4 and 3 positions, two rows by value.
  for (const [name, rowCount] of [
    ['v2-deletes', 40 - 2 - 4 - 2],
    ['v3-deletes', 40 - 4 - 3 - 2],
  ] as const) {
    test(`leaves out what the delete files of ${name} delete`, async () => {
      const { store, metadataLocation, manifestList } = await javaTable(name);

      assert.equal((await readRowsSlowly({ store, metadataLocation })).length, rowCount);
      const contents = (await listFilesSlowly(store, manifestList)).map(({ content }) => content);
      assert.deepEqual(contents.toSorted(), [0, 0, 0, 0, 1, 1, 2]);
    });
  }
});

function row(id: number, word: string | null) {
  return { 1: BigInt(id), 2: word };
}

async function startTable(formatVersion: NewTable['formatVersion']) {
  const clock = new ManualClock(Date.UTC(2026, 10, 30));
  const random = seededRandom(3);
  const store = new MemoryObjectStore({ clock });
  const catalog = new MemoryCatalog({ clock, random });
  const builder = await TableWriter.create(
    {
      identifier: { namespace: ['db'], name: 'words' },
      location: 's3://bucket/words',
      formatVersion,
      fields: [ID, WORD],
    },
    { store, catalog, clock, random },
  );
  const read = async (withLineage: boolean): Promise<string[]> => {
    const { metadataLocation } = await builder.load();
    return readRowsSlowly({ store, metadataLocation, withLineage });
  };
  return { builder, store, read };
}

/** A table that Iceberg Java wrote. */
async function javaTable(name: string) {
  const folder = `iceberg-java/tables/${name}/`;
  const index = JSON.parse(new TextDecoder().decode(fixture(`${folder}index.json`))) as {
    readonly location: string;
    readonly 'metadata-location': string;
    readonly files: Readonly<Record<string, number>>;
  };
  const store = new MemoryObjectStore();
  for (const location of Object.keys(index.files)) {
    const path = location.slice(index.location.length + 1).replaceAll('%', '%25');
    await store.write(location, fixture(folder + path));
  }
  const metadataLocation = index['metadata-location'];
  const json = JSON.parse(
    new TextDecoder().decode(await store.read(metadataLocation, 1e6)),
    (key, value, context?: { source?: string }) =>
      key.endsWith('snapshot-id') ? context?.source : value,
  ) as {
    readonly 'current-snapshot-id': string;
    readonly snapshots: readonly Readonly<Record<string, string>>[];
  };
  const current = json.snapshots.find((one) => one['snapshot-id'] === json['current-snapshot-id']);
  return { store, metadataLocation, manifestList: current!['manifest-list']! };
}
