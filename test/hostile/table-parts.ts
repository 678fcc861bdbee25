import type { AvroRecord, SlowAvroFile } from '../support/slow-avro.ts';
import { readAvroSlowly } from '../support/slow-avro.ts';
import { OBJECT_BYTES_MAX } from '../support/slow-files.ts';
import { parseMetadataSlowly } from '../support/slow-metadata.ts';
import { encodeRecords } from './avro-lies.ts';
import type { BaseTable } from './base-tables.ts';
import { ENTRY_FIELDS, FILE_FIELDS, LIST_FIELDS } from './field-ids.ts';
import type { Corruption } from './run-case.ts';

/** Records as they may be changed before they are encoded again. */
export type OpenRecord = Record<string, unknown>;

export interface OpenParts {
  list: OpenRecord[];
  /** Entries by manifest path. */
  readonly manifests: ReadonlyMap<string, OpenRecord[]>;
}

interface AvroObject {
  readonly bytes: Uint8Array;
  readonly file: SlowAvroFile;
}

/** The manifest list and manifests of a table's current snapshot, decoded, to be changed field by field. */
export class TableParts {
  readonly base: BaseTable;
  readonly metadata: Uint8Array;
  readonly listLocation: string;
  readonly list: AvroObject;
  readonly manifests: ReadonlyMap<string, AvroObject>;

  private constructor(parts: Omit<TableParts, 'edited' | 'relisted' | 'resized'>) {
    this.base = parts.base;
    this.metadata = parts.metadata;
    this.listLocation = parts.listLocation;
    this.list = parts.list;
    this.manifests = parts.manifests;
  }

  static async load(base: BaseTable): Promise<TableParts> {
    const read = (location: string): Promise<Uint8Array> =>
      base.store.read(location, OBJECT_BYTES_MAX);
    const readAvro = async (location: string): Promise<AvroObject> => {
      const bytes = await read(location);
      return { bytes, file: readAvroSlowly(bytes) };
    };
    const metadata = await read(base.metadataLocation);
    const { currentSnapshotId, manifestLists } = parseMetadataSlowly(metadata);
    const listLocation = manifestLists.get(currentSnapshotId!)!;
    const list = await readAvro(listLocation);
    const manifests = new Map<string, AvroObject>();
    for (const record of list.file.records) {
      const path = String(record[LIST_FIELDS.manifestPath]);
      manifests.set(path, await readAvro(path));
    }
    return new TableParts({ base, metadata, listLocation, list, manifests });
  }

  /**
   * The list and the manifests encoded again after a change; the list tells the manifests' new lengths. Nothing
   * where the files' own schemas have no place for the change.
   */
  edited(change: (parts: OpenParts) => void): Corruption | undefined {
    const parts: OpenParts = {
      list: this.list.file.records.map(openRecord),
      manifests: new Map(
        [...this.manifests].map(([path, { file }]) => [path, file.records.map(openRecord)]),
      ),
    };
    change(parts);
    const corruption = new Map<string, Uint8Array>();
    for (const [path, { file, bytes: bytesBefore }] of this.manifests) {
      const records = parts.manifests.get(path)!;
      if (!records.every((record) => file.type.isValid(record))) return undefined;
      const bytes = encodeRecords(file, records);
      corruption.set(path, bytes);
      for (const record of parts.list) {
        if (record[LIST_FIELDS.manifestPath] !== path) continue;
        // A lie about the length stays as large as it was made.
        const length = record[LIST_FIELDS.manifestLength] as bigint;
        record[LIST_FIELDS.manifestLength] = length + BigInt(bytes.length - bytesBefore.length);
      }
    }
    const { file } = this.list;
    if (!parts.list.every((record) => file.type.isValid(record))) return undefined;
    return corruption.set(this.listLocation, encodeRecords(file, parts.list));
  }

  /** A manifest of any bytes, with its length in the list. */
  relisted(manifestPath: string, bytes: Uint8Array): Corruption {
    const records = this.list.file.records.map((record) =>
      record[LIST_FIELDS.manifestPath] === manifestPath
        ? { ...record, [LIST_FIELDS.manifestLength]: BigInt(bytes.length) }
        : record,
    );
    return new Map([
      [manifestPath, bytes],
      [this.listLocation, encodeRecords(this.list.file, records)],
    ]);
  }

  /** A data file of any bytes, with its length in its entry. */
  resized(filePath: string, bytes: Uint8Array): Corruption {
    const corruption = new Map(
      this.edited(({ manifests }) => {
        for (const entry of [...manifests.values()].flat()) {
          const file = entry[ENTRY_FIELDS.dataFile] as OpenRecord;
          if (file[FILE_FIELDS.filePath] === filePath)
            file[FILE_FIELDS.fileSizeBytes] = BigInt(bytes.length);
        }
      }),
    );
    return corruption.set(filePath, bytes);
  }
}

function openRecord(record: AvroRecord): OpenRecord {
  return openValue(record) as OpenRecord;
}

/** A deep copy; bytes are shared. */
function openValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openValue);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, openValue(part)]));
}
