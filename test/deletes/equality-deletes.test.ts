import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isIcebergError } from '../../shared/base/index.ts';
import { createDeleteLoader, type DataFileDeletes } from '../../shared/deletes/index.ts';
import type {
  DataFile,
  IcebergType,
  ManifestEntry,
  NestedField,
  PartitionField,
  TableMetadata,
} from '../../shared/iceberg/index.ts';
import { readParquetFooter } from '../../shared/parquet/index.ts';
import { countingStore, MemoryObjectStore, type ObjectStore } from '../../shared/storage/index.ts';
import { DuckDb } from '../datafile/rewrite-fixture.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { bytesReader } from '../support/file-reader.ts';
import { mutationsOf } from '../support/mutations.ts';
import { exampleTable, optionalField } from './delete-files-fixture.ts';

let duck: DuckDb;

before(async () => {
  duck = await DuckDb.open();
});

after(async () => {
  await duck[Symbol.asyncDispose]();
});

const DATA = 's3://bucket/t/data/data.parquet';
const OTHER = 's3://bucket/t/data/other.parquet';
const X = (type: IcebergType): NestedField => optionalField(1, 'x', type);

interface Example {
  readonly fields: readonly NestedField[];
  /** Before the current ones. */
  readonly olderFields?: readonly (readonly NestedField[])[];
  readonly formatVersion?: 2 | 3;
  readonly partitionFields?: readonly PartitionField[];
  readonly partition?: DataFile['partition'];
  /** A query, with the field ids of its columns. */
  readonly data: readonly [sql: string, fieldIds: string];
  readonly deletes: readonly (readonly [
    sql: string,
    fieldIds: string,
    entry?: Partial<DataFile>,
  ])[];
  /** Of the deletes by index; 5 for those not named. The data file has 4. */
  readonly sequenceNumbers?: readonly bigint[];
  readonly memoryBytesMax?: number;
}

interface Opened {
  readonly store: ObjectStore;
  readonly metadata: TableMetadata;
  readonly files: readonly DataFileDeletes[];
}

async function open(example: Example): Promise<Opened> {
  const { fields, olderFields = [], formatVersion = 3, partitionFields = [] } = example;
  const [first, ...later] = [...olderFields, fields];
  const table = await exampleTable({ fields: first!, formatVersion, partitionFields });
  for (const each of later) await table.writer.evolveSchema(each);
  const { metadata } = await table.writer.load();
  const store = new MemoryObjectStore();
  const write = async (
    path: string,
    [sql, fieldIds]: readonly [string, string, Partial<DataFile>?],
    more: Partial<DataFile>,
    dataSequenceNumber: bigint,
  ): Promise<ManifestEntry> => {
    const bytes = await duck.write(sql, `, FIELD_IDS {${fieldIds}}`);
    await store.write(path, bytes);
    const { metadata: footer } = await readParquetFooter(bytesReader(bytes, path));
    const dataFile: DataFile = {
      content: 'data',
      filePath: path,
      fileFormat: 'PARQUET',
      partition: example.partition ?? [],
      recordCount: footer.numRows,
      fileSizeBytes: bytes.length,
      unknownFields: [],
      ...more,
    };
    const status = 'added' as const;
    return { status, snapshotId: 1n, dataSequenceNumber, specId: 0, dataFile, unknownFields: [] };
  };
  const entry = await write(DATA, example.data, {}, 4n);
  const equalityDeleteFiles: ManifestEntry[] = [];
  for (const [index, file] of example.deletes.entries()) {
    const more = { content: 'equality-deletes', equalityIds: [1], ...file[2] } as const;
    const sequenceNumber = example.sequenceNumbers?.[index] ?? 5n;
    const path = `s3://bucket/t/data/delete-${index}.parquet`;
    equalityDeleteFiles.push(await write(path, file, more, sequenceNumber));
  }
  const deletes = {
    deletionVectors: [],
    fileScopedPositionDeleteFiles: [],
    partitionScopedPositionDeleteFiles: [],
    equalityDeleteFiles,
  };
  return { store, metadata, files: [{ entry, deletes }] };
}

async function deletedBy(example: Example): Promise<readonly number[]> {
  const opened = await open(example);
  const { memoryBytesMax } = example;
  const loader = createDeleteLoader({ ...opened, ...(memoryBytesMax && { memoryBytesMax }) });
  return [...(await loader.readEqualityDeletes(DATA)).positions()];
}

/** Rows of one column `x`. */
function values(type: string, ...texts: readonly string[]): readonly [string, string] {
  const rows = texts.map((text) => `(${text}::${type})`).join(', ');
  return [`SELECT x FROM (VALUES ${rows}) t(x)`, 'x: 1'];
}

