import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DataFile, FormatVersion, ManifestEntry } from '../../shared/iceberg/index.ts';
import { partitionKey } from '../../shared/iceberg/index.ts';
import type { RoaringBitmap } from '../../shared/roaring/index.ts';
import { INVARIANTS, verifyProposal } from '../../shared/table/invariants.ts';
import type { CommitProposal } from '../../shared/table/proposal.ts';
import type { InputDeletes } from '../../shared/table/replace-group.ts';
import { SequenceMinima } from '../../shared/table/sequence-minima.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import {
  createTenRowFiles,
  deleteByEquality,
  deleteByPosition,
  deleteRows,
  positionsOf,
  stageFolds,
  stageRewrites,
} from './deletes-fixture.ts';
import { proposalOf } from './proposal-fixture.ts';

/** Files of `eu` are replaced, with rows that were deleted by position and equality before, and by position since. */
async function validReplace(formatVersion: FormatVersion): Promise<CommitProposal> {
  const warehouse = await createTenRowFiles({ formatVersion });
  const { eu0, eu20 } = warehouse.files;
  await deleteRows(warehouse, eu0!, [0, 4]);
  await deleteByEquality(warehouse, eu0!, [15]);
  const treatment = formatVersion === 2 ? 'purge' : 'carry';
  const staged = await stageRewrites(warehouse, { treatment, partitions: ['eu'] });
  await deleteRows(warehouse, eu0!, formatVersion === 2 ? [7] : [0, 4, 7]);
  await deleteRows(warehouse, eu20!, [5]);
  const table = await warehouse.builder.load();
  return proposalOf(warehouse, table, { ...staged, deleteGroups: [] });
}

/** Deletes by position of two files of `eu` are folded. */
async function validFold(formatVersion: FormatVersion): Promise<CommitProposal> {
  const warehouse = await createTenRowFiles();
  const { eu0, eu10 } = warehouse.files;
  await deleteByPosition(warehouse, [[eu0!, 1]]);
  await deleteByPosition(warehouse, [[eu0!, 2]]);
  if (formatVersion === 3) await warehouse.builder.upgrade(3);
  await deleteRows(warehouse, eu10!, [3, 4]);
  const { table, ...staged } = await stageFolds(warehouse);
  return proposalOf(warehouse, table, { ...staged, groups: [], deleteGroups: staged.groups });
}

const REPLACE_V2 = await validReplace(2);
const REPLACE_V3 = await validReplace(3);
const FOLD_V2 = await validFold(2);
const FOLD_V3 = await validFold(3);

function changeFirst<Item>(items: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  return items.map((item, index) => (index === 0 ? change(item) : item));
}

/** What was deleted of the first input changed. */
function changeDeletes(
  proposal: CommitProposal,
  change: (deletes: InputDeletes) => InputDeletes,
): CommitProposal {
  const changed = <Input extends { readonly deletes?: InputDeletes }>(input: Input): Input =>
    input.deletes === undefined ? input : { ...input, deletes: change(input.deletes) };
  return {
    ...proposal,
    groups: changeFirst(proposal.groups, (group) => ({
      ...group,
      inputs: changeFirst(group.inputs, changed),
    })),
    deleteGroups: changeFirst(proposal.deleteGroups, (group) => ({
      ...group,
      dataFiles: changeFirst(group.dataFiles, ({ input, ...covered }) => ({
        ...covered,
        input: changed(input),
      })),
    })),
  };
}

function changeFacts(
  proposal: CommitProposal,
  change: Partial<CommitProposal['headFacts']>,
): CommitProposal {
  return { ...proposal, headFacts: { ...proposal.headFacts, ...change } };
}

function withoutHeadDelete(
  proposal: CommitProposal,
  isGone: (entry: ManifestEntry) => boolean,
): CommitProposal {
  const deletes = proposal.headFacts.deletes.filter(({ entry }) => !isGone(entry));
  return changeFacts(proposal, { deletes });
}

