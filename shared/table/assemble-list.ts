import { mapConcurrent } from '../base/index.ts';
import {
  assignFirstRowIds,
  type ManifestFile,
  type TableMetadata,
  tableProperty,
} from '../iceberg/index.ts';
import type { Decision } from './decide.ts';
import type { HeadFacts } from './head.ts';
import { mayHaveLiveFiles } from './scan.ts';
import {
  contentKey,
  type FilterSource,
  listStaged,
  type ManifestStaging,
  type StagedManifest,
} from './stage.ts';

/** Each holds the entries of one manifest, with metrics. */
const FILTERS_CONCURRENT = 2;

/** A head, and the files that leave it. */
export interface HeadToChange extends Pick<Decision, 'groups' | 'removedDeletes'> {
  readonly base: TableMetadata;
  readonly headManifests: readonly ManifestFile[];
  readonly headFacts: HeadFacts;
}

/** A manifest that takes the place of some of the head's. */
export interface Filtered {
  readonly sources: readonly FilterSource[];
  readonly staged: StagedManifest;
}

/** Makes the manifests that take the place of those of the head that hold files to be removed. */
export function stageFiltered(
  head: HeadToChange,
  staging: ManifestStaging,
): Promise<readonly Filtered[]> {
  return mapConcurrent(
    filterSources(head),
    { concurrencyMax: FILTERS_CONCURRENT },
    async (packed) => ({ sources: packed, staged: await staging.stageFiltered(head.base, packed) }),
  );
}

/** Manifests of the head that hold files to be removed; those that are rewritten together, together. */
function filterSources({
  base,
  headManifests,
  headFacts,
  groups,
  removedDeletes,
}: HeadToChange): readonly (readonly FilterSource[])[] {
  const removed = new Set(groups.flatMap((group) => group.inputs.map((input) => input.filePath)));
  const deletesByManifest = Map.groupBy(removedDeletes, ({ manifestPath }) => manifestPath);
  const sources = headManifests.flatMap((source) => {
    const held = headFacts.inputPathsByManifest.get(source.manifestPath) ?? [];
    const deletes = deletesByManifest.get(source.manifestPath) ?? [];
    const removedKeys = [
      ...held.filter((path) => removed.has(path)),
      ...deletes.map(({ entry }) => contentKey(entry.dataFile)),
    ];
    return removedKeys.length === 0 ? [] : [{ source, removedKeys }];
  });
  return packSources(sources, base);
}

/**
 * Manifests that have to be rewritten anyway are rewritten together, next to each other in the list, up to the
 * table's manifest size: streaming writers leave one for each small file.
 */
function packSources(
  sources: readonly FilterSource[],
  { properties }: TableMetadata,
): readonly (readonly FilterSource[])[] {
  if (!tableProperty(properties, 'commit.manifest-merge.enabled')) {
    return sources.map((source) => [source]);
  }
  const bytesMax = tableProperty(properties, 'commit.manifest.target-size-bytes');
  const open = new Map<string, { readonly packed: FilterSource[]; bytes: number }>();
  const all: FilterSource[][] = [];
  for (const each of sources) {
    const { content, partitionSpecId, manifestLengthBytes } = each.source;
    const kind = `${content} ${partitionSpecId}`;
    let bin = open.get(kind);
    if (bin === undefined || bin.bytes + manifestLengthBytes > bytesMax) {
      bin = { packed: [], bytes: 0 };
      open.set(kind, bin);
      all.push(bin.packed);
    }
    bin.packed.push(each);
    bin.bytes += manifestLengthBytes;
  }
  return all;
}

/**
 * Data manifests before delete manifests; of each, new ones first, then the head's in their order: those without live
 * files leave, filtered ones swap.
 */
export function assembleList(
  { headManifests }: HeadToChange,
  added: readonly StagedManifest[],
  filtered: readonly Filtered[],
  place: { readonly snapshotId: bigint; readonly sequenceNumber: bigint },
): readonly ManifestFile[] {
  // The first source of each is replaced by it, the others by nothing.
  const swaps = new Map<string, readonly ManifestFile[]>();
  for (const { sources, staged } of filtered) {
    for (const [index, { source }] of sources.entries()) {
      swaps.set(source.manifestPath, index === 0 ? [listStaged(staged, place)] : []);
    }
  }
  const kept = headManifests.flatMap(
    (manifest) =>
      swaps.get(manifest.manifestPath) ?? (mayHaveLiveFiles(manifest) ? [manifest] : []),
  );
  const all = [...added.map((staged) => listStaged(staged, place)), ...kept];
  return [
    ...all.filter(({ content }) => content === 'data'),
    ...all.filter(({ content }) => content === 'deletes'),
  ];
}

export interface RowIdList {
  readonly manifests: readonly ManifestFile[];
  readonly firstRowId?: bigint;
  readonly addedRows?: bigint;
}

/** v3: ranges for manifests that have none; those written here need only as many ids as rows without one. */
export function assignRowIds(
  base: TableMetadata,
  manifests: readonly ManifestFile[],
  staged: readonly StagedManifest[],
): RowIdList {
  if (base.formatVersion < 3) return { manifests };
  const firstRowId = base.nextRowId ?? 0n;
  const unassignedRowsCounts = new Map(
    staged.map(({ manifestPath, written }) => [manifestPath, written.unassignedRowsCount]),
  );
  return { firstRowId, ...assignFirstRowIds(manifests, firstRowId, unassignedRowsCounts) };
}
