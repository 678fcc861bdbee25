import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonObject, parseJson } from '../../shared/base/index.ts';
import { decodeUtf8 } from '../../shared/bytes/index.ts';
import { decompressUpTo } from '../../shared/compress/index.ts';
import {
  isEncrypted,
  parseTableMetadata,
  schemaFields,
  serializeTableMetadata,
  tablePartitionType,
  typeToJson,
} from '../../shared/iceberg/index.ts';
import { goldenMetadata } from './java-goldens.ts';

const METADATA_BYTES_MAX = 10_000_000;

for (const { table, location, bytes, facts, json } of goldenMetadata()) {
  test(`reads the metadata of ${table} as Java does`, () => {
    const metadata = parseTableMetadata(bytes, location);

    assert.deepEqual(
      {
        'format-version': metadata.formatVersion,
        'table-uuid': metadata.tableUuid,
        location: metadata.location,
        'last-sequence-number': Number(metadata.lastSequenceNumber),
        'last-updated-ms': metadata.lastUpdatedMs,
        'last-column-id': metadata.lastColumnId,
        'current-schema-id': metadata.currentSchemaId,
        'default-spec-id': metadata.defaultSpecId,
        'last-partition-id': metadata.lastPartitionId,
        'default-sort-order-id': metadata.defaultSortOrderId,
        'next-row-id':
          metadata.nextRowId === undefined ? facts['next-row-id'] : Number(metadata.nextRowId),
        'current-snapshot-id': metadata.currentSnapshotId ?? facts['current-snapshot-id'],
      },
      { ...facts, 'current-snapshot-id': BigInt(facts['current-snapshot-id'] as number) },
    );
    assert.equal(isEncrypted(metadata), false);
  });

  test(`keeps every key of the metadata of ${table}`, () => {
    const metadata = parseTableMetadata(bytes, location);

    const written = serializeTableMetadata(metadata, location);

    assert.deepEqual(parseBytes(written, location), parseBytes(bytes, location));
    assert.deepEqual(parseTableMetadata(written, location), metadata);
  });

  test(`understands every type and transform of ${table}`, () => {
    const metadata = parseTableMetadata(bytes, location);

    for (const schema of metadata.schemas) {
      const fields = (schema.source['fields'] as readonly JsonObject[]).map(({ type }) => type);
      assert.deepEqual(
        schema.fields.map(({ type }) => typeToJson(type)),
        fields,
      );
      assert.ok(schemaFields(schema).size >= schema.fields.length);
    }
    for (const spec of metadata.partitionSpecs) {
      assert.equal(tablePartitionType(metadata, spec).fields.length, spec.fields.length);
      assert.ok(spec.fields.every(({ transform }) => transform.kind !== 'unrecognized'));
    }
    assert.deepEqual(
      json['schemas'],
      metadata.schemas.map(({ source }) => source),
    );
  });
}

function parseBytes(bytes: Uint8Array, location: string): unknown {
  const isGzip = location.endsWith('.gz.metadata.json');
  const plain = isGzip ? decompressUpTo('gzip', bytes, METADATA_BYTES_MAX, 'metadata') : bytes;
  return parseJson(decodeUtf8(plain, 'metadata'), 'metadata');
}
