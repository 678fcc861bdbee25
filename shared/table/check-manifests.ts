import { isDeepStrictEqual } from 'node:util';
import type { ManifestFile } from '../iceberg/index.ts';
import { firstDuplicate, firstViolation } from './first-violation.ts';
import {
  type CommitProposal,
  dataManifests,
  deleteManifests,
  type EntryCounts,
  type RereadFilteredManifest,
} from './proposal.ts';
import { mayHaveLiveFiles } from './scan.ts';
import { contentKey } from './stage.ts';

export function manifestViolation(proposal: CommitProposal): string | undefined {
  const { addedManifests, filteredManifests, groups } = proposal;
  const inCounts = firstViolation(
    [...addedManifests, ...filteredManifests],
    ({ manifest, counts }) => manifestCountViolation(manifest, counts),
  );
  if (inCounts !== undefined) return inCounts;
  const inSources = firstViolation(filteredManifests, ({ manifest, differences }) =>
    differences[0] === undefined ? undefined : `${manifest.manifestPath}: ${differences[0]}`,
  );
  if (inSources !== undefined) return inSources;
  const inAdded = firstViolation(addedManifests, ({ manifest, entries }) =>
    firstViolation(entries, (entry) =>
      entry.status === 'added' && entry.snapshotId === proposal.snapshotId
        ? undefined
        : `${manifest.manifestPath}: entry of ${entry.dataFile.filePath} is ${entry.status} by ${entry.snapshotId}`,
    ),
  );
  if (inAdded !== undefined) return inAdded;
  const inputs = groups.flatMap((group) => group.inputs.map((input) => input.filePath));
  const deletes = proposal.removedDeletes.map(({ entry }) => contentKey(entry.dataFile));
  return (
    removalViolation(dataManifests(filteredManifests), inputs, 'inputs') ??
    removalViolation(deleteManifests(filteredManifests), deletes, 'delete files')
  );
}

function removalViolation(
  manifests: readonly RereadFilteredManifest[],
  meant: readonly string[],
  noun: string,
): string | undefined {
  const deleted = manifests.flatMap(({ deletedEntries }) =>
    deletedEntries.map(({ dataFile }) => contentKey(dataFile)),
  );
  return isDeepStrictEqual(deleted.sort(), meant.toSorted())
    ? undefined
    : `${deleted.length} entries are deleted, ${meant.length} ${noun} were meant to be`;
}

function manifestCountViolation(manifest: ManifestFile, counts: EntryCounts): string | undefined {
  const names = Object.keys(counts) as (keyof EntryCounts)[];
  return firstViolation(names, (name) =>
    manifest[name] === counts[name]
      ? undefined
      : `${manifest.manifestPath}: ${name} is ${manifest[name] ?? 'absent'} in the list, ${counts[name]} in the manifest`,
  );
}

export function listViolation(proposal: CommitProposal): string | undefined {
  const { manifests, manifestsIntended, headManifests } = proposal;
  if (!isDeepStrictEqual(manifests, manifestsIntended)) {
    return `${manifests.length} manifests read back, ${manifestsIntended.length} meant, or one differs`;
  }
  const twice = firstDuplicate(manifests.map((manifest) => manifest.manifestPath));
  if (twice !== undefined) return `${twice}: listed twice`;
  const written = [...proposal.addedManifests, ...proposal.filteredManifests].map(
    ({ manifest }) => manifest.manifestPath,
  );
  const sources = new Set(
    proposal.filteredManifests.flatMap((filtered) =>
      filtered.sources.map((source) => source.manifestPath),
    ),
  );
  const expected = headManifests
    .filter((manifest) => !sources.has(manifest.manifestPath) && mayHaveLiveFiles(manifest))
    .map((manifest) => manifest.manifestPath);
  const paths = new Set(manifests.map((manifest) => manifest.manifestPath));
  const missing = [...expected, ...written].find((path) => !paths.has(path));
  if (missing !== undefined) return `${missing}: not listed`;
  return paths.size === expected.length + written.length
    ? undefined
    : `${paths.size} manifests listed, expected ${expected.length + written.length}`;
}
