import { deleteFileOf, TableWriter } from '../../../local/table-writer/index.ts';
import { ManualClock, seededRandom, silentLogger } from '../../../shared/base/index.ts';
import { MemoryCatalog } from '../../../shared/catalog/index.ts';
import { fileAgeRule, LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import {
  type FileOfSpec,
  type Partition,
  type SnapshotOperation,
  snapshotOfRef,
} from '../../../shared/iceberg/index.ts';
import type { OptionTexts } from '../../../shared/maintenance/index.ts';
import { parseRewriteDataFilesOptions } from '../../../shared/operations/rewrite-data-files/index.ts';
import { serializePlanState } from '../../../shared/operations/rewrite-data-files/plan-state-bytes.ts';
import {
  type PlannedTable,
  planTable,
} from '../../../shared/operations/rewrite-data-files/plan-table.ts';
import { countingStore, MemoryObjectStore } from '../../../shared/storage/index.ts';
import { createManifestReader } from '../../../shared/table/index.ts';

export const TARGET_BYTES = 1_000;
export const MIN_FILE_AGE_MS = 10_000;

/** Manifests that a history begins with: so many that plans are remembered. */
export const MANIFESTS_AT_START = 20;

const FIELDS = [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'region', isRequired: false, type: { kind: 'string' } },
] as const;

/** Specs in the order in which a table may get them: by region, by region and id, none at all. */
const SPECS = [
  [{ sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } }],
  [
    { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
    {
      sourceIds: [1],
      fieldId: 1001,
      name: 'id_bucket',
      transform: { kind: 'bucket', bucketCount: 2 },
    },
  ],
  [],
] as const;

const REGIONS = ['de', 'eu', 'us', null] as const;

export interface HistoryPlan {
  readonly incremental: PlannedTable;
  readonly full: PlannedTable;
  /** GETs of the incremental plan. */
  readonly readCount: number;
}

/** A table of metadata only, whose history is made step by step, and the state that its plans hand on. */
export class PlannedHistory {
  readonly clock: ManualClock;
  readonly store: MemoryObjectStore;
  readonly writer: TableWriter;
  /** Live files of every kind by path, of each snapshot. */
  readonly #liveBySnapshot = new Map<bigint, ReadonlyMap<string, FileOfSpec>>();
  #live: ReadonlyMap<string, FileOfSpec> = new Map();
  #fileCount = 0;
  state: Uint8Array | undefined;

  constructor(ports: { clock: ManualClock; store: MemoryObjectStore; writer: TableWriter }) {
    this.clock = ports.clock;
    this.store = ports.store;
    this.writer = ports.writer;
  }

  /** One file of a wanted size in each of the first manifests. */
  static async create(): Promise<PlannedHistory> {
    const clock = new ManualClock(Date.UTC(2026, 10, 30));
    const store = new MemoryObjectStore({ clock });
    const random = seededRandom(5);
    const catalog = new MemoryCatalog({ clock, random });
    const writer = await TableWriter.create(
      {
        identifier: { namespace: ['db'], name: 'events' },
        location: 's3://bucket/db/events',
        formatVersion: 2,
        fields: FIELDS,
        partitionFields: SPECS[0],
      },
      { catalog, store, clock, random },
    );
    const history = new PlannedHistory({ clock, store, writer });
    const addedManifests = Array.from({ length: MANIFESTS_AT_START }, (_, index) => [
      history.newFile(0, index, TARGET_BYTES),
    ]);
    await history.commit('append', { addedManifests });
    return history;
  }

  liveFiles(content: 'data' | 'deletes'): readonly FileOfSpec[] {
    return [...this.#live.values()].filter(
      ({ dataFile }) => (dataFile.content === 'data') === (content === 'data'),
    );
  }

  /** A data file in a partition that the choice stands for; nobody opens it. */
  newFile(specId: number, choice: number, fileSizeBytes: number): FileOfSpec {
    const filePath = `s3://bucket/db/events/data/${this.#fileCount++}.parquet`;
    return {
      specId,
      dataFile: {
        content: 'data',
        filePath,
        fileFormat: 'PARQUET',
        partition: partitionOf(specId, choice),
        recordCount: 10,
        fileSizeBytes,
        splitOffsets: [4],
        unknownFields: [],
      },
    };
  }

  /** A delete file of a data file, of its partition, or of the table. */
  newDelete(of: FileOfSpec, scope: 'file' | 'partition' | 'equality' | 'global'): FileOfSpec {
    const filePath = `s3://bucket/db/events/data/${this.#fileCount++}-deletes.parquet`;
    const { dataFile } = of;
    switch (scope) {
      case 'file':
        return deleteFileOf(of, 'position-deletes', {
          filePath,
          referencedDataFile: dataFile.filePath,
        });
      case 'partition':
        return deleteFileOf(of, 'position-deletes', { filePath });
      case 'equality':
        return deleteFileOf(of, 'equality-deletes', { filePath });
      case 'global':
        return deleteFileOf({ ...of, specId: 2 }, 'equality-deletes', { filePath, partition: [] });
    }
  }

