import { IcebergError } from '../base/index.ts';
import { stripTrailingSlash, type TableMetadata, tableProperty } from '../iceberg/index.ts';

/**
 * Refuses to keep state where other tools would take it for orphans of the table.
 *
 * @throws invalid-config
 */
export function requireStateOutside(
  statePrefix: string,
  { location, properties }: TableMetadata,
): void {
  const folders = [
    location,
    tableProperty(properties, 'write.data.path'),
    tableProperty(properties, 'write.metadata.path'),
  ].filter((folder) => folder !== undefined);
  const inside = folders.find((folder) => isWithin(statePrefix, folder));
  if (inside === undefined) return;
  throw new IcebergError(
    'invalid-config',
    `state location ${statePrefix}: lies within ${inside}, where other tools would delete it as orphans of the table`,
    { stateLocation: statePrefix, location: inside },
  );
}

/** `s3`, `s3a` and `s3n` name the same objects. */
function isWithin(location: string, folder: string): boolean {
  const plain = (text: string): string => text.replace(/^s3[an]:/, 's3:');
  return plain(location).startsWith(`${plain(stripTrailingSlash(folder))}/`);
}
