import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_ROW_IDS, type RowIdTally, type RowsHash } from '../../shared/datafile/index.ts';
import type { FormatVersion } from '../../shared/iceberg/index.ts';
import { INVARIANTS, verifyProposal } from '../../shared/table/invariants.ts';
import type { CommitProposal } from '../../shared/table/proposal.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { proposalOf } from './proposal-fixture.ts';
import { createWarehouse, stageByPartition } from './replace-fixture.ts';

/** A proposal that everything is right with, of a table without deletes. */
async function validProposal(formatVersion: FormatVersion): Promise<CommitProposal> {
  const warehouse = await createWarehouse({ formatVersion });
  const { table, ...staged } = await stageByPartition(warehouse);
  return proposalOf(warehouse, table, { ...staged, deleteGroups: [] });
}

const V2 = await validProposal(2);
const V3 = await validProposal(3);

/** The first element changed, the others as they are. */
function changeFirst<Item>(items: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  return items.map((item, index) => (index === 0 ? change(item) : item));
}

function changeOutput(proposal: CommitProposal, change: object): Pick<CommitProposal, 'groups'> {
  return {
    groups: changeFirst(proposal.groups, (group) => ({
      ...group,
      outputs: changeFirst(group.outputs, (output) => ({
        ...output,
        dataFile: { ...output.dataFile, ...change },
      })),
    })),
  };
}

function changeAddedEntry(
  proposal: CommitProposal,
  change: object,
): Pick<CommitProposal, 'addedManifests'> {
  return {
    addedManifests: changeFirst(proposal.addedManifests, (manifest) => ({
      ...manifest,
      entries: changeFirst(manifest.entries, (entry) => ({ ...entry, ...change })),
    })),
  };
}

function changeSnapshot(proposal: CommitProposal, change: object): Partial<CommitProposal> {
  const { metadata, snapshotId } = proposal;
  return {
    metadata: {
      ...metadata,
      snapshots: metadata.snapshots.map((snapshot) =>
        snapshot.snapshotId === snapshotId ? { ...snapshot, ...change } : snapshot,
      ),
    },
  };
}

function changeRowIds(rowIds: RowIdTally): Partial<CommitProposal> {
  return { outputs: changeFirst(V3.outputs, (output) => ({ ...output, rowIds })) };
}

function changeHashes(change: Partial<RowsHash>): Partial<CommitProposal> {
  const inputs = { rowCount: 5, sums: { first: 8n, second: 9n } };
  const rowHashes = { inputs, outputs: { ...inputs, ...change } };
  return { groups: changeFirst(V2.groups, (group) => ({ ...group, rowHashes })) };
}

const firstInput = V2.groups[0]!.inputs[0]!;
const firstOutput = V2.groups[0]!.outputs[0]!.dataFile;

