import type { Snapshot } from '../iceberg/index.ts';

/** What a `replace` snapshot did, by the operation of Firn's that does the same. */
export type MaintenanceKind = 'rewrite-data-files' | 'rewrite-deletes' | 'rewrite-manifests';

const DATA_KEYS = ['added-data-files', 'deleted-data-files'];
const DELETE_KEYS = ['added-delete-files', 'removed-delete-files'];
const MANIFEST_KEYS = ['manifests-created', 'manifests-replaced', 'entries-processed'];

/** By its summary's counters; undefined where they do not tell, and it may have been any. */
export function kindOfReplace({ summary }: Snapshot): MaintenanceKind | undefined {
  const hasCounted = (keys: readonly string[]): boolean =>
    keys.some((key) => (summary[key] ?? '0') !== '0');
  if (hasCounted(DATA_KEYS)) return 'rewrite-data-files';
  if (hasCounted(DELETE_KEYS)) return 'rewrite-deletes';
  return hasCounted(MANIFEST_KEYS) ? 'rewrite-manifests' : undefined;
}
