import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { printable } from '../../shared/display/index.ts';
import { loadMetadata } from '../../shared/table/index.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';

/**
 * Adds a table to the catalog after reading its metadata, so that nothing is registered that cannot be loaded.
 *
 * @throws unsupported — for format versions above 3 and encrypted tables
 * @throws commit-conflict — when the name is taken
 */
export async function register(
  tableName: string,
  metadataLocation: string,
  session: Session,
): Promise<ExitCode> {
  const { catalog, store } = session.warehouse;
  const identifier = parseTableIdentifier(tableName);
  const metadata = await loadMetadata(metadataLocation, { store, clock: session.clock });
  await catalog.registerTable(identifier, metadataLocation);
  if (session.isJson) {
    session.printJson({ table: tableName, outcome: 'registered', metadataLocation });
  } else {
    const { formatVersion, location } = metadata;
    session.print([
      `${printable(tableName)}: registered, format v${formatVersion}, ${printable(location)}`,
    ]);
  }
  return EXIT_CODES.done;
}
