import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TableWriter } from '../../../local/table-writer/index.ts';
import { isIcebergError } from '../../../shared/base/index.ts';
import {
  type FormatVersion,
  isDeletionVector,
  type ManifestEntry,
  type SnapshotOperation,
} from '../../../shared/iceberg/index.ts';
import { POSITION_FIELDS } from '../actors/delete-writers.ts';
import {
  FILE_PATH_FIELD_ID,
  loadHead,
  POS_FIELD_ID,
  readFileDeletes,
} from '../actors/delete-writers-head.ts';
import type { FirnRun } from '../actors/firn.ts';
import type { ActorPorts } from '../ports.ts';
import type { ActorKind, Script } from '../script.ts';
import { simulate } from '../simulate.ts';
import { writeDeletes } from '../table-rows.ts';
import { IDENTIFIER } from '../world.ts';
import { DELETES } from './deletes.ts';
import { deletesScript } from './deletes-script.ts';

const SEEDS_MAX = 8;

interface Setting {
  readonly formatVersion: FormatVersion;
  readonly kinds: readonly ActorKind[];
  /** Stands in Firn's place. */
  readonly job: (ports: ActorPorts, writer: TableWriter) => Promise<bigint | undefined>;
}

/** A table whose rows are deleted before a job begins. */
function scriptWith(
  seed: number,
  { kinds, formatVersion }: Pick<Setting, 'kinds' | 'formatVersion'>,
): Script {
  const actors = [...kinds, 'firn' as const].map((kind, index) => ({
    name: `${kind}-${index}`,
    kind,
    taskCount: 2,
    delayMs: kind === 'firn' ? 5000 : 0,
    skewMs: 0,
  }));
  return { ...deletesScript(seed), formatVersion, actors, faults: [], crashes: [] };
}

/** The claim that does not hold with a job in Firn's place. */
async function firstClaim({ job, ...setting }: Setting): Promise<string | undefined> {
  const firn: FirnRun = async (ports) => {
    try {
      const snapshotId = await job(ports, new TableWriter(IDENTIFIER, ports));
      const snapshotIds = snapshotId === undefined ? [] : [snapshotId];
      return { ended: 'well', outcome: 'committed', snapshotIds };
    } catch (error) {
      if (!isIcebergError(error)) throw error;
      return { ended: 'uncommitted', kind: error.kind };
    }
  };
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const { failure } = await simulate(scriptWith(seed, setting), { scenario: DELETES, firn });
    if (failure !== undefined) return failure.claim;
  }
  return undefined;
}

async function copyObject(from: string, to: string, { store }: ActorPorts): Promise<void> {
  await store.write(to, await store.read(from, 1024 ** 2));
}

const OPERATION: { readonly operation: SnapshotOperation } = { operation: 'replace' };

describe('simulation of deletes', () => {
  it('does the same again for the same seed', async () => {
    const first = await simulate(deletesScript(3), { scenario: DELETES });

    const second = await simulate(deletesScript(3), { scenario: DELETES });

    assert.equal(first.failure, undefined);
    assert.equal(second.log.join('\n'), first.log.join('\n'));
  });

  it('catches a job that adds a vector to one that is there', async () => {
    const failed = await firstClaim({
      formatVersion: 3,
      kinds: ['row-deleter'],
      job: async (ports, writer) => {
        const { deletes } = await loadHead({ ports, writer });
        const vector = deletes.find(({ dataFile }) => isDeletionVector(dataFile));
        if (vector === undefined) return undefined;
        const filePath = `${vector.dataFile.filePath}-copy.puffin`;
        await copyObject(vector.dataFile.filePath, filePath, ports);
        const { specId } = vector;
        const dataFile = { ...vector.dataFile, filePath };
        return writer.commit({ ...OPERATION, addedManifests: [[{ specId, dataFile }]] });
      },
    });

    assert.equal(failed, 'a data file has one vector');
  });

  it('catches a job that writes the first delete file of a table', async () => {
    const failed = await firstClaim({
      formatVersion: 3,
      kinds: [],
      job: async (ports, writer) => {
        const { table, data } = await loadHead({ ports, writer });
        const [{ specId, dataFile }] = data as [ManifestEntry];
        const deletes = await writeDeletes(
          table.metadata,
          {
            fields: [{ fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } }],
            rows: [{ 1: -1n }],
            specId,
            partition: dataFile.partition,
            entry: { content: 'equality-deletes', equalityIds: [1] },
          },
          { store: ports.store, fileName: 'first' },
        );
        return writer.commit({ ...OPERATION, addedManifests: [[deletes]] });
      },
    });

    assert.equal(failed, 'Firn adds no first delete file');
  });

  it('catches a job that removes a data file and leaves a delete of it', async () => {
    const failed = await firstClaim({
      formatVersion: 2,
      kinds: ['row-deleter'],
      job: async (ports, writer) => {
        const { data, deletes } = await loadHead({ ports, writer });
        const left = deletes.find(({ dataFile }) => dataFile.referencedDataFile !== undefined);
        const path = left?.dataFile.referencedDataFile;
        const input = data.find(({ dataFile }) => dataFile.filePath === path);
        if (input === undefined) return undefined;
        const { specId, dataFile, dataSequenceNumber } = input;
        const filePath = `${dataFile.filePath}-copy.parquet`;
        await copyObject(dataFile.filePath, filePath, ports);
        const copy = { specId, dataFile: { ...dataFile, filePath }, dataSequenceNumber };
        const fields = { fields: POSITION_FIELDS, specId, partition: dataFile.partition };
        const { positions } = await readFileDeletes(input, await loadHead({ ports, writer }), {
          ports,
        });
        const rows = [...positions].map((position) => ({
          [FILE_PATH_FIELD_ID]: filePath,
          [POS_FIELD_ID]: BigInt(position),
        }));
        const { metadata } = await writer.load();
        const anew = await writeDeletes(
          metadata,
          {
            ...fields,
            rows,
            entry: { content: 'position-deletes', referencedDataFile: filePath },
          },
          { store: ports.store, fileName: 'anew' },
        );
        return writer.commit({
          ...OPERATION,
          addedManifests: [[copy], [anew]],
          removedPaths: [dataFile.filePath],
        });
      },
    });

    assert.equal(failed, 'deletes of a data file leave with it');
  });
});
