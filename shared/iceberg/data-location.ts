import { IcebergError } from '../base/index.ts';
import { encodeUtf8 } from '../bytes/index.ts';
import { stripTrailingSlash } from './metadata-location.ts';
import { tablePartitionType } from './metadata-lookup.ts';
import type { TableMetadata } from './metadata-types.ts';
import { murmur3 } from './murmur3.ts';
import { partitionPath } from './partition-path.ts';
import { isUnpartitioned } from './partition-spec.ts';
import { type Properties, tableProperty } from './table-properties.ts';
import type { Partition, PartitionSpec } from './types.ts';

/** Low bits of the hash of the file name that become folders of the object-store layout. */
const HASH_BITS = 20;
/** The first three folders have four bits each, the last one the rest. */
const HASH_FOLDERS = /^(.{4})(.{4})(.{4})(.+)$/;
const SCHEME_AND_AUTHORITY = /^[^:/]+:(?:\/\/[^/]*)?/;

/**
 * The location of a new data file, byte-equal to what Iceberg Java's default and object-store location
 * providers give. A file of an unpartitioned spec has no partition folders.
 *
 * @param fileName with its extension
 * @throws unsupported — when the table names a location provider of its own (a Java class)
 * @throws invalid-config — when a property it needs is malformed
 * @see Iceberg Java, `LocationProviders`
 */
export function newDataLocation(
  metadata: TableMetadata,
  spec: PartitionSpec,
  partition: Partition,
  fileName: string,
): string {
  const path = isUnpartitioned(spec)
    ? undefined
    : partitionPath(spec, tablePartitionType(metadata, spec), partition);
  return dataLocation(metadata.location, metadata.properties, path, fileName);
}

/** As `newDataLocation`, with the partition's path, or without one for files of no partition. */
export function dataLocation(
  tableLocation: string,
  properties: Properties,
  path: string | undefined,
  fileName: string,
): string {
  const provider = tableProperty(properties, 'write.location-provider.impl');
  if (provider !== undefined) {
    throw new IcebergError(
      'unsupported',
      `location provider: the table places its files with the class ${provider.slice(0, 200)}`,
      { property: 'write.location-provider.impl' },
    );
  }
  const location = stripTrailingSlash(tableLocation);
  return tableProperty(properties, 'write.object-storage.enabled')
    ? objectStoreLocation(location, properties, path, fileName)
    : `${defaultFolder(location, properties)}/${joined(path, fileName)}`;
}

function objectStoreLocation(
  tableLocation: string,
  properties: Properties,
  path: string | undefined,
  fileName: string,
): string {
  const folder = objectStoreFolder(tableLocation, properties);
  const hasPartitionPaths = tableProperty(properties, 'write.object-storage.partitioned-paths');
  const name = hasPartitionPaths ? joined(path, fileName) : fileName;
  const hash = hashFolders(name);
  if (!folder.startsWith(tableLocation)) {
    return `${folder}/${hash}/${locationContext(tableLocation)}/${name}`;
  }
  return hasPartitionPaths ? `${folder}/${hash}/${name}` : `${folder}/${hash}-${name}`;
}

function defaultFolder(tableLocation: string, properties: Properties): string {
  const path =
    tableProperty(properties, 'write.data.path') ??
    tableProperty(properties, 'write.folder-storage.path');
  return stripTrailingSlash(path ?? `${tableLocation}/data`);
}

function objectStoreFolder(tableLocation: string, properties: Properties): string {
  const path =
    tableProperty(properties, 'write.data.path') ??
    tableProperty(properties, 'write.object-storage.path');
  return path === undefined ? defaultFolder(tableLocation, properties) : stripTrailingSlash(path);
}

function joined(path: string | undefined, fileName: string): string {
  return path === undefined ? fileName : `${path}/${fileName}`;
}

/** Twenty binary digits of the name's hash, as `0000/0000/0000/00000000`. */
function hashFolders(name: string): string {
  const bits = murmur3(encodeUtf8(name)) & (2 ** HASH_BITS - 1);
  return bits.toString(2).padStart(HASH_BITS, '0').replace(HASH_FOLDERS, '$1/$2/$3/$4');
}

/** Parent and name of the table's folder, as Hadoop's `Path` splits a location. */
function locationContext(tableLocation: string): string {
  const path = tableLocation.replace(SCHEME_AND_AUTHORITY, '').replace(/\/+/g, '/');
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  const end = trimmed.lastIndexOf('/');
  const name = trimmed.slice(end + 1);
  if (trimmed === '' || trimmed === '/') return name;
  const parent = end < 0 ? '' : trimmed.slice(0, end);
  return `${parent.slice(parent.lastIndexOf('/') + 1)}/${name}`;
}
