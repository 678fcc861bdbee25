import { mapConcurrent } from '../base/index.ts';
import type { ManifestFile, TableMetadata } from '../iceberg/index.ts';
import {
  createFactFinder,
  type DataManifestFacts,
  type DeleteManifestFacts,
} from './head-facts.ts';
import type { ManifestReader } from './manifest-reader.ts';
import type { ReplaceGroup, ReplaceInput } from './replace-group.ts';
import type { HeadFacts } from './revalidate.ts';
import { sourceKey } from './stage.ts';

const MANIFESTS_CONCURRENT = 8;

/** Looks at heads for the files of one commit. */
export interface HeadReader {
  /**
   * One GET for each manifest that no earlier head had, unless it was read lately. Those without live files are
   * read too: the commit drops them, and the list may be wrong about them.
   *
   * @throws invalid-data — when a manifest is corrupt or contradicts the list
   */
  readFacts(metadata: TableMetadata, manifests: readonly ManifestFile[]): Promise<HeadFacts>;
}

/** @param startingSequenceNumber the data sequence number of the outputs */
export function createHeadReader(
  groups: readonly ReplaceGroup[],
  startingSequenceNumber: bigint,
  reader: ManifestReader,
): HeadReader {
  const dataFacts = new Map<string, DataManifestFacts>();
  const deleteFacts = new Map<string, DeleteManifestFacts>();
  return {
    async readFacts(metadata, manifests) {
      const finder = createFactFinder(groups, startingSequenceNumber, metadata.partitionSpecs);
      await mapConcurrent(manifests, { concurrencyMax: MANIFESTS_CONCURRENT }, async (manifest) => {
        const key = sourceKey(manifest);
        if (dataFacts.has(key) || deleteFacts.has(key)) return;
        const isData = manifest.content === 'data';
        // Bounds of delete files tell which data file they belong to.
        const entries = await reader.readEntries(metadata, manifest, { skipsMetrics: isData });
        if (isData) dataFacts.set(key, finder.inDataManifest(entries));
        else deleteFacts.set(key, finder.inDeleteManifest(entries));
      });
      const keys = manifests.map(sourceKey);
      return {
        ...gatherDataFacts(manifests, dataFacts),
        newDeletes: new Map(keys.flatMap((key) => [...(deleteFacts.get(key) ?? [])])),
      };
    },
  };
}

function gatherDataFacts(
  manifests: readonly ManifestFile[],
  known: ReadonlyMap<string, DataManifestFacts>,
): Omit<HeadFacts, 'newDeletes'> {
  const liveInputs = new Map<string, ReplaceInput[]>();
  const liveOutputs: string[] = [];
  const inputPathsByManifest = new Map<string, readonly string[]>();
  for (const manifest of manifests) {
    const facts = known.get(sourceKey(manifest));
    if (facts === undefined) continue;
    liveOutputs.push(...facts.liveOutputs);
    for (const input of facts.liveInputs) {
      liveInputs.set(input.filePath, [...(liveInputs.get(input.filePath) ?? []), input]);
    }
    const paths = facts.liveInputs.map((input) => input.filePath);
    if (paths.length > 0) inputPathsByManifest.set(manifest.manifestPath, paths);
  }
  return { liveInputs, liveOutputs, inputPathsByManifest };
}
