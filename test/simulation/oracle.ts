import { gunzipSync } from 'node:zlib';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../shared/base/index.ts';
import type { ObjectStore } from '../../shared/storage/index.ts';
import type { AvroRecord } from '../support/slow-avro.ts';
import { readDeletionVectorSlowly } from '../support/slow-deletion-vector.ts';
import {
  DATA_FILE,
  listFilesSlowly,
  MANIFEST_ENTRY,
  MANIFEST_FILE,
  type SlowFile,
} from '../support/slow-files.ts';
import { OBJECT_BYTES_MAX, type SlowParser, slowParser } from '../support/slow-parser.ts';
import { readFilesSlowly } from '../support/slow-reader.ts';
import { claim } from './violation.ts';

/** A metadata file as plain JSON, with what the checks look at. */
export interface MetadataDocument {
  readonly location: string;
  readonly json: JsonObject;
  readonly tableUuid: string;
  readonly formatVersion: number;
  readonly lastSequenceNumber: bigint;
  readonly nextRowId: bigint;
  readonly currentSnapshotId: bigint | undefined;
  readonly currentSchemaId: bigint;
  readonly snapshots: ReadonlyMap<bigint, JsonObject>;
  readonly refs: ReadonlyMap<string, JsonObject>;
  /** Metadata files in the log, the oldest first. */
  readonly logged: readonly string[];
}

/** A manifest of a snapshot: what the list says of it, and all its entries. */
export interface ListedManifest {
  readonly listed: AvroRecord;
  readonly entries: readonly AvroRecord[];
}

const STATUS_DELETED = 2;

export function isLive(entry: AvroRecord): boolean {
  return entry[MANIFEST_ENTRY.status] !== STATUS_DELETED;
}

export function fileOf(entry: AvroRecord): AvroRecord {
  return entry[MANIFEST_ENTRY.dataFile] as AvroRecord;
}

/** Reads metadata and rows for the checker, remembering what it read: objects never change. */
export class Oracle {
  readonly #store: ObjectStore;
  readonly parser: SlowParser;
  readonly #documents = new Map<string, Promise<MetadataDocument>>();

  constructor(store: ObjectStore) {
    this.#store = store;
    this.parser = rememberingParser(slowParser(store));
  }

  document(location: string): Promise<MetadataDocument> {
    const known = this.#documents.get(location) ?? this.#readDocument(location);
    this.#documents.set(location, known);
    return known;
  }

  /**
   * The rows of a snapshot as one text, with `_row_id` in v3: in the current schema for the current snapshot,
   * else in the snapshot's own.
   */
  async rowsOf(document: MetadataDocument, snapshotId: bigint): Promise<string> {
    const files = await readFilesSlowly({
      store: this.#store,
      metadataLocation: document.location,
      snapshotId,
      withLineage: document.formatVersion === 3,
      parser: this.parser,
    });
    const paths = new Set(files.map(({ filePath }) => filePath));
    claim(paths.size === files.length, 'no file is referenced twice', () => `${snapshotId}`);
    const rows = files.flatMap(({ filePath, rows, failure }) => {
      claim(failure === undefined, 'every file can be read', () => `${filePath}: ${failure}`);
      return rows;
    });
    if (document.formatVersion === 3) requireOwnRowIds(rows, document, snapshotId);
    return rows.sort().join('\n');
  }