function changeAtHead(
  proposal: CommitProposal,
  change: (positions: RoaringBitmap) => RoaringBitmap,
): CommitProposal {
  const [first] = firstInputOf(proposal);
  const positions = proposal.positionsAtHead.get(first)!;
  return {
    ...proposal,
    positionsAtHead: new Map([...proposal.positionsAtHead, [first, change(positions)]]),
  };
}

function firstInputOf({ groups, deleteGroups }: CommitProposal): readonly [string] {
  const input = groups[0]?.inputs[0] ?? deleteGroups[0]?.dataFiles[0]?.input;
  return [input!.filePath];
}

function changeReread(
  proposal: CommitProposal,
  change: (positions: RoaringBitmap) => RoaringBitmap,
): CommitProposal {
  return {
    ...proposal,
    rereadDeletes: changeFirst(proposal.rereadDeletes, ({ key, found }) => ({
      key,
      found: 'flaw' in found ? found : { positions: change(found.positions) },
    })),
  };
}

/** Entries of the added delete manifest changed. */
function changeAdded(
  proposal: CommitProposal,
  change: (entries: readonly ManifestEntry[]) => readonly ManifestEntry[],
): CommitProposal {
  return {
    ...proposal,
    addedManifests: proposal.addedManifests.map((reread) =>
      reread.manifest.content === 'data' ? reread : { ...reread, entries: change(reread.entries) },
    ),
  };
}

function changeAddedFile(proposal: CommitProposal, change: Partial<DataFile>): CommitProposal {
  return changeAdded(proposal, (entries) =>
    changeFirst(entries, (entry) => ({ ...entry, dataFile: { ...entry.dataFile, ...change } })),
  );
}

function changeNewDelete(
  proposal: CommitProposal,
  change: Partial<CommitProposal['newDeletes'][number]>,
): CommitProposal {
  return {
    ...proposal,
    newDeletes: changeFirst(proposal.newDeletes, (each) => ({ ...each, ...change })),
  };
}

/** As if the removal of one delete file had not been meant. */
function withoutRemoval(
  proposal: CommitProposal,
  isKept: (file: DataFile) => boolean,
): CommitProposal {
  return {
    ...proposal,
    removedDeletes: proposal.removedDeletes.filter(({ entry }) => !isKept(entry.dataFile)),
    filteredManifests: proposal.filteredManifests.map((reread) => ({
      ...reread,
      deletedEntries: reread.deletedEntries.filter(({ dataFile }) => !isKept(dataFile)),
    })),
  };
}

function minimaWith(dataSequenceNumber: bigint, partition?: string): SequenceMinima {
  const minima = new SequenceMinima();
  minima.add(dataSequenceNumber, partition);
  return minima;
}

const { specId, partition } = REPLACE_V2.groups[0]!.inputs[0]!;
const EU = partitionKey(specId, partition);
const isEquality = ({ content }: DataFile) => content === 'equality-deletes';

/** A position delete file of the partition, as another writer may add it. */
const WIDE: ManifestEntry = {
  status: 'added',
  snapshotId: 1n,
  dataSequenceNumber: 6n,
  fileSequenceNumber: 6n,
  specId,
  dataFile: {
    content: 'position-deletes',
    filePath: 's3://bucket/db/orders/data/wide.parquet',
    fileFormat: 'PARQUET',
    partition,
    recordCount: 1,
    fileSizeBytes: 100,
    unknownFields: [],
  },
  unknownFields: [],
};
const WIDE_AT_HEAD = { entry: WIDE, manifestPath: 's3://bucket/db/orders/metadata/m.avro' };