  async commit(
    operation: SnapshotOperation,
    change: {
      readonly addedManifests?: readonly (readonly FileOfSpec[])[];
      readonly removedPaths?: readonly string[];
      readonly summary?: Readonly<Record<string, string>>;
    },
  ): Promise<void> {
    const snapshotId = await this.writer.commit({ operation, ...change });
    const live = new Map(this.#live);
    for (const path of change.removedPaths ?? []) live.delete(path);
    for (const file of (change.addedManifests ?? []).flat()) live.set(file.dataFile.filePath, file);
    this.#live = live;
    this.#liveBySnapshot.set(snapshotId, live);
  }

  /** Adds the next of the specs, and says how many there are. */
  async evolveSpec(): Promise<number> {
    const { metadata } = await this.writer.load();
    const fields = SPECS[metadata.partitionSpecs.length];
    if (fields === undefined) return metadata.partitionSpecs.length;
    return (await this.writer.evolveSpec(fields)) + 1;
  }

  /** Sets main back by one snapshot, where it has a parent. */
  async rollback(): Promise<void> {
    const { metadata } = await this.writer.load();
    const parentId = snapshotOfRef(metadata)?.parentSnapshotId;
    const live = parentId === undefined ? undefined : this.#liveBySnapshot.get(parentId);
    const isKept = metadata.snapshots.some(({ snapshotId }) => snapshotId === parentId);
    if (parentId === undefined || live === undefined || !isKept) return;
    await this.writer.edit((json) => ({
      ...json,
      'current-snapshot-id': parentId,
      refs: { main: { type: 'branch', 'snapshot-id': parentId } },
    }));
    this.#live = live;
  }

  /** Forgets all snapshots but the last ones of main. */
  async expire(keptCount: number): Promise<void> {
    const { metadata } = await this.writer.load();
    const kept = new Set<bigint>();
    let id = metadata.currentSnapshotId;
    while (id !== undefined && kept.size < keptCount) {
      kept.add(id);
      id = metadata.snapshots.find(({ snapshotId }) => snapshotId === id)?.parentSnapshotId;
    }
    await this.writer.edit((json, { snapshots }) => ({
      ...json,
      snapshots: snapshots
        .filter(({ snapshotId }) => kept.has(snapshotId))
        .map(({ source }) => source),
      'snapshot-log': [],
    }));
  }

  /** Plans the head twice: going on from the state, and as a whole. */
  async plan(texts: OptionTexts): Promise<HistoryPlan> {
    const { metadata, metadataLocation } = await this.writer.load();
    const snapshot = snapshotOfRef(metadata)!;
    const nowMs = this.clock.nowMs();
    const overrides = { minFileAgeMs: MIN_FILE_AGE_MS };
    const request = {
      metadata,
      snapshot,
      base: {
        tableUuid: metadata.tableUuid,
        metadataLocation,
        branch: 'main',
        startingSnapshotId: snapshot.snapshotId,
        startingSequenceNumber: snapshot.sequenceNumber,
        formatVersion: metadata.formatVersion,
        verifiesRows: false,
        deletesTreatment: 'auto' as const,
      },
      options: parseRewriteDataFilesOptions(texts, TARGET_BYTES),
      fileAge: fileAgeRule({ metadata, settings: { ...LOWERED_GUARD_SETTINGS, overrides }, nowMs }),
      nowMs,
    };
    const { state, store } = this;
    const logger = silentLogger;
    const full = await planTable(request, { reader: createManifestReader(store), logger });
    const counted = countingStore(store);
    const incremental = await planTable(
      { ...request, continuation: state === undefined ? {} : { stateLocation: 'state' } },
      {
        reader: createManifestReader(counted),
        logger,
        sidecars: { read: () => Promise.resolve(state ?? new Uint8Array()) },
      },
    );
    return { incremental, full, readCount: counted.requestCounts.read };
  }

  /** Commits some groups of a plan, as a run would, and remembers the plan. */
  async compact(
    { plan, nextState }: PlannedTable,
    isCommitted: (groupIndex: number) => boolean,
  ): Promise<void> {
    const groups = plan.groups.filter(({ groupIndex }) => isCommitted(groupIndex));
    if (groups.length > 0) {
      const outputs = groups.map(({ files: [first], inputBytes, specId }) => {
        const { partition } = this.#live.get(first!.filePath)!.dataFile;
        const output = this.newFile(specId, 0, Math.min(inputBytes, 1_500));
        return { ...output, dataFile: { ...output.dataFile, partition } };
      });
      await this.commit('replace', {
        addedManifests: [...Map.groupBy(outputs, ({ specId }) => specId).values()],
        removedPaths: groups.flatMap(({ files }) => files.map(({ filePath }) => filePath)),
        summary: { 'firn.run-id': 'run' },
      });
    }
    const state = nextState(new Set(groups.map(({ groupIndex }) => groupIndex)));
    if (state === undefined) return;
    this.state = serializePlanState(state);
  }
}

function partitionOf(specId: number, choice: number): Partition {
  const region = REGIONS[choice % REGIONS.length] ?? null;
  switch (specId) {
    case 0:
      return [region];
    case 1:
      return [region, choice % 2];
    default:
      return [];
  }
}
