import { mapConcurrent } from '../base/index.ts';
import type { ManifestEntry, ManifestFile, TableMetadata } from '../iceberg/index.ts';
import type { CommitRequest } from './commit-request.ts';
import {
  createFactFinder,
  type DataManifestFacts,
  type DeleteManifestFacts,
  type FactFinder,
} from './head-facts.ts';
import type { ManifestReader } from './manifest-reader.ts';
import type { ReplaceInput } from './replace-group.ts';
import { mayHaveLiveFiles } from './scan.ts';
import { SequenceMinima } from './sequence-minima.ts';
import { sourceKey } from './stage.ts';

const MANIFESTS_CONCURRENT = 8;

/** What the head says of the files of a commit. */
export interface HeadFacts {
  /** Every live entry of a path that the commit asks about, in list order. */
  readonly liveInputs: ReadonlyMap<string, readonly ReplaceInput[]>;
  /** Paths of outputs that are live already; there must be none. */
  readonly liveOutputs: readonly string[];
  /** By path of a data manifest, which inputs it holds. */
  readonly inputPathsByManifest: ReadonlyMap<string, readonly string[]>;
  /** Live delete files that may apply to data files of the commit, or to others of their partitions. */
  readonly deletes: readonly HeadDelete[];
  /** Of the whole head. */
  readonly liveDeleteCount: number;
  /** Of live data files that the commit does not ask about; absent where a manifest was not searched for them. */
  readonly otherMinima?: SequenceMinima;
}

/** A live entry of a delete manifest, without metrics. */
export interface HeadDelete {
  readonly entry: ManifestEntry;
  readonly manifestPath: string;
}

/** Looks at heads for the files of one commit. */
export interface HeadReader {
  /**
   * Reads the manifests that no earlier head had: one GET each, unless it was read lately. Those without live files
   * are read too: the commit drops them, and the list may be wrong about them.
   *
   * @returns whether any of them says something of the files that may change what is to be committed
   * @throws invalid-data — when a manifest is corrupt or contradicts the list
   */
  readNew(metadata: TableMetadata, manifests: readonly ManifestFile[]): Promise<boolean>;
  /** What the manifests say, as far as they have been read; the others as if they said nothing of the files. */
  facts(manifests: readonly ManifestFile[]): HeadFacts;
}

export function createHeadReader(request: CommitRequest, reader: ManifestReader): HeadReader {
  const dataFacts = new Map<string, DataManifestFacts>();
  const deleteFacts = new Map<string, DeleteManifestFacts>();
  const readOne = async (
    metadata: TableMetadata,
    manifest: ManifestFile,
    finder: FactFinder,
  ): Promise<boolean> => {
    const isData = manifest.content === 'data';
    // Bounds of delete files tell which data file they belong to.
    const entries = await reader.readEntries(metadata, manifest, { skipsMetrics: isData });
    if (isData) {
      const facts = finder.inDataManifest(entries);
      dataFacts.set(sourceKey(manifest), facts);
      return facts.liveInputs.length + facts.liveOutputs.length > 0;
    }
    const facts = finder.inDeleteManifest(entries);
    deleteFacts.set(sourceKey(manifest), facts);
    return facts.isNews;
  };
  return {
    async readNew(metadata, manifests) {
      const unread = manifests.filter((manifest) => {
        const key = sourceKey(manifest);
        return !dataFacts.has(key) && !deleteFacts.has(key);
      });
      if (unread.length === 0) return false;
      const hasDeletes = manifests.some(
        (manifest) => manifest.content === 'deletes' && mayHaveLiveFiles(manifest),
      );
      const finder = createFactFinder(request, metadata.partitionSpecs, hasDeletes);
      const limit = { concurrencyMax: MANIFESTS_CONCURRENT };
      const news = await mapConcurrent(unread, limit, (manifest) =>
        readOne(metadata, manifest, finder),
      );
      return news.includes(true);
    },
    facts: (manifests) => ({
      ...gatherDataFacts(manifests, dataFacts),
      ...gatherDeleteFacts(manifests, deleteFacts),
    }),
  };
}

type DataFacts = Omit<HeadFacts, 'deletes' | 'liveDeleteCount'>;

function gatherDataFacts(
  manifests: readonly ManifestFile[],
  known: ReadonlyMap<string, DataManifestFacts>,
): DataFacts {
  const liveInputs = new Map<string, ReplaceInput[]>();
  const liveOutputs: string[] = [];
  const inputPathsByManifest = new Map<string, readonly string[]>();
  let otherMinima: SequenceMinima | undefined = new SequenceMinima();
  for (const manifest of manifests) {
    const facts = known.get(sourceKey(manifest));
    if (facts === undefined) continue;
    liveOutputs.push(...facts.liveOutputs);
    for (const input of facts.liveInputs) {
      liveInputs.set(input.filePath, [...(liveInputs.get(input.filePath) ?? []), input]);
    }
    const paths = facts.liveInputs.map((input) => input.filePath);
    if (paths.length > 0) inputPathsByManifest.set(manifest.manifestPath, paths);
    if (facts.otherMinima === undefined) otherMinima = undefined;
    else otherMinima?.addAll(facts.otherMinima);
  }
  return {
    liveInputs,
    liveOutputs,
    inputPathsByManifest,
    ...(otherMinima === undefined ? {} : { otherMinima }),
  };
}

function gatherDeleteFacts(
  manifests: readonly ManifestFile[],
  known: ReadonlyMap<string, DeleteManifestFacts>,
): Pick<HeadFacts, 'deletes' | 'liveDeleteCount'> {
  const deletes: HeadDelete[] = [];
  let liveDeleteCount = 0;
  for (const manifest of manifests) {
    const facts = known.get(sourceKey(manifest));
    if (facts === undefined) continue;
    liveDeleteCount += facts.liveDeleteCount;
    const { manifestPath } = manifest;
    for (const entry of facts.deletes) deletes.push({ entry, manifestPath });
  }
  return { deletes, liveDeleteCount };
}