describe('values of each type', () => {
  const cases: readonly (readonly [
    name: string,
    type: IcebergType,
    data: readonly [string, string],
    deletes: readonly [string, string],
    expected: readonly number[],
  ])[] = [
    [
      'long',
      { kind: 'long' },
      values('BIGINT', '1', '9007199254740993', '9007199254740992', 'NULL', '-1'),
      values('BIGINT', '9007199254740993', '-1'),
      [1, 4],
    ],
    [
      'int promoted to long, in data',
      { kind: 'long' },
      values('INT', '1', '-2', 'NULL'),
      values('BIGINT', '-2', '4294967297'),
      [1],
    ],
    [
      'int promoted to long, in deletes',
      { kind: 'long' },
      values('BIGINT', '4294967297', '1'),
      values('INT', '1'),
      [1],
    ],
    ['boolean', { kind: 'boolean' }, values('BOOL', 'true', 'false'), values('BOOL', 'true'), [0]],
    [
      'string, by its bytes',
      { kind: 'string' },
      values('VARCHAR', "'a'", "'A'", "''", 'NULL', "'é'", "'e\u0301'"),
      values('VARCHAR', "'é'", "''"),
      [2, 4],
    ],
    [
      'binary',
      { kind: 'binary' },
      values('BLOB', "'\\x00'", "'\\x00\\x00'", "''"),
      values('BLOB', "'\\x00\\x00'"),
      [1],
    ],
    [
      'uuid',
      { kind: 'uuid' },
      values(
        'UUID',
        "'9c12d441-03fe-4693-9a96-a0705ddf69c1'",
        "uuid '00000000-0000-0000-0000-000000000000'",
      ),
      values('UUID', "'9c12d441-03fe-4693-9a96-a0705ddf69c1'"),
      [0],
    ],
    [
      'decimal',
      { kind: 'decimal', precision: 9, scale: 2 },
      values('DECIMAL(9,2)', '1.10', '-1.10', '1.1'),
      values('DECIMAL(9,2)', '1.10'),
      [0, 2],
    ],
    [
      'decimals of smaller precision, in data and in deletes',
      { kind: 'decimal', precision: 30, scale: 2 },
      values('DECIMAL(9,2)', '1.10', '-1.10', '0'),
      values('DECIMAL(18,2)', '-1.10'),
      [1],
    ],
    [
      'decimal beyond 64 bits',
      { kind: 'decimal', precision: 38, scale: 0 },
      values('DECIMAL(38,0)', '12345678901234567890123456789', '5', '-5'),
      values('DECIMAL(38,0)', '12345678901234567890123456789', '-5'),
      [0, 2],
    ],
    [
      'date',
      { kind: 'date' },
      values('DATE', "'1969-12-31'", "'2026-11-30'"),
      values('DATE', "'1969-12-31'"),
      [0],
    ],
    [
      'time',
      { kind: 'time' },
      values('TIME', "'00:00:00'", "'23:59:59.999999'"),
      values('TIME', "'23:59:59.999999'"),
      [1],
    ],
    [
      'timestamp',
      { kind: 'timestamp' },
      values('TIMESTAMP', "'2026-11-30 01:02:03.000004'", "'1960-01-01'"),
      values('TIMESTAMP', "'2026-11-30 01:02:03.000004'"),
      [0],
    ],
    [
      'timestamp of days, in data',
      { kind: 'timestamp' },
      values('DATE', "'1960-01-01'", "'2026-11-30'"),
      values('TIMESTAMP', "'1960-01-01'", "'2026-11-30 01:00:00'"),
      [0],
    ],
    [
      'timestamp of milliseconds, in data',
      { kind: 'timestamp' },
      ["SELECT '1960-01-01 00:00:00.001'::TIMESTAMP_MS x", 'x: 1'],
      values('TIMESTAMP', "'1960-01-01 00:00:00.001'"),
      [0],
    ],
    [
      'timestamp of nanoseconds',
      { kind: 'timestamp_ns' },
      values('TIMESTAMP_NS', "'2026-11-30 01:02:03.000000004'", "'2026-11-30 01:02:03.000000005'"),
      values('TIMESTAMP_NS', "'2026-11-30 01:02:03.000000005'"),
      [1],
    ],
  ];
  for (const [name, type, data, deletes, expected] of cases) {
    test(name, async () => {
      assert.deepEqual(await deletedBy({ fields: [X(type)], data, deletes: [deletes] }), expected);
    });
  }

  test('null is a value like any other', async () => {
    const data = values('BIGINT', '1', 'NULL', '0', 'NULL');

    const deletes = [values('BIGINT', 'NULL')];

    assert.deepEqual(await deletedBy({ fields: [X({ kind: 'long' })], data, deletes }), [1, 3]);
  });
});

