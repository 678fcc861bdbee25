import type { TableMetadata } from './metadata-types.ts';
import { tableProperty } from './table-properties.ts';

/** Version that follows from a file name without one, so that the next file begins at 0. */
const VERSION_UNKNOWN = -1;
const VERSION = /^[+-]?\d{1,10}$/;
const VERSION_MAX = 2 ** 31 - 1;
const VERSION_DIGITS = 5;

/**
 * The location of the metadata file that follows the one at `currentLocation`: its version plus one, five
 * digits, a uuid, and `.gz` where the table's metadata is compressed. Equal to Iceberg Java's
 * `BaseMetastoreTableOperations`.
 *
 * @param uuid a new one for each attempt
 * @throws invalid-config — when a property it needs is malformed
 */
export function newMetadataLocation(
  metadata: TableMetadata,
  currentLocation: string,
  uuid: string,
): string {
  const version = (versionOf(currentLocation) + 1).toString().padStart(VERSION_DIGITS, '0');
  const codec = tableProperty(metadata.properties, 'write.metadata.compression-codec');
  const extension = codec === 'gzip' ? '.gz.metadata.json' : '.metadata.json';
  return metadataFileLocation(metadata, `${version}-${uuid}${extension}`);
}

/**
 * The location of a new manifest.
 *
 * @param commitUuid one for all files of a commit
 * @param index counts the manifests of the commit from 0
 */
export function newManifestLocation(
  metadata: TableMetadata,
  commitUuid: string,
  index: number,
): string {
  return metadataFileLocation(metadata, `${commitUuid}-m${index}.avro`);
}

/**
 * The location of a new manifest list.
 *
 * @param attempt counts the commit's attempts from 1; each writes its own list
 */
export function newManifestListLocation(
  metadata: TableMetadata,
  {
    snapshotId,
    attempt,
    commitUuid,
  }: {
    readonly snapshotId: bigint;
    readonly attempt: number;
    readonly commitUuid: string;
  },
): string {
  return metadataFileLocation(metadata, `snap-${snapshotId}-${attempt}-${commitUuid}.avro`);
}

/** A location without the slashes at its end; `scheme://` keeps its own. As Java's `LocationUtil`. */
export function stripTrailingSlash(location: string): string {
  let stripped = location;
  while (stripped.endsWith('/') && !stripped.endsWith('://')) stripped = stripped.slice(0, -1);
  return stripped;
}

function metadataFileLocation(metadata: TableMetadata, fileName: string): string {
  const path = tableProperty(metadata.properties, 'write.metadata.path');
  const folder =
    path === undefined
      ? `${stripTrailingSlash(metadata.location)}/metadata`
      : stripTrailingSlash(path);
  return `${folder}/${fileName}`;
}

function versionOf(metadataLocation: string): number {
  const fileName = metadataLocation.slice(metadataLocation.lastIndexOf('/') + 1);
  const end = fileName.indexOf('-');
  const text = end < 0 ? '' : fileName.slice(0, end);
  const version = VERSION.test(text) ? Number(text) : VERSION_UNKNOWN;
  return version < VERSION_MAX ? version : VERSION_UNKNOWN;
}
