import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type FileGroupInput, rewriteFileGroup } from '../../shared/datafile/index.ts';
import { parquetSchemaFor } from '../../shared/datafile/parquet-schema.ts';
import {
  currentSchema,
  type DataFile,
  type ManifestEntry,
  metricsModes,
  readManifest,
  sortOrderById,
  specById,
  type TableMetadata,
} from '../../shared/iceberg/index.ts';
import { readParquetFooter, verifyParquetFile } from '../../shared/parquet/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { goldenManifests } from '../iceberg/manifest-goldens.ts';
import { bytesReader } from '../support/file-reader.ts';
import { readParquetSlowly } from '../support/slow-parquet-rows.ts';
import { bitmapOf } from './rewrite-fixture.ts';

const FIXTURES = new URL('../fixtures/iceberg-java/', import.meta.url);
const METRICS = [
  'valueCounts',
  'nullValueCounts',
  'nanValueCounts',
  'lowerBounds',
  'upperBounds',
] as const;

interface JavaFile {
  readonly metadata: TableMetadata;
  readonly entry: ManifestEntry;
  readonly bytes: Uint8Array;
}

/** The live data files of a golden table that was never evolved. */
function javaFiles(table: string): readonly JavaFile[] {
  const files = new Map<string, JavaFile>();
  for (const { name, bytes, manifest, context, metadata } of goldenManifests()) {
    if (!name.startsWith(`s3://warehouse/golden/${table}/`)) continue;
    if (manifest.content !== 'data') continue;
    for (const entry of readManifest(bytes, manifest, context)) {
      const { filePath } = entry.dataFile;
      const url = new URL(filePath.replace('s3://warehouse/golden/', 'tables/'), FIXTURES);
      if (entry.status === 'deleted' || !existsSync(url)) continue;
      files.set(filePath, { metadata, entry, bytes: new Uint8Array(readFileSync(url)) });
    }
  }
  return [...files.values()];
}

async function rewriteJavaFile(
  { metadata, entry, bytes }: JavaFile,
  deletes?: FileGroupInput['deletes'],
) {
  const store = new MemoryObjectStore();
  const schema = currentSchema(metadata);
  const { properties, formatVersion, defaultSortOrderId } = metadata;
  const location = 's3://bucket/data/out.parquet';
  const result = await rewriteFileGroup({
    inputs: [
      {
        dataFile: entry.dataFile,
        dataSequenceNumber: entry.dataSequenceNumber,
        reader: bytesReader(bytes, entry.dataFile.filePath),
        ...(deletes && { deletes }),
      },
    ],
    schema,
    formatVersion,
    partitionSpec: specById(metadata, entry.specId),
    properties,
    metricsModes: metricsModes(schema, sortOrderById(metadata, defaultSortOrderId), properties),
    outputSizeBytes: 2 ** 30,
    openOutput: async () => ({ location, writer: store.openWriter(location) }),
  });
  const { dataFile } = result.outputs[0]!;
  return { ...result, dataFile, bytes: await store.read(location, dataFile.fileSizeBytes) };
}

/** Metrics in the order of the field ids; a map that is absent is empty. */
function metricsOf(dataFile: DataFile) {
  return METRICS.map((name) => {
    const entries: (readonly [number, number | Uint8Array])[] = [...(dataFile[name] ?? [])];
    const sorted = entries.toSorted(([one], [other]) => one - other);
    // Views of a manifest or a footer compare by their bytes alone.
    return [name, sorted.map(([fieldId, value]) => [fieldId, toComparable(value)])];
  });
}

function toComparable(value: number | Uint8Array): number | readonly number[] {
  return typeof value === 'number' ? value : Array.from(value);
}

/** The rows of a file with what they inherit in v3. */
function withLineage({ metadata, entry }: JavaFile, rows: readonly object[]): readonly object[] {
  if (metadata.formatVersion < 3) return rows;
  return rows.map((row, index) => ({
    ...row,
    _row_id: entry.dataFile.firstRowId! + BigInt(index),
    _last_updated_sequence_number: entry.dataSequenceNumber,
  }));
}

describe('rewriteFileGroup on files of Iceberg Java', () => {
  for (const table of ['v1-all-types', 'v2-all-types', 'v3-all-types']) {
    test(`copies ${table} under the schema that Java wrote`, async () => {
      for (const file of javaFiles(table)) {
        const { metadata } = await readParquetFooter(bytesReader(file.bytes));
        const elements = parquetSchemaFor(currentSchema(file.metadata), { withLineage: false });

        const { columnChunks } = await rewriteJavaFile(file);

        assert.deepEqual(elements.slice(1), metadata.schema.slice(1));
        const leafCount = metadata.rowGroups.flatMap(({ columns }) => columns).length;
        assert.equal(columnChunks.copiedCount, leafCount);
      }
    });

    test(`gives the metrics of ${table} that Java gave`, async () => {
      for (const file of javaFiles(table)) {
        const { dataFile } = await rewriteJavaFile(file);

        assert.deepEqual(metricsOf(dataFile), metricsOf(file.entry.dataFile));
      }
    });

    test(`keeps the rows of ${table}, and their lineage`, async () => {
      const files = javaFiles(table);
      assert.ok(files.length > 0);
      for (const file of files) {
        const { bytes } = await rewriteJavaFile(file);

        await verifyParquetFile(bytesReader(bytes));
        const before = await readParquetSlowly(file.bytes);
        const after = await readParquetSlowly(bytes);
        assert.deepEqual(after.rows, withLineage(file, before.rows));
      }
    });

    test(`purges rows of ${table}, and keeps the others with their lineage`, async () => {
      for (const file of javaFiles(table)) {
        const { rows } = await readParquetSlowly(file.bytes);
        assert.ok(rows.length > 1);
        for (let gone = 0; gone < rows.length; gone++) {
          const deletes = { positions: bitmapOf([gone]), treatment: 'purge' } as const;

          const { bytes, columnChunks } = await rewriteJavaFile(file, deletes);

          const after = await readParquetSlowly(bytes);
          const expected = withLineage(file, rows).toSpliced(gone, 1);
          assert.deepEqual(after.rows, expected);
          assert.equal(columnChunks.copiedCount, 0);
        }
      }
    });
  }
});
