import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { loadMetadata } from '../../shared/table/index.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';

/**
 * Adds a table to the catalog after reading its metadata, so that nothing is registered that cannot be loaded.
 *
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
  if (session.isJson) session.printJson({ registered: tableName, metadataLocation });
  else
    session.print(
      `registered ${tableName}: format v${metadata.formatVersion}, ${metadata.location}`,
    );
  return EXIT_CODES.done;
}
