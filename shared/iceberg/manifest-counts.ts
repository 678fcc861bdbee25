import { IcebergError } from '../base/index.ts';
import type { ManifestEntry, ManifestFile } from './manifest-types.ts';

type CountName =
  | 'addedFilesCount'
  | 'existingFilesCount'
  | 'deletedFilesCount'
  | 'addedRowsCount'
  | 'existingRowsCount'
  | 'deletedRowsCount';

const NAMES = {
  added: ['addedFilesCount', 'addedRowsCount'],
  existing: ['existingFilesCount', 'existingRowsCount'],
  deleted: ['deletedFilesCount', 'deletedRowsCount'],
} as const;

/** Files and rows of a manifest by status, as the manifest list gives them. */
export class ManifestCounts {
  readonly values: Readonly<Record<CountName, number>>;
  readonly #values: Record<CountName, number>;

  constructor() {
    this.#values = {
      addedFilesCount: 0,
      existingFilesCount: 0,
      deletedFilesCount: 0,
      addedRowsCount: 0,
      existingRowsCount: 0,
      deletedRowsCount: 0,
    };
    this.values = this.#values;
  }

  add(status: ManifestEntry['status'], recordCount: number): void {
    const [files, rows] = NAMES[status];
    this.#values[files] += 1;
    this.#values[rows] += recordCount;
  }

  /** Stops a manifest that has more entries than the manifest list says, however long it goes on. */
  requireWithin(manifest: ManifestFile, subject: string): void {
    for (const status of ['added', 'existing', 'deleted'] as const) {
      const [files] = NAMES[status];
      const expected = manifest[files];
      if (expected !== undefined && this.#values[files] > expected) {
        throw mismatch(files, this.#values[files], expected, subject);
      }
    }
  }

  /** Counts that v1 left out are not compared. */
  requireEqual(manifest: ManifestFile, subject: string): void {
    for (const name of Object.values(NAMES).flat()) {
      const expected = manifest[name];
      if (expected !== undefined && this.#values[name] !== expected) {
        throw mismatch(name, this.#values[name], expected, subject);
      }
    }
  }
}

function mismatch(
  name: CountName,
  actual: number,
  expected: number,
  subject: string,
): IcebergError {
  return new IcebergError(
    'invalid-data',
    `${subject}: ${name} is ${actual}, the manifest list says ${expected}`,
  );
}
