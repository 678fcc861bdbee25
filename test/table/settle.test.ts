import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IcebergError, ManualClock, seededRandom } from '../../shared/base/index.ts';
import type { Catalog, TablePointer } from '../../shared/catalog/index.ts';
import type { TableMetadata } from '../../shared/iceberg/index.ts';
import { type LostCommit, type Settlement, settleCommit } from '../../shared/table/settle.ts';
import { createWarehouse, IDENTIFIER } from './replace-fixture.ts';

const BASE: TablePointer = {
  identifier: IDENTIFIER,
  metadataLocation: 'base.metadata.json',
  version: 'v-base',
  properties: {},
};

const { metadata: METADATA } = await (await createWarehouse()).builder.load();

const LOST: LostCommit = {
  base: BASE,
  tableUuid: METADATA.tableUuid,
  metadataLocation: 'ours.metadata.json',
  version: 'v-ours',
  snapshotId: 4711n,
};

/** Answers of the catalog in turn, the last one for ever; fences succeed unless told otherwise. */
function settle(
  pointers: readonly (TablePointer | IcebergError)[],
  metadata: Partial<TableMetadata> | IcebergError = {},
  fence: IcebergError | undefined = undefined,
): Promise<Settlement> & { readonly fences: readonly string[] } {
  const fences: string[] = [];
  let asked = 0;
  const unused = (): never => assert.fail('not a step of settling');
  const catalog: Catalog = {
    listTables: unused,
    registerTable: unused,
    commitTable: unused,
    loadTable: async () => {
      const answer = pointers[Math.min(asked++, pointers.length - 1)]!;
      if (answer instanceof IcebergError) throw answer;
      return answer;
    },
    fenceTable: async ({ base, version }) => {
      fences.push(version);
      if (fence !== undefined) throw fence;
      return { ...base, version };
    },
  };
  const settlement = settleCommit(LOST, {
    catalog,
    clock: new ManualClock(0),
    random: seededRandom(1),
    loadMetadata: async () => {
      if (metadata instanceof IcebergError) throw metadata;
      return { ...METADATA, metadataLog: [], ...metadata };
    },
  });
  return Object.assign(settlement, { fences });
}

function logOf(...files: readonly string[]): Pick<TableMetadata, 'metadataLog'> {
  return {
    metadataLog: files.map((metadataFile) => ({ timestampMs: 0, metadataFile, source: {} })),
  };
}

const MOVED: TablePointer = { ...BASE, metadataLocation: 'theirs.metadata.json', version: 'v-2' };

describe('settleCommit', () => {
  it('is applied when the version is ours', async () => {
    const pointer = { ...BASE, metadataLocation: LOST.metadataLocation, version: 'v-ours' };

    assert.deepEqual(await settle([pointer]), { state: 'applied', pointer });
  });

  it('is applied when our metadata file is current under another version', async () => {
    const pointer = { ...BASE, metadataLocation: LOST.metadataLocation, version: 'v-fenced' };

    assert.deepEqual(await settle([pointer]), { state: 'applied', pointer });
  });

  it('is applied when our metadata file is in the log', async () => {
    const log = logOf('base.metadata.json', 'ours.metadata.json');

    assert.deepEqual(await settle([MOVED], log), { state: 'applied', pointer: MOVED });
  });

  it('is applied when our snapshot is in the table', async () => {
    const snapshots = [{ ...METADATA.snapshots[0]!, snapshotId: 4711n }];

    assert.equal((await settle([MOVED], { snapshots })).state, 'applied');
  });

  it('is not applied when the log has our base and not us', async () => {
    assert.deepEqual(await settle([MOVED], logOf('base.metadata.json')), { state: 'not-applied' });
  });

  it('is not applied when the base is current under another version', async () => {
    assert.deepEqual(await settle([{ ...BASE, version: 'v-fenced' }]), { state: 'not-applied' });
  });

  it('changes the version once when nothing has moved, and is then not applied', async () => {
    const settling = settle([BASE]);

    assert.deepEqual(await settling, { state: 'not-applied' });
    assert.equal(settling.fences.length, 1);
  });

  it('looks again when the fence loses against the write under way', async () => {
    const pointer = { ...BASE, metadataLocation: LOST.metadataLocation, version: 'v-ours' };
    const conflict = new IcebergError('commit-conflict', 'moved');

    assert.equal((await settle([BASE, pointer], {}, conflict)).state, 'applied');
  });

  it('is undecided when the fence gets no answer and nothing moves; it is sent once', async () => {
    const settling = settle([BASE], {}, new IcebergError('commit-state-unknown', 'no answer'));

    assert.deepEqual(await settling, { state: 'undecided', seen: 'the pointer has not moved' });
    assert.equal(settling.fences.length, 1);
  });

  it('is unknown when the base has left the log', async () => {
    assert.equal((await settle([MOVED], logOf('later.metadata.json'))).state, 'unknown');
  });

  it('is unknown when the table is another one now', async () => {
    const log = logOf('base.metadata.json');

    assert.equal((await settle([MOVED], { ...log, tableUuid: 'another' })).state, 'unknown');
  });

  for (const kind of ['not-found', 'unavailable', 'access-denied', 'invalid-data'] as const) {
    it(`is undecided when the pointer cannot be read: ${kind}`, async () => {
      const settlement = await settle([new IcebergError(kind, 'no answer')]);

      assert.deepEqual(settlement, { state: 'undecided', seen: 'no answer' });
    });
  }

  it('is unknown when the table is gone', async () => {
    const gone = new IcebergError('not-found', 'no such table', { table: 'db.orders' });

    assert.deepEqual(await settle([gone]), { state: 'unknown', seen: 'no such table' });
  });

  for (const [kind, state] of [
    ['not-found', 'unknown'],
    ['invalid-data', 'unknown'],
    ['unavailable', 'undecided'],
  ] as const) {
    it(`is ${state} when the pointer has moved to what cannot be read: ${kind}`, async () => {
      const failure = new IcebergError(kind, 'no metadata');

      assert.deepEqual(await settle([MOVED], failure), { state, seen: 'no metadata' });
    });
  }

  it('looks again after a read that failed', async () => {
    const pointer = { ...BASE, metadataLocation: LOST.metadataLocation, version: 'v-ours' };
    const failure = new IcebergError('unavailable', 'no answer');

    assert.equal((await settle([failure, failure, pointer])).state, 'applied');
  });
});