/** By number of the invariant, ways to break it alone. */
const BREAKS: Readonly<Record<number, Readonly<Record<string, CommitProposal>>>> = {
  2: {
    'rows that are gone and are not counted as purged': {
      ...REPLACE_V2,
      groups: changeFirst(REPLACE_V2.groups, (group) => ({
        ...group,
        positionMap: REPLACE_V3.groups[0]!.positionMap,
      })),
    },
  },
  3: {
    'a purged value that was not there': {
      ...REPLACE_V2,
      groups: changeFirst(REPLACE_V2.groups, ({ purgedColumnCounts, ...group }) => ({
        ...group,
        purgedColumnCounts: { ...purgedColumnCounts!, valueCounts: new Map([[1, 2]]) },
      })),
    },
  },
  7: {
    'a vector older than its data file': changeAdded(FOLD_V3, (entries) =>
      changeFirst(entries, (entry) => ({ ...entry, dataSequenceNumber: 0n })),
    ),
    'a vector of another number than was chosen': changeAdded(FOLD_V3, (entries) =>
      changeFirst(entries, (entry) => ({ ...entry, dataSequenceNumber: 6n })),
    ),
  },
  9: {
    'a delete file that was not removed': {
      ...REPLACE_V3,
      filteredManifests: withoutRemoval(REPLACE_V3, isEquality).filteredManifests,
    },
  },
  14: {
    'an equality delete that was not applied': changeDeletes(REPLACE_V3, (deletes) => ({
      ...deletes,
      applied: deletes.applied.filter(({ kind }) => kind !== 'equality-deletes'),
    })),
    'position deletes that were not looked at': { ...REPLACE_V3, positionsAtHead: new Map() },
    'a vector that was read in part': changeAtHead(REPLACE_V3, () => positionsOf(0, 4)),
    'a deleted row that is live in the output': changeReread(REPLACE_V3, (positions) =>
      positions.difference(positionsOf(7)),
    ),
    'a live row that is deleted of the output': changeReread(REPLACE_V3, (positions) =>
      positions.union(positionsOf(8)),
    ),
    'a purged row that was not deleted': changeAtHead(
      changeDeletes(REPLACE_V2, (deletes) => ({ ...deletes, byPosition: positionsOf(0) })),
      () => positionsOf(0, 7),
    ),
  },
  15: {
    'a deleted row that is live again': changeAtHead(REPLACE_V2, () => positionsOf(0, 7)),
    'an equality delete that is gone': withoutRemoval(
      withoutHeadDelete(REPLACE_V2, ({ dataFile }) => isEquality(dataFile)),
      isEquality,
    ),
  },
  16: {
    'a second vector in the same commit': changeAdded(REPLACE_V3, (entries) => [
      ...entries,
      entries[0]!,
    ]),
    'a vector beside one that stays': changeFacts(FOLD_V3, {
      deletes: [
        ...FOLD_V3.headFacts.deletes,
        {
          ...WIDE_AT_HEAD,
          entry: {
            ...WIDE,
            dataFile: {
              ...FOLD_V3.newDeletes[0]!.deleteFile,
              filePath: 's3://bucket/db/orders/data/other.puffin',
            },
          },
        },
      ],
    }),
  },
  17: {
    'a delete whose data file leaves without it': withoutRemoval(
      REPLACE_V3,
      ({ referencedDataFile }) => referencedDataFile === firstInputOf(REPLACE_V3)[0],
    ),
    'a delete that an older data file of the partition needs': changeFacts(REPLACE_V3, {
      otherMinima: minimaWith(3n, EU),
    }),
    'a delete when not all data files were looked at': {
      ...REPLACE_V3,
      headFacts: (({ otherMinima: _, ...facts }) => facts)(REPLACE_V3.headFacts),
    },
    'a delete of a data file that is not covered': {
      ...changeFacts(FOLD_V2, {
        liveInputs: new Map([
          ...FOLD_V2.headFacts.liveInputs,
          ['uncovered', [{ ...REPLACE_V2.groups[0]!.inputs[0]!, filePath: 'uncovered' }]],
        ]),
      }),
      filteredManifests: FOLD_V2.filteredManifests.map((reread) => ({
        ...reread,
        deletedEntries: changeFirst(reread.deletedEntries, (entry) => ({
          ...entry,
          dataFile: { ...entry.dataFile, referencedDataFile: 'uncovered' },
        })),
      })),
    },
  },
  18: {
    'the first vector of a branch': changeFacts(REPLACE_V3, { liveDeleteCount: 0 }),
    'the first position delete file of a branch': changeFacts(REPLACE_V2, { liveDeleteCount: 0 }),
  },
  19: {
    'a vector that was not read back': {
      ...FOLD_V3,
      rereadDeletes: FOLD_V3.rereadDeletes.slice(1),
    },
    'a vector with a flaw': {
      ...FOLD_V3,
      rereadDeletes: changeFirst(FOLD_V3.rereadDeletes, ({ key }) => ({
        key,
        found: { flaw: 'its checksum is wrong' },
      })),
    },
    'a vector of other rows': changeReread(FOLD_V3, () => positionsOf(1, 3)),
    'a vector of fewer rows than its entry says': changeReread(FOLD_V3, () => positionsOf(1)),
    'a position delete file of other rows': changeReread(FOLD_V2, () => positionsOf(1, 3)),
    'rows beyond the end of the data file': changeNewDelete(FOLD_V3, {
      dataFile: { ...FOLD_V3.newDeletes[0]!.dataFile, recordCount: 2 },
    }),
  },
  20: {
    'a position delete file in v3': changeAddedFile(FOLD_V3, { fileFormat: 'PARQUET' }),
    'a vector in v2': changeAddedFile(FOLD_V2, { fileFormat: 'PUFFIN' }),
    'a delete file that was not meant': changeAddedFile(REPLACE_V3, { filePath: 'elsewhere' }),
    'a delete file that is missing': changeAdded(REPLACE_V3, (entries) => entries.slice(1)),
    'a file of equality deletes': changeAddedFile(REPLACE_V2, { content: 'equality-deletes' }),
    'a delete file of another data file': changeAddedFile(REPLACE_V3, {
      referencedDataFile: 'another',
    }),
    'a delete file of another partition': changeAddedFile(REPLACE_V3, { partition: ['us'] }),
    'a vector of another length': changeAddedFile(REPLACE_V3, { contentSizeBytes: 1 }),
  },
  21: {
    'a delete that is removed and was not read': changeDeletes(FOLD_V2, (deletes) => ({
      ...deletes,
      applied: deletes.applied.slice(1),
    })),
    'a delete that was read and does not apply': changeDeletes(FOLD_V2, (deletes) => ({
      ...deletes,
      applied: [...deletes.applied, { ...deletes.applied[0]!, filePath: 'another' }],
    })),
    'a row that is live after it': changeDeletes(FOLD_V3, (deletes) => ({
      ...deletes,
      byPosition: deletes.byPosition.union(positionsOf(9)),
    })),
    'a position delete file that the vector hides': changeFacts(FOLD_V3, {
      deletes: [...FOLD_V3.headFacts.deletes, WIDE_AT_HEAD],
    }),
    'a vector that was read in part': changeFacts(FOLD_V3, {
      deletes: FOLD_V3.headFacts.deletes.map((each) => ({
        ...each,
        entry: {
          ...each.entry,
          dataFile: { ...each.entry.dataFile, recordCount: 5 },
        },
      })),
    }),
  },
};

describe('verifyProposal with deletes', () => {
  it('accepts what the commit loop proposes', () => {
    for (const proposal of [REPLACE_V2, REPLACE_V3, FOLD_V2, FOLD_V3]) verifyProposal(proposal);
  });

  it('has a way to break each claim about deletes', () => {
    const numbers = INVARIANTS.map(({ number }) => number).filter((number) => number >= 14);

    assert.ok(numbers.every((number) => number in BREAKS));
  });

  for (const { number, name, claim } of INVARIANTS.filter((each) => each.number in BREAKS)) {
    describe(`I${number} ${name}: ${claim}`, () => {
      for (const [what, proposal] of Object.entries(BREAKS[number] ?? {})) {
        it(`refuses ${what}`, () => {
          assert.throws(
            () => verifyProposal(proposal),
            errorOfKind('invariant', new RegExp(`^I${number} `)),
          );
        });
      }
    });
  }
});