describe('keys of several columns', () => {
  const fields = [optionalField(1, 'x', 'int'), optionalField(2, 'y', 'string')];
  const data = [
    "SELECT * FROM (VALUES (1, 'a'), (1, NULL), (NULL, 'a'), (NULL, NULL), (2, 'a')) t(x, y)",
    'x: 1, y: 2',
  ] as const;

  test('match where all of them do, nulls too', async () => {
    const deletes = [
      [
        "SELECT * FROM (VALUES ('a', NULL::INT), (NULL, 1), ('b', 2)) t(y, x)",
        'x: 1, y: 2',
        { equalityIds: [2, 1] },
      ],
    ] as const;

    assert.deepEqual(await deletedBy({ fields, data, deletes }), [1, 2]);
  });

  test('of files with other columns than they delete by, only those count', async () => {
    const deletes = [["SELECT 1 x, 'other' y", 'x: 1, y: 2']] as const;

    assert.deepEqual(await deletedBy({ fields, data, deletes }), [0, 1]);
  });

  test('by different columns, each file deletes by its own', async () => {
    const deletes = [
      ['SELECT 2 x', 'x: 1'],
      ['SELECT NULL::VARCHAR y', 'y: 2', { equalityIds: [2] }],
    ] as const;

    assert.deepEqual(await deletedBy({ fields, data, deletes }), [1, 3, 4]);
  });

  test('one key does not run into the next', async () => {
    const texts = [optionalField(1, 'x', 'string'), optionalField(2, 'y', 'string')];
    const rows =
      "SELECT * FROM (VALUES ('ab', 'c'), ('a', 'bc'), ('abc', ''), ('', 'abc')) t(x, y)";
    const deletes = [["SELECT 'a' x, 'bc' y", 'x: 1, y: 2', { equalityIds: [1, 2] }]] as const;

    const found = await deletedBy({ fields: texts, data: [rows, 'x: 1, y: 2'], deletes });

    assert.deepEqual(found, [1]);
  });
});

describe('sequence numbers', () => {
  test('a delete file touches only data that is older than itself', async () => {
    const opened = await open({
      fields: [X({ kind: 'int' })],
      data: values('INT', '1', '2', '3'),
      deletes: [values('INT', '1', '2'), values('INT', '2', '3')],
      sequenceNumbers: [5n, 7n],
    });
    const [{ entry, deletes }] = opened.files as readonly [DataFileDeletes];
    const younger = {
      entry: { ...entry, dataSequenceNumber: 5n, dataFile: { ...entry.dataFile, filePath: OTHER } },
      deletes: { ...deletes, equalityDeleteFiles: deletes.equalityDeleteFiles.slice(1) },
    };
    await opened.store.write(OTHER, await opened.store.read(DATA, 1e6));
    const loader = createDeleteLoader({ ...opened, files: [...opened.files, younger] });

    assert.deepEqual([...(await loader.readEqualityDeletes(OTHER)).positions()], [1, 2]);
    assert.deepEqual([...(await loader.readEqualityDeletes(DATA)).positions()], [0, 1, 2]);
  });

  test('of several files with one key, the youngest counts', async () => {
    const example = {
      fields: [X({ kind: 'int' })],
      data: values('INT', '1'),
      deletes: [values('INT', '1'), values('INT', '1')],
    };

    for (const sequenceNumbers of [
      [5n, 9n],
      [9n, 5n],
    ]) {
      assert.deepEqual(await deletedBy({ ...example, sequenceNumbers }), [0]);
    }
  });
});

