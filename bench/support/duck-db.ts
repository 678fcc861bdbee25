import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** A DuckDB of its own, in memory and without extensions, for as long as it is used. */
export async function withDuckDb<Result>(
  use: (duckDb: DuckDBConnection) => Promise<Result>,
): Promise<Result> {
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
  });
  const connection = await instance.connect();
  try {
    return await use(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
