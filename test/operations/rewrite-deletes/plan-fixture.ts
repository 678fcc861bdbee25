import { parseRewriteDeletesOptions } from '../../../shared/operations/rewrite-deletes/options.ts';
import {
  createPlanBuilder,
  type RewriteDeletesPlan,
} from '../../../shared/operations/rewrite-deletes/plan.ts';
import type {
  ManifestBytes,
  PlanBase,
  ScannedDelete,
  ScannedFile,
} from '../../../shared/operations/rewrite-deletes/scanned.ts';

const BASE: PlanBase = {
  tableUuid: '7e4a1c0e-6d0c-4c55-b0a2-8d0b6d1a5b11',
  metadataLocation: 's3://b/t/metadata/3.metadata.json',
  branch: 'main',
  startingSnapshotId: 9n,
  startingSequenceNumber: 9n,
  formatVersion: 3,
  splitsPartitionScoped: false,
};

const SMALL_MANIFESTS: ManifestBytes = { dataManifestBytes: 10_000, deleteManifestBytes: 1_000 };

export interface Scanned {
  readonly deletes?: readonly ScannedDelete[];
  readonly files: readonly ScannedFile[];
  readonly manifests?: ManifestBytes;
}

export function plan(
  { deletes = [], files, manifests = SMALL_MANIFESTS }: Scanned,
  options: Readonly<Record<string, string>> = {},
  base: Partial<PlanBase> = {},
): RewriteDeletesPlan {
  const builder = createPlanBuilder({ ...BASE, ...base }, parseRewriteDeletesOptions(options, {}));
  for (const each of deletes) builder.addDelete(each);
  for (const each of files) builder.addFile(each);
  return builder.build(manifests);
}

const PLACE = { specId: 1, partitionKey: '1:seu;', partition: 'region=eu', isSpecWritable: true };

/** A partition of its own for each name. */
export function place(region: string) {
  return { ...PLACE, partitionKey: `1:s${region};`, partition: `region=${region}` };
}

/** A data file of 1,000 rows, of sequence number 1. */
export function dataFile(name: string, other: Partial<ScannedFile> = {}): ScannedFile {
  return {
    ...PLACE,
    filePath: name,
    recordCount: 1_000,
    fileSizeBytes: 50_000,
    dataSequenceNumber: 1n,
    vectorKeys: [],
    fileScopedKeys: [],
    partitionScopedKeys: [],
    equalityDeleteCount: 0,
    ...other,
  };
}

/** A delete file of 10 rows, of sequence number 2; its key is its name. */
export function deleteFile(
  name: string,
  kind: ScannedDelete['kind'],
  other: Partial<ScannedDelete> = {},
): ScannedDelete {
  return {
    ...PLACE,
    deleteKey: name,
    filePath: name,
    kind,
    isGlobal: false,
    recordCount: 10,
    fileSizeBytes: 2_000,
    contentSizeBytes: 2_000,
    dataSequenceNumber: 2n,
    ...other,
  };
}