describe('columns', () => {
  test('are found by their id when they were renamed', async () => {
    const found = await deletedBy({
      olderFields: [[X({ kind: 'int' })]],
      fields: [optionalField(1, 'renamed', 'int'), optionalField(2, 'x', 'int')],
      data: ['SELECT 5 renamed, 1 x', 'renamed: 1, x: 2'],
      deletes: [values('INT', '5')],
    });

    assert.deepEqual(found, [0]);
  });

  test('that were dropped keep the type they had last', async () => {
    const found = await deletedBy({
      olderFields: [[X({ kind: 'int' }), optionalField(2, 'y', 'int')], [X({ kind: 'long' })]],
      fields: [optionalField(3, 'z', 'int')],
      data: values('INT', '5', '6', 'NULL'),
      deletes: [values('BIGINT', '6')],
    });

    assert.deepEqual(found, [1]);
  });

  test('that the table has forgotten are as the delete file says', async () => {
    const schema = JSON.stringify({
      type: 'struct',
      'schema-id': 0,
      fields: [{ id: 1, name: 'x', required: true, type: 'int' }],
    });
    const [sql, fieldIds] = values('INT', '6');
    const found = await deletedBy({
      fields: [optionalField(3, 'z', 'int')],
      data: values('INT', '5', '6'),
      deletes: [[sql, `${fieldIds}}, KV_METADATA {"iceberg.schema": '${schema}'`]],
    });

    assert.deepEqual(found, [1]);
  });

  test('that a data file lacks hold their default, else null', async () => {
    const fields = [X({ kind: 'int' }), optionalField(2, 'y', 'int', { initialDefault: 7 })];
    const data = ['SELECT 0 z FROM range(3)', 'z: 3'] as const;

    const byDefault = [['SELECT 7 y', 'y: 2', { equalityIds: [2] }]] as const;
    const byNull = [['SELECT NULL::INT x', 'x: 1']] as const;
    const byOther = [['SELECT NULL::INT x, 8 y', 'x: 1, y: 2', { equalityIds: [1, 2] }]] as const;

    assert.deepEqual(await deletedBy({ fields, data, deletes: byDefault }), [0, 1, 2]);
    assert.deepEqual(await deletedBy({ fields, data, deletes: byNull }), [0, 1, 2]);
    assert.deepEqual(await deletedBy({ fields, data, deletes: byOther }), []);
  });

  test('that a data file leaves to its partition hold the partition value', async () => {
    const identity = { kind: 'identity' } as const;
    const example = {
      fields: [X({ kind: 'long' }), optionalField(2, 'y', 'int')],
      partitionFields: [{ sourceIds: [1], fieldId: 1000, name: 'x', transform: identity }],
      data: ['SELECT 1 y', 'y: 2'] as const,
      deletes: [values('INT', '7')],
    };

    assert.deepEqual(await deletedBy({ ...example, partition: [7n] }), [0]);
    assert.deepEqual(await deletedBy({ ...example, partition: [8n] }), []);
    assert.deepEqual(await deletedBy({ ...example, partition: [null] }), []);
  });

  test('within structs are null where the struct is', async () => {
    const s = optionalField(3, 's', {
      kind: 'struct',
      fields: [optionalField(1, 'x', 'int'), optionalField(2, 'y', 'int')],
    });
    const data = [
      'SELECT s FROM (VALUES ({x: 1, y: 1}), (NULL), ({x: NULL, y: 1}), ({x: 2, y: 2})) t(s)',
      's: {__duckdb_field_id: 3, x: 1, y: 2}',
    ] as const;
    const keys = 's: {__duckdb_field_id: 3, x: 1}';

    const byNull = [['SELECT {x: NULL::INT} s', keys]] as const;
    const byValue = [['SELECT {x: 2} s', keys]] as const;

    assert.deepEqual(await deletedBy({ fields: [s], data, deletes: byNull }), [1, 2]);
    assert.deepEqual(await deletedBy({ fields: [s], data, deletes: byValue }), [3]);
  });
});

