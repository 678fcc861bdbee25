import { TableWriter } from '../../local/table-writer/index.ts';
import { isIcebergError, randomUuid } from '../../shared/base/index.ts';
import type { FileOfSpec, ManifestEntry } from '../../shared/iceberg/index.ts';
import { liveEntries } from './actors/actor-context.ts';
import type { FirnClaim, FirnRun } from './actors/firn.ts';
import type { ActorPorts } from './ports.ts';
import { IDENTIFIER } from './world.ts';

/** Mistakes that the simulation has to see. */
export interface Mistakes {
  /** A row count that is too small is the least that a wrong rewrite does. */
  readonly losesFile?: boolean;
  readonly forgetsRevalidation?: boolean;
  /** Other engines would skip its files although they have what is asked for. */
  readonly liesAboutBounds?: boolean;
  /** What it says of a commit that it made. */
  readonly deniesCommit?: boolean;
}

const OBJECT_BYTES_MAX = 1024 ** 2;
const COPY_SUFFIX = '-copy.parquet';

/**
 * A maintenance job of a few lines: replaces every file by a copy of it under another name. With no mistakes it is
 * right on v2 tables without delete files.
 */
export function copyingCompactor(mistakes: Mistakes): FirnRun {
  return async (ports) => {
    const writer = new TableWriter(IDENTIFIER, ports);
    try {
      const table = await writer.load();
      const inputs = (await liveEntries(table, ports)).filter(
        ({ dataFile }) => !dataFile.filePath.endsWith(COPY_SUFFIX),
      );
      if (inputs.length === 0) return endedWell('nothing-planned', []);
      const outputs: FileOfSpec[] = [];
      for (const input of inputs) {
        const output = await copyOf(input, ports);
        outputs.push(mistakes.liesAboutBounds === true ? withLowBounds(output) : output);
      }
      const removedPaths = inputs.map(({ dataFile }) => dataFile.filePath);
      const snapshotId = await writer.commit({
        operation: 'replace',
        addedManifests: [mistakes.losesFile === true ? outputs.slice(1) : outputs].filter(
          (files) => files.length > 0,
        ),
        removedPaths,
        ...(mistakes.forgetsRevalidation === true ? {} : { requiredPaths: removedPaths }),
      });
      return endedWell('committed', mistakes.deniesCommit === true ? [] : [snapshotId]);
    } catch (error) {
      if (!isIcebergError(error)) throw error;
      const isUnknown = isIcebergError(error, 'commit-state-unknown');
      return { ended: isUnknown ? 'unknown' : 'uncommitted', kind: error.kind };
    }
  };
}

async function copyOf(
  { specId, dataFile }: ManifestEntry,
  { store, random }: ActorPorts,
): Promise<FileOfSpec> {
  const filePath = `${dataFile.filePath.replace('.parquet', '')}-${randomUuid(random)}${COPY_SUFFIX}`;
  await store.write(filePath, await store.read(dataFile.filePath, OBJECT_BYTES_MAX));
  return { specId, dataFile: { ...dataFile, filePath } };
}

/** Each column's upper bound is its lower one. */
function withLowBounds({ specId, dataFile }: FileOfSpec): FileOfSpec {
  const { lowerBounds } = dataFile;
  return {
    specId,
    dataFile: lowerBounds === undefined ? dataFile : { ...dataFile, upperBounds: lowerBounds },
  };
}

function endedWell(outcome: string, snapshotIds: readonly bigint[]): FirnClaim {
  return { ended: 'well', outcome, snapshotIds };
}