/** By number of the invariant, ways to break it alone. */
const BREAKS: Readonly<Record<number, Readonly<Record<string, Partial<CommitProposal>>>>> = {
  1: {
    'an input of two groups': { groups: [...V2.groups, V2.groups[0]!] },
    'an input that is not live': {
      headFacts: { ...V2.headFacts, liveInputs: new Map() },
    },
    'an input that is live twice': {
      headFacts: {
        ...V2.headFacts,
        liveInputs: new Map([
          ...V2.headFacts.liveInputs,
          [firstInput.filePath, [firstInput, firstInput]],
        ]),
      },
    },
    'an input that has changed': {
      headFacts: {
        ...V2.headFacts,
        liveInputs: new Map([
          ...V2.headFacts.liveInputs,
          [firstInput.filePath, [{ ...firstInput, dataSequenceNumber: 9n }]],
        ]),
      },
    },
  },
  2: {
    'an output with a row too many': changeOutput(V2, { recordCount: 6 }),
    'manifests that add more than they remove': {
      addedManifests: changeFirst(V2.addedManifests, (manifest) => ({
        ...manifest,
        counts: { ...manifest.counts, addedRowsCount: 8 },
      })),
    },
  },
  3: {
    'a value that is gone': changeOutput(V2, { valueCounts: new Map([[1, 4]]) }),
    'a null that is new': changeOutput(V2, { nullValueCounts: new Map([[2, 1]]) }),
  },
  4: {
    'an output that was not read back': { outputs: V2.outputs.slice(1) },
    'an output with a flaw': {
      outputs: changeFirst(V2.outputs, ({ filePath }) => ({ filePath, flaw: 'page 3 is torn' })),
    },
    'an output of another length': {
      outputs: changeFirst(V2.outputs, ({ filePath }) => ({
        filePath,
        fileSizeBytes: firstOutput.fileSizeBytes - 1,
        recordCount: firstOutput.recordCount,
        rowIds: NO_ROW_IDS,
      })),
    },
    'an output of other rows': {
      outputs: changeFirst(V2.outputs, ({ filePath }) => ({
        filePath,
        fileSizeBytes: firstOutput.fileSizeBytes,
        recordCount: firstOutput.recordCount - 1,
        rowIds: NO_ROW_IDS,
      })),
    },
  },
  5: {
    'a path that is added twice': {
      addedManifests: changeFirst(V2.addedManifests, (manifest) => ({
        ...manifest,
        entries: [...manifest.entries, manifest.entries[0]!],
      })),
    },
    'a path that is live already': {
      headFacts: { ...V2.headFacts, liveOutputs: [firstOutput.filePath] },
    },
    'a path that is removed as well': {
      addedManifests: changeFirst(V2.addedManifests, (manifest) => ({
        ...manifest,
        entries: [
          ...manifest.entries,
          {
            ...manifest.entries[0]!,
            dataFile: { ...manifest.entries[0]!.dataFile, filePath: firstInput.filePath },
          },
        ],
      })),
    },
    'an output that is missing': {
      addedManifests: changeFirst(V2.addedManifests, (manifest) => ({
        ...manifest,
        entries: manifest.entries.slice(1),
      })),
    },
  },
  6: {
    'an output of another partition': changeAddedEntry(V2, {
      dataFile: { ...V2.addedManifests[0]!.entries[0]!.dataFile, partition: ['xx'] },
    }),
    'an output of another spec': changeAddedEntry(V2, { specId: 1 }),
  },
  7: {
    'a snapshot that is missing': { snapshotId: 1n },
    'a snapshot that skips a number': changeSnapshot(V2, { sequenceNumber: 4n }),
    'a table whose last number is another': {
      metadata: { ...V2.metadata, lastSequenceNumber: 9n },
    },
    'a start above the head': { startingSequenceNumber: 3n },
    'an input younger than the start': {
      startingSequenceNumber: 1n,
    },
    'an added file without the starting number': changeAddedEntry(V2, { dataSequenceNumber: 3n }),
    'an added file of another commit': changeAddedEntry(V2, { fileSequenceNumber: 2n }),
  },
  8: {
    'a snapshot that starts elsewhere': changeSnapshot(V3, { firstRowId: 0n }),
    'a next row id that does not follow': { metadata: { ...V3.metadata, nextRowId: 99n } },
    'a manifest without row ids': {
      manifests: changeFirst(V3.manifests, ({ firstRowId: _, ...manifest }) => manifest),
    },
    'a range that was given away before': {
      manifests: changeFirst(V3.manifests, (manifest) => ({ ...manifest, firstRowId: 0n })),
    },
  },
  9: {
    'a count that is not the manifest’s': {
      addedManifests: changeFirst(V2.addedManifests, (reread) => ({
        ...reread,
        counts: { ...reread.counts, addedFilesCount: 9 },
      })),
    },
    'an entry that was lost': {
      filteredManifests: changeFirst(V2.filteredManifests, (reread) => ({
        ...reread,
        differences: ['f1: its entry is gone'],
      })),
    },
    'an input that is not deleted': {
      filteredManifests: changeFirst(V2.filteredManifests, (reread) => ({
        ...reread,
        deletedEntries: reread.deletedEntries.slice(1),
      })),
    },
    'an added entry that says existing': changeAddedEntry(V2, { status: 'existing' }),
    'an added entry of another snapshot': changeAddedEntry(V2, { snapshotId: 5n }),
  },
  10: {
    'a list that is not what was meant': { manifests: V2.manifests.slice(1) },
    'a head manifest that is missing': {
      headManifests: [...V2.headManifests, { ...V2.headManifests[0]!, manifestPath: 'forgotten' }],
    },
    'a manifest that nobody wrote': {
      manifests: [...V2.manifests, { ...V2.manifests[0]!, manifestPath: 'foreign' }],
      manifestsIntended: [...V2.manifests, { ...V2.manifests[0]!, manifestPath: 'foreign' }],
    },
    'a manifest that is listed twice': {
      manifests: [...V2.manifests, V2.manifests[0]!],
      manifestsIntended: [...V2.manifests, V2.manifests[0]!],
    },
  },
  11: {
    'a property that has changed': {
      metadata: { ...V2.metadata, properties: { 'gc.enabled': 'false' } },
    },
    'a key that is gone': {
      base: { ...V2.base, source: { ...V2.base.source, 'x-unknown': 1 } },
    },
    'a snapshot that is gone': {
      metadata: { ...V2.metadata, snapshots: V2.metadata.snapshots.slice(1) },
    },
    'another parent': changeSnapshot(V2, { parentSnapshotId: 5n }),
    'another operation': changeSnapshot(V2, { summary: { operation: 'append' } }),
    'a branch that has not moved': { metadata: { ...V2.metadata, refs: V2.base.refs } },
    'another branch that has moved': {
      base: {
        ...V2.base,
        refs: new Map([
          ...V2.base.refs,
          ['audit', { snapshotId: 1n, type: 'branch', source: {} } as const],
        ]),
      },
    },
    'a current snapshot that is not main’s': {
      metadata: { ...V2.metadata, currentSnapshotId: 1n },
    },
    'a log without the base': { baseMetadataLocation: 'elsewhere' },
    'a log that was rewritten': {
      metadata: {
        ...V2.metadata,
        metadataLog: [
          { ...V2.metadata.metadataLog[0]!, metadataFile: 'x' },
          ...V2.metadata.metadataLog.slice(1),
        ],
      },
    },
  },
  12: {
    'an output that stores no ids': changeRowIds({
      ...NO_ROW_IDS,
      nullCount: firstOutput.recordCount,
    }),
    'an output with another id': changeRowIds({
      idCount: firstOutput.recordCount,
      nullCount: 0,
      sums: { first: 1n, second: 2n },
    }),
    'inputs whose ids were not looked at': {
      groups: changeFirst(V3.groups, ({ inputRowIds: _, ...group }) => group),
    },
  },
  13: {
    'a row that is gone': changeHashes({ rowCount: 4 }),
    'a row that has changed': changeHashes({ sums: { first: 7n, second: 0n } }),
  },
};

describe('verifyProposal without deletes', () => {
  it('accepts what the commit loop proposes', () => {
    verifyProposal(V2);
    verifyProposal(V3);
  });

  it('numbers its claims without gap', () => {
    assert.deepEqual(
      INVARIANTS.map((invariant) => invariant.number),
      INVARIANTS.map((_, index) => index + 1),
    );
  });

  // The others are about deletes, see invariants-deletes.test.ts.
  for (const { number, name, claim } of INVARIANTS.filter((each) => each.number in BREAKS)) {
    describe(`I${number} ${name}: ${claim}`, () => {
      for (const [what, change] of Object.entries(BREAKS[number] ?? {})) {
        it(`refuses ${what}`, () => {
          const valid = number === 8 || number === 12 ? V3 : V2;

          assert.throws(
            () => verifyProposal({ ...valid, ...change }),
            errorOfKind('invariant', new RegExp(`^I${number} `)),
          );
        });
      }
    });
  }
});
