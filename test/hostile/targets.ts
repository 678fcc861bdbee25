import { OBJECT_BYTES_MAX } from '../support/slow-files.ts';
import { readFilesSlowly } from '../support/slow-reader.ts';
import { lyingBlocks } from './avro-lies.ts';
import { BASE_TABLES, type BaseTable } from './base-tables.ts';
import { changedBytes, offsetsOf, restructured } from './byte-mutations.ts';
import { brokenReferences } from './cross-references.ts';
import { LIST_FIELDS } from './field-ids.ts';
import type { HostileCase } from './hostile-case.ts';
import { changedValues } from './json-mutations.ts';
import { lyingFooters, lyingPageHeaders } from './parquet-lies.ts';
import { type ParquetParts, parquetParts } from './parquet-parts.ts';
import { compactCopy } from './run-case.ts';
import { TableParts } from './table-parts.ts';

/** A part of a table, and everything that is done to it. */
export interface Target {
  readonly name: string;
  readonly tableName: string;
  readonly cases: (table: TargetTable, seed: number) => Iterable<HostileCase>;
}

/** What the targets of one table share. */
export interface TargetTable {
  readonly base: BaseTable;
  readonly parts: TableParts;
  /** Data files that compaction of the sound table replaces. */
  readonly inputPaths: ReadonlySet<string>;
  readonly dataFiles: readonly DataObject[];
}

interface DataObject {
  readonly filePath: string;
  readonly bytes: Uint8Array;
  readonly parts: ParquetParts;
}

/**
 * Texts of JSON documents and of schemas in Avro headers: one seed takes every eighth byte, so eight seeds in a row
 * take each. Everything else is taken whole by every seed.
 */
export const TEXT_STRIDE = 8;

/** Bodies, and page indexes, which are hints: a sample for each seed. */
const BODY_STRIDE = 16;
const INDEX_STRIDE = 4;

/** Places at which a file is cut, spliced and so on. */
const RESTRUCTURED_COUNT = 12;

type Part = (table: TargetTable, seed: number) => Generator<HostileCase>;

const PARTS: Readonly<Record<string, Part>> = {
  *control() {
    yield { label: 'nothing is corrupted', corruption: new Map(), expects: 'commit' };
  },
  *metadata({ base, parts }, seed) {
    const { metadataLocation } = base;
    const offsets = offsetsOf(0, parts.metadata.length, { seed, stride: TEXT_STRIDE });
    yield* changedBytes(metadataLocation, parts.metadata, offsets, { seed });
    yield* restructured(metadataLocation, parts.metadata, { seed, count: RESTRUCTURED_COUNT });
  },
  *'metadata-values'({ base, parts }, seed) {
    yield* changedValues(base.metadataLocation, parts.metadata, { seed, stride: 1 });
  },
  *'manifest-list'({ parts }, seed) {
    const { listLocation, list } = parts;
    const offsets = avroOffsets(list.bytes, list.file.header.length, seed);
    yield* changedBytes(listLocation, list.bytes, offsets, { seed });
    yield* restructured(listLocation, list.bytes, { seed, count: RESTRUCTURED_COUNT });
    yield* lyingBlocks(listLocation, list.bytes);
  },
  *manifests({ parts }, seed) {
    {
      const [path, { bytes, file }] = deletesElseData(parts);
      yield* changedBytes(path, bytes, avroOffsets(bytes, file.header.length, seed), { seed });
      for (const each of [
        ...restructured(path, bytes, { seed, count: RESTRUCTURED_COUNT }),
        ...lyingBlocks(path, bytes),
      ]) {
        yield each;
        yield { ...each, corruption: parts.relisted(path, each.corruption.get(path)!) };
      }
    }
  },
  *'cross-references'({ parts, inputPaths }) {
    yield* brokenReferences(parts, inputPaths);
  },
  *footers(table, seed) {
    for (const { filePath, bytes, parts } of variousFiles(table)) {
      const { start, end } = parts.footer;
      yield* changedBytes(filePath, bytes, offsetsOf(start, end, { seed }), { seed });
    }
  },
  *'footer-lies'(table, seed) {
    for (const file of variousFiles(table)) yield* lyingFooters(file, table.parts, seed);
  },
  *'page-headers'(table, seed) {
    for (const file of variousFiles(table)) {
      for (const { start, end } of file.parts.pageHeaders) {
        const offsets = offsetsOf(start, end, { seed });
        yield* changedBytes(file.filePath, file.bytes, offsets, { seed });
      }
      yield* lyingPageHeaders(file, table.parts, seed);
    }
  },
  *'page-indexes'(table, seed) {
    for (const { filePath, bytes, parts } of variousFiles(table)) {
      const { start, end } = parts.indexes;
      const offsets = offsetsOf(start, end, { seed, stride: INDEX_STRIDE });
      yield* changedBytes(filePath, bytes, offsets, { seed });
    }
  },
  *bodies(table, seed) {
    for (const { filePath, bytes, parts } of variousFiles(table)) {
      for (const { start, end, hasChecksum } of parts.pageBodies) {
        const offsets = offsetsOf(start, end, { seed, stride: BODY_STRIDE });
        yield* changedBytes(filePath, bytes, offsets, { seed, mustBeRefused: hasChecksum });
      }
    }
  },
  *'data-files'(table, seed) {
    for (const { filePath, bytes } of variousFiles(table)) {
      const cases = restructured(filePath, bytes, { seed, count: RESTRUCTURED_COUNT });
      for (const each of cases) {
        yield each;
        const corruption = table.parts.resized(filePath, each.corruption.get(filePath)!);
        yield { ...each, corruption, label: `${each.label}, resized` };
      }
    }
  },
};