  /** Live data and delete files of a snapshot. */
  filesOf({ snapshots }: MetadataDocument, snapshotId: bigint): Promise<readonly SlowFile[]> {
    const manifestList = String(snapshots.get(snapshotId)?.['manifest-list']);
    return listFilesSlowly(this.#store, manifestList, this.parser);
  }

  /** What a deletion vector deletes. */
  async vectorOf({ filePath, contentOffset, contentSizeBytes }: SlowFile): Promise<Set<number>> {
    const [offset, lengthBytes] = [contentOffset ?? 0, contentSizeBytes ?? 0];
    return readDeletionVectorSlowly(await this.#store.readRange(filePath, offset, lengthBytes));
  }

  /** Manifests of a snapshot in the order of its list. */
  async manifestsOf(
    { snapshots }: MetadataDocument,
    snapshotId: bigint,
  ): Promise<readonly ListedManifest[]> {
    const manifestList = String(snapshots.get(snapshotId)?.['manifest-list']);
    const { records } = await this.parser.avro(manifestList);
    const manifests: ListedManifest[] = [];
    for (const listed of records) {
      const { records: entries } = await this.parser.avro(manifestPath(listed));
      manifests.push({ listed, entries });
    }
    return manifests;
  }

  /** Every object that a metadata file leads to, and the file itself; not the files of its log. */
  async objectsOf(document: MetadataDocument): Promise<ReadonlySet<string>> {
    const objects = new Set([document.location]);
    for (const [snapshotId, snapshot] of document.snapshots) {
      objects.add(String(snapshot['manifest-list']));
      for (const { listed, entries } of await this.manifestsOf(document, snapshotId)) {
        objects.add(manifestPath(listed));
        for (const entry of entries.filter(isLive)) {
          objects.add(String(fileOf(entry)[DATA_FILE.filePath]));
        }
      }
    }
    return objects;
  }

  async #readDocument(location: string): Promise<MetadataDocument> {
    const bytes = await this.#store.read(location, OBJECT_BYTES_MAX);
    const plain = location.endsWith('.gz.metadata.json') ? gunzipSync(bytes) : bytes;
    const json = requireObject(parseJson(new TextDecoder().decode(plain), location));
    const snapshots = requireArray(json['snapshots']).map(requireObject);
    const currentSnapshotId = long(json['current-snapshot-id'] ?? -1);
    return {
      location,
      json,
      tableUuid: String(json['table-uuid']),
      formatVersion: Number(json['format-version']),
      lastSequenceNumber: long(json['last-sequence-number'] ?? 0),
      nextRowId: long(json['next-row-id'] ?? 0),
      currentSnapshotId: currentSnapshotId === -1n ? undefined : currentSnapshotId,
      currentSchemaId: long(json['current-schema-id'] ?? 0),
      snapshots: new Map(snapshots.map((snapshot) => [long(snapshot['snapshot-id']), snapshot])),
      refs: new Map(
        Object.entries(requireObject(json['refs'] ?? {})).map(([name, ref]) => [
          name,
          requireObject(ref),
        ]),
      ),
      logged: requireArray(json['metadata-log']).map((entry) =>
        String(requireObject(entry)['metadata-file']),
      ),
    };
  }
}

/** Whatever was appended after a commit of Firn, too: its ids begin where the metadata says. */
function requireOwnRowIds(
  rows: readonly string[],
  { nextRowId }: MetadataDocument,
  snapshotId: bigint,
): void {
  const ids = rows.map((row) => row.slice(0, row.indexOf('|'))).filter((id) => id !== 'null');
  claim(new Set(ids).size === ids.length, 'row ids are unique', () => `snapshot ${snapshotId}`);
  const beyond = ids.find((id) => BigInt(id) >= nextRowId);
  claim(
    beyond === undefined,
    'row ids lie below the next one',
    () => `${beyond} of snapshot ${snapshotId}, next is ${nextRowId}`,
  );
}

function manifestPath(listed: AvroRecord): string {
  return String(listed[MANIFEST_FILE.manifestPath]);
}

export function long(value: JsonValue | undefined): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw new TypeError(`oracle: ${String(value)} is not a whole number`);
}

function rememberingParser(parser: SlowParser): SlowParser {
  const avro = new Map<string, ReturnType<SlowParser['avro']>>();
  const parquet = new Map<string, ReturnType<SlowParser['parquet']>>();
  return {
    avro: (location) => {
      const known = avro.get(location) ?? parser.avro(location);
      avro.set(location, known);
      return known;
    },
    parquet: (file) => {
      const key = `${file.filePath} ${file.fileSizeBytes}`;
      const known = parquet.get(key) ?? parser.parquet(file);
      parquet.set(key, known);
      return known;
    },
  };
}

function requireObject(value: JsonValue | undefined): JsonObject {
  if (value !== undefined && isJsonObject(value)) return value;
  throw new TypeError('oracle: metadata has something else than an object');
}

function requireArray(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  if (value === undefined) return [];
  throw new TypeError('oracle: metadata has something else than an array');
}