describe('refusals', () => {
  const fields = [X({ kind: 'int' })];
  const data = values('INT', '1');

  async function refused(
    example: Partial<Example>,
    kind: 'invalid-data' | 'unsupported',
    message: RegExp,
  ): Promise<void> {
    const full = { fields, data, deletes: [values('INT', '1')], ...example };
    await assert.rejects(deletedBy(full), errorOfKind(kind, message));
  }

  for (const type of ['float', 'double'] as const) {
    test(`columns of ${type} are not supported`, async () => {
      const deletes = [values(type.toUpperCase(), '1')];
      const message = new RegExp(`delete-0.parquet: equality deletes by column x of type ${type}`);

      await refused({ fields: [X({ kind: type })], deletes }, 'unsupported', message);
    });
  }

  test('members of lists, and structs, are not supported', async () => {
    const list = {
      kind: 'list',
      elementId: 1,
      isElementRequired: false,
      elementType: { kind: 'int' },
    } as const;
    const struct = { kind: 'struct', fields: [optionalField(2, 'y', 'int')] } as const;

    await refused(
      { fields: [optionalField(2, 'l', list)] },
      'unsupported',
      /column l\.element of type int within a list/,
    );
    await refused({ fields: [X(struct)] }, 'unsupported', /column x of type struct/);
  });

  test('columns that no schema has', async () => {
    const [sql, fieldIds] = values('INT', '1');
    const deletes = [[sql, fieldIds, { equalityIds: [99] }]] as const;

    await refused({ deletes }, 'invalid-data', /no schema has a column with id 99/);
  });

  test('delete files that lack a column they delete by', async () => {
    const two = [...fields, optionalField(2, 'y', 'int')];
    const [sql, fieldIds] = values('INT', '1');
    const deletes = [[sql, fieldIds, { equalityIds: [1, 2] }]] as const;

    await refused({ fields: two, deletes }, 'invalid-data', /without column 2 that it deletes by/);
  });

  test('delete files that do not say what they delete by', async () => {
    const [sql, fieldIds] = values('INT', '1');

    await refused(
      { deletes: [[sql, fieldIds, { equalityIds: [] }]] },
      'invalid-data',
      /without equality_ids/,
    );
  });

  test('delete files that are not what their entries say', async () => {
    const [sql, fieldIds] = values('INT', '1');

    const withRows = [[sql, fieldIds, { recordCount: 2 }]] as const;
    await refused({ deletes: withRows }, 'invalid-data', /has 1 rows, its manifest entry says 2/);
    const asAvro = [[sql, fieldIds, { fileFormat: 'AVRO' }]] as const;
    await refused({ deletes: asAvro }, 'unsupported', /format AVRO/);
    await refused(
      { deletes: [values('VARCHAR', "'a'")] },
      'unsupported',
      /does not serve type int/,
    );
  });

  test('more keys than the memory allowed', async () => {
    const deletes = [['SELECT range::INT x FROM range(100000)', 'x: 1']] as const;

    const message = /its deletes need \d+ bytes of memory, the limit is 1000000/;
    await refused({ deletes, memoryBytesMax: 1_000_000 }, 'unsupported', message);
  });

  test('a set of delete files that the sequence rule does not explain is a mistake of ours', async () => {
    const { files, ...opened } = await open({ fields, data, deletes: [values('INT', '1')] });
    const [{ entry, deletes }] = files as readonly [DataFileDeletes];
    const other = { ...entry, dataFile: { ...entry.dataFile, filePath: OTHER } };
    const without = { entry: other, deletes: { ...deletes, equalityDeleteFiles: [] } };

    const loader = createDeleteLoader({ ...opened, files: [...files, without] });

    await assert.rejects(loader.readEqualityDeletes(DATA), { name: 'AssertionFailed' });
  });
});

describe('cost', () => {
  test('of a large data file the footer and the key column are read, and nothing else', async () => {
    const data = [
      'SELECT range::INT x, repeat(md5(range::VARCHAR), 4) y FROM range(40000)',
      'x: 1, y: 2',
    ] as const;
    const opened = await open({
      fields: [X({ kind: 'int' }), optionalField(2, 'y', 'string')],
      data,
      deletes: [values('INT', '39999', '5'), values('INT', '7')],
    });
    const store = countingStore(opened.store);
    const loader = createDeleteLoader({ ...opened, store });

    const positions = await loader.readEqualityDeletes(DATA);

    assert.deepEqual([...positions.positions()], [5, 7, 39_999]);
    const { readRange, bytesRead } = store.requestCounts;
    // Each delete file whole, the footer's 64 KiB, and 4 bytes a row.
    assert.equal(readRange, 4);
    assert.ok(bytesRead < 64 * 1024 + 40_000 * 4 + 2000, `${bytesRead} bytes were read`);
  });
});

describe('files that were tampered with', () => {
  test('delete what they did, or something else, or fail with a named error', async () => {
    const opened = await open({
      fields: [X({ kind: 'string' })],
      data: values('VARCHAR', "'a'", "'b'", 'NULL'),
      deletes: [values('VARCHAR', "'b'", 'NULL', "'c'")],
    });
    const path = 's3://bucket/t/data/delete-0.parquet';
    const bytes = await opened.store.read(path, 1e6);
    const [{ entry, deletes }] = opened.files as readonly [DataFileDeletes];
    for (const { mutated, what } of mutationsOf(bytes, 3, 200)) {
      await opened.store.write(path, mutated);
      const [file] = deletes.equalityDeleteFiles as readonly [ManifestEntry];
      const dataFile = { ...file.dataFile, fileSizeBytes: mutated.length };
      const changed = { ...deletes, equalityDeleteFiles: [{ ...file, dataFile }] };
      const loader = createDeleteLoader({ ...opened, files: [{ entry, deletes: changed }] });
      try {
        await loader.readEqualityDeletes(DATA);
      } catch (error) {
        assert.ok(isIcebergError(error), `${what}: ${String(error)}`);
        assert.ok(['invalid-data', 'unsupported'].includes(error.kind), `${what}: ${error.kind}`);
      }
    }
  });
});
