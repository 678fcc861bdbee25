import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deleteFileOf } from '../../local/table-writer/index.ts';
import { unreadableReason } from '../../shared/deletes/index.ts';
import type { DataFile } from '../../shared/iceberg/index.ts';
import { exampleTable, optionalField } from './delete-files-fixture.ts';

const DATA_FILE = {
  filePath: 's3://bucket/t/data/0.parquet',
  fileFormat: 'PARQUET',
  partition: [],
  recordCount: 1,
  fileSizeBytes: 100,
  unknownFields: [],
} as const;

/** The reason for a delete file of a table with a column of each kind. */
async function reasonOf(
  content: 'position-deletes' | 'equality-deletes',
  other: Partial<DataFile>,
): Promise<string | undefined> {
  const list = {
    kind: 'list',
    elementId: 5,
    isElementRequired: false,
    elementType: { kind: 'int' },
  } as const;
  const table = await exampleTable({
    fields: [
      optionalField(1, 'id', 'long'),
      optionalField(3, 'price', 'double'),
      optionalField(4, 'tags', list),
    ],
  });
  const { metadata } = await table.writer.load();
  const file = { specId: 0, dataFile: { ...DATA_FILE, content: 'data' } } as const;
  const { specId, dataFile } = deleteFileOf(file, content, other);
  const entry = { snapshotId: 1n, dataSequenceNumber: 1n, specId, dataFile, unknownFields: [] };
  return unreadableReason({ ...entry, status: 'added' }, metadata);
}

describe('unreadableReason', () => {
  for (const [name, content, other, reason] of [
    ['a Parquet position delete file', 'position-deletes', {}, undefined],
    ['a vector', 'position-deletes', { fileFormat: 'PUFFIN' }, undefined],
    ['an Avro file', 'position-deletes', { fileFormat: 'avro' }, 'unsupported-format'],
    ['an ORC file', 'equality-deletes', { fileFormat: 'ORC' }, 'unsupported-format'],
    ['an encrypted file', 'position-deletes', { keyMetadata: new Uint8Array([1]) }, 'encrypted'],
    ['keys of type long', 'equality-deletes', { equalityIds: [1] }, undefined],
    ['keys of type double', 'equality-deletes', { equalityIds: [1, 3] }, 'unsupported-column'],
    ['members of a list', 'equality-deletes', { equalityIds: [5] }, 'unsupported-column'],
    ['a column that was forgotten', 'equality-deletes', { equalityIds: [99] }, undefined],
  ] as const) {
    test(`of ${name} is ${reason ?? 'none'}`, async () => {
      assert.equal(await reasonOf(content, other), reason);
    });
  }
});
