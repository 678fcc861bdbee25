import type { Clock } from '../../shared/base/index.ts';
import type { TableIdentifier, TableRecord } from '../../shared/catalog/index.ts';
import type { RawCatalog } from './catalog.conformance.ts';

export interface RecordAccess {
  readonly clock: Clock;
  readRecord(identifier: TableIdentifier): Promise<TableRecord>;
  writeRecord(identifier: TableIdentifier, record: TableRecord): Promise<void>;
  drop(identifier: TableIdentifier): Promise<void>;
}

/** Raw calls for the catalogs that keep table records. Each write by others has a version of its own. */
export function rawRecords({ clock, readRecord, writeRecord, drop }: RecordAccess): RawCatalog {
  let writes = 0;
  const foreignVersion = () => `foreign-${++writes}`;
  return {
    drop,
    rename: async (source, target) => {
      const record = await readRecord(source);
      await drop(source);
      const { namespace, name } = target;
      await writeRecord(target, { ...record, namespace, name, version: foreignVersion() });
    },
    replace: async (identifier, metadataLocation) => {
      const record = await readRecord(identifier);
      await writeRecord(identifier, {
        ...record,
        version: foreignVersion(),
        'metadata-location': metadataLocation,
        'previous-metadata-location': record['metadata-location'] ?? null,
        'updated-at-ms': clock.nowMs(),
      });
    },
    setAttribute: async (identifier, attribute, text) =>
      writeRecord(identifier, { ...(await readRecord(identifier)), [attribute]: text }),
    readAttribute: async (identifier, attribute) => {
      const value = (await readRecord(identifier))[attribute];
      return typeof value === 'string' ? value : undefined;
    },
    readTimes: async (identifier) => {
      const record = await readRecord(identifier);
      return {
        createdAtMs: Number(record['created-at-ms']),
        updatedAtMs: Number(record['updated-at-ms']),
      };
    },
  };
}