const METADATA_PARTS = [
  'metadata',
  'metadata-values',
  'manifest-list',
  'manifests',
  'cross-references',
];
const PARQUET_PARTS = [
  'footers',
  'footer-lies',
  'page-headers',
  'page-indexes',
  'bodies',
  'data-files',
];

/** Which parts of which table; the others would repeat what these do with other names. */
const PARTS_BY_TABLE: Readonly<Record<string, readonly string[]>> = {
  'java-v1-all-types': ['metadata', 'metadata-values', 'cross-references'],
  'java-v2-gzip': [...METADATA_PARTS, ...PARQUET_PARTS],
  'java-v2-deletes': ['manifests', 'cross-references'],
  'java-v1-upgraded-to-v3': [...METADATA_PARTS],
  'java-v3-deletes': ['cross-references', 'manifests'],
  'java-v3-only': ['metadata', 'metadata-values', ...PARQUET_PARTS],
  'spark-v3': ['footer-lies', 'page-indexes', 'bodies'],
  'mixed-v2': ['metadata-values', ...PARQUET_PARTS],
  'partitioned-v1': [...METADATA_PARTS, ...PARQUET_PARTS.filter((part) => part !== 'page-indexes')],
  'partitioned-v3': ['metadata-values', 'cross-references'],
};

export const TARGETS: readonly Target[] = Object.entries(PARTS_BY_TABLE).flatMap(
  ([tableName, partNames]) =>
    ['control', ...partNames].map((partName) => ({
      name: `${tableName}/${partName}`,
      tableName,
      cases: PARTS[partName]!,
    })),
);

export async function loadTargetTable(tableName: string): Promise<TargetTable> {
  const base = await BASE_TABLES.get(tableName)!();
  const parts = await TableParts.load(base);
  const { store, metadataLocation } = await compactCopy(base);
  const before = await readFilesSlowly({
    store: base.store,
    metadataLocation: base.metadataLocation,
  });
  const after = await readFilesSlowly({ store, metadataLocation });
  const kept = new Set(after.map(({ filePath }) => filePath));
  const inputPaths = new Set(
    before.map(({ filePath }) => filePath).filter((path) => !kept.has(path)),
  );
  const dataFiles: DataObject[] = [];
  for (const filePath of inputPaths) {
    const bytes = await base.store.read(filePath, OBJECT_BYTES_MAX);
    dataFiles.push({ filePath, bytes, parts: await parquetParts(bytes) });
  }
  return { base, parts, inputPaths, dataFiles };
}

/** Some bytes of the header, whose text is the schema, then each byte of the blocks. */
function* avroOffsets(bytes: Uint8Array, headerBytes: number, seed: number): Generator<number> {
  yield* offsetsOf(0, headerBytes, { seed, stride: TEXT_STRIDE });
  yield* offsetsOf(headerBytes, bytes.length, { seed });
}

/** The first delete manifest of the list, or the first data manifest where there is none. */
function deletesElseData({ list, manifests }: TableParts) {
  const { records } = list.file;
  const chosen = records.find((record) => record[LIST_FIELDS.content] === 1) ?? records[0];
  const path = String(chosen![LIST_FIELDS.manifestPath]);
  return [path, manifests.get(path)!] as const;
}

/** The shortest and the longest data file. */
function variousFiles({ dataFiles }: TargetTable): readonly DataObject[] {
  const byLength = dataFiles.toSorted((one, other) => one.bytes.length - other.bytes.length);
  return [...new Set([byLength[0], byLength.at(-1)])].filter((file) => file !== undefined);
}
