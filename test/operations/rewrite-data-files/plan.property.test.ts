import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseRewriteDataFilesOptions } from '../../../shared/operations/rewrite-data-files/options.ts';
import {
  createPlanBuilder,
  type RewriteDataFilesPlan,
} from '../../../shared/operations/rewrite-data-files/plan.ts';
import {
  isSelectedForDeletes,
  type ScannedFile,
} from '../../../shared/operations/rewrite-data-files/select.ts';

const SEED = 20261130;
const TARGET = 100_000;

interface Table {
  readonly files: readonly ScannedFile[];
}

const tables: fc.Arbitrary<Table> = fc
  .array(
    fc.record({
      rowGroups: fc.array(fc.integer({ min: 1, max: 220_000 }), {
        minLength: 1,
        maxLength: 4,
      }),
      partition: fc.integer({ min: 0, max: 2 }),
      sequenceNumber: fc.bigInt({ min: 0n, max: 3n }),
      isKnown: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((shapes) => ({
    files: shapes.map((shape, index) =>
      toFile(`f${index}`, shape.rowGroups, {
        partitionKey: `0:i${shape.partition};`,
        fileSequenceNumber: shape.sequenceNumber,
        isKnown: shape.isKnown,
      }),
    ),
  }));

function toFile(
  name: string,
  rowGroups: readonly number[],
  other: {
    readonly partitionKey: string;
    readonly fileSequenceNumber: bigint;
    readonly isKnown: boolean;
  },
): ScannedFile {
  let offset = 0;
  const splitOffsets = rowGroups.map((bytes) => {
    offset += bytes;
    return offset - bytes;
  });
  return {
    filePath: name,
    manifestPath: 'm0',
    isParquet: true,
    isEncrypted: false,
    isSpecWritable: true,
    fileSizeBytes: offset,
    recordCount: offset,
    specId: 0,
    partitionKey: other.partitionKey,
    partition: other.partitionKey,
    dataSequenceNumber: 0n,
    fileSequenceNumber: other.fileSequenceNumber,
    ...(other.isKnown ? { splitOffsets } : {}),
  };
}

function planFiles(files: readonly ScannedFile[], extra: Record<string, string> = {}) {
  const options = parseRewriteDataFilesOptions(extra, TARGET);
  const builder = createPlanBuilder(
    {
      tableUuid: undefined,
      metadataLocation: 'm',
      branch: 'main',
      startingSnapshotId: 1n,
      startingSequenceNumber: 1n,
      verifiesRows: false,
      formatVersion: 2,
      deletesTreatment: 'auto',
    },
    options,
  );
  for (const file of files) builder.add(file);
  return builder.build();
}

function withDeletes(file: ScannedFile, rowCount: number): ScannedFile {
  if (rowCount === 0) return file;
  const none = { fileCount: 0, rowCount: 0, bytes: 0 };
  const fileScoped = { fileCount: 1, rowCount, bytes: 100 };
  return { ...file, deletes: { fileScoped, partitionScoped: none, equality: none } };
}

/**
 * What a rewrite leaves behind that moves row groups whole, purges files that were selected for their deletes, and carries
 * the deletes of others.
 */
function rewrite(
  files: readonly ScannedFile[],
  plan: RewriteDataFilesPlan,
  round: number,
): readonly ScannedFile[] {
  const byPath = new Map(files.map((file) => [file.filePath, file]));
  const outputs = plan.groups.flatMap((group) => {
    const inputs = group.files.map((planned) => byPath.get(planned.filePath)!);
    for (const input of inputs) byPath.delete(input.filePath);
    const kept = inputs.flatMap((input, index) => {
      const isPurged = isSelectedForDeletes(group.files[index]!);
      const share = 1 - deletedRows(input) / input.recordCount;
      if (!isPurged) return rowGroupsOf(input);
      return rowGroupsOf(input).flatMap((bytes) => Math.ceil(bytes * share) || []);
    });
    const carried = inputs.reduce(
      (sum, input, index) =>
        sum + (isSelectedForDeletes(group.files[index]!) ? 0 : deletedRows(input)),
      0,
    );
    const packed = packRowGroups(kept, group.outputSizeBytes);
    return packed.map((rowGroups, index) => {
      const output = toFile(`r${round}-g${group.groupIndex}-${index}`, rowGroups, {
        partitionKey: inputs[0]!.partitionKey,
        fileSequenceNumber: BigInt(10 + round),
        isKnown: true,
      });
      // At worst the deleted rows are all in one output.
      return withDeletes(output, index === 0 ? Math.min(carried, output.recordCount) : 0);
    });
  });
  return [...byPath.values(), ...outputs];
}

function deletedRows({ deletes }: ScannedFile): number {
  return deletes?.fileScoped.rowCount ?? 0;
}

function rowGroupsOf(file: ScannedFile): readonly number[] {
  const offsets = file.splitOffsets ?? [0];
  return offsets.map((offset, index) => (offsets[index + 1] ?? file.fileSizeBytes) - offset);
}

function packRowGroups(rowGroups: readonly number[], outputSizeBytes: number): number[][] {
  const outputs: number[][] = [];
  let openBytes = Number.POSITIVE_INFINITY;
  for (const bytes of rowGroups.flatMap((rowGroup) => cut(rowGroup, outputSizeBytes))) {
    if (openBytes + bytes > outputSizeBytes) {
      outputs.push([]);
      openBytes = 0;
    }
    outputs.at(-1)!.push(bytes);
    openBytes += bytes;
  }
  return outputs;
}

function cut(bytes: number, outputSizeBytes: number): number[] {
  const pieceCount = Math.ceil(bytes / outputSizeBytes);
  return Array.from({ length: pieceCount }, () => Math.ceil(bytes / pieceCount));
}

describe('plan of rewrite-data-files', () => {
  it('does not depend on the order in which files are scanned', () => {
    fc.assert(
      fc.property(tables, fc.integer(), (table, salt) => {
        const shuffled = [...table.files].sort(
          (a, b) => hash(a.filePath, salt) - hash(b.filePath, salt),
        );
        assert.deepEqual(planFiles(shuffled), planFiles(table.files));
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('uses each file in at most one group and accounts for all', () => {
    fc.assert(
      fc.property(tables, fc.integer({ min: 1, max: 30 }), (table, filesMax) => {
        const plan = planFiles(table.files, { 'max-files-to-rewrite': String(filesMax) });
        const used = plan.groups.flatMap((group) => group.files.map((file) => file.filePath));
        const skipped = [
          ...Object.values(plan.skippedFiles),
          ...Object.values(plan.skippedGroups),
        ].reduce((sum, skip) => sum + skip.fileCount, 0);

        assert.equal(new Set(used).size, used.length);
        assert.ok(used.length <= filesMax);
        assert.equal(used.length + skipped, table.files.length);
        assert.equal(plan.scanned.fileCount, table.files.length);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('comes to an end when planned and applied again and again', () => {
    fc.assert(
      fc.property(tables, (table) => {
        let files = table.files;
        let rounds = 0;
        for (; rounds < 50; rounds++) {
          const plan = planFiles(files);
          if (plan.groups.length === 0) break;
          files = rewrite(files, plan, rounds);
        }
        assert.ok(rounds < 10, `still planning after ${rounds} rounds`);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('comes to an end when deletes are purged or carried along', () => {
    const deletedShares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 40 });
    fc.assert(
      fc.property(tables, deletedShares, (table, shares) => {
        let files: readonly ScannedFile[] = table.files.map((file, index) =>
          withDeletes(file, Math.floor(file.recordCount * shares[index]!)),
        );
        let rounds = 0;
        for (; rounds < 50; rounds++) {
          const plan = planFiles(files);
          if (plan.groups.length === 0) break;
          files = rewrite(files, plan, rounds);
        }
        assert.ok(rounds < 10, `still planning after ${rounds} rounds`);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('plans nothing after one run over small row groups', () => {
    const shapes = fc.array(fc.integer({ min: 1, max: 12_500 }), { maxLength: 60 });
    fc.assert(
      fc.property(shapes, (sizes) => {
        const files = sizes.map((bytes, index) =>
          toFile(`f${index}`, [bytes], {
            partitionKey: '0:',
            fileSequenceNumber: 1n,
            isKnown: true,
          }),
        );
        const after = rewrite(files, planFiles(files), 0);

        assert.deepEqual(planFiles(after).groups, []);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});

function hash(text: string, salt: number): number {
  let value = salt | 0;
  for (const character of text) value = Math.imul(value ^ character.charCodeAt(0), 16777619);
  return value;
}
