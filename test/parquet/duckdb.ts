import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** DuckDB with a folder of its own, for files that it writes and reads. */
export class DuckDB {
  readonly #connection: DuckDBConnection;
  readonly #folder: string;

  private constructor(connection: DuckDBConnection, folder: string) {
    this.#connection = connection;
    this.#folder = folder;
  }

  static async open(): Promise<DuckDB> {
    const instance = await DuckDBInstance.create(':memory:', {
      autoinstall_known_extensions: 'false',
    });
    return new DuckDB(await instance.connect(), mkdtempSync(join(tmpdir(), 'firn-parquet-')));
  }

  /** The file that `COPY (query) TO ... (FORMAT parquet, options)` writes. */
  async write(query: string, options: string): Promise<Uint8Array> {
    const path = join(this.#folder, 'written.parquet');
    await this.#connection.run(`COPY (${query}) TO '${path}' (FORMAT parquet, ${options})`);
    return new Uint8Array(readFileSync(path));
  }

  /** Rows by which two multisets of files differ. */
  async countDifferences(
    one: readonly Uint8Array[],
    other: readonly Uint8Array[],
  ): Promise<number> {
    const [left, right] = [this.#stage('one', one), this.#stage('other', other)];
    return this.count(`(${left} EXCEPT ALL ${right}) UNION ALL (${right} EXCEPT ALL ${left})`);
  }

  async countWhere(file: Uint8Array, condition: string): Promise<number> {
    return this.count(`${this.#stage('file', [file])} WHERE ${condition}`);
  }

  async count(query: string): Promise<number> {
    const result = await this.#connection.runAndReadAll(`SELECT count(*) FROM (${query})`);
    return Number(result.getRows()[0]![0]);
  }

  close(): void {
    this.#connection.closeSync();
    rmSync(this.#folder, { recursive: true });
  }

  #stage(name: string, files: readonly Uint8Array[]): string {
    const paths = files.map((bytes, index) => {
      const path = join(this.#folder, `${name}-${index}.parquet`);
      writeFileSync(path, bytes);
      return `'${path}'`;
    });
    return `SELECT * FROM read_parquet([${paths.join()}])`;
  }
}
