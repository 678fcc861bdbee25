import { ENTRY_FIELDS, FILE_FIELDS, LIST_FIELDS } from './field-ids.ts';
import { expectation, type HostileCase } from './hostile-case.ts';
import type { OpenParts, OpenRecord, TableParts } from './table-parts.ts';

/** One change to one record: what becomes of a field, given what it was. */
interface FieldEdit {
  /** The spec's name in camel case, for the label. */
  readonly field: string;
  readonly what: string;
  readonly mustBeRefused: boolean;
  readonly change: (before: unknown) => unknown;
}

interface EditSet {
  readonly fields: Readonly<Record<string, string>>;
  readonly edits: readonly FieldEdit[];
}

const STATUS_ADDED = 1;
const STATUS_DELETED = 2;
const MISSING_PATH = 's3://bucket/missing/object';

/** Fields of the list, the manifests and the entries that contradict one another or the files they name. */
export function* brokenReferences(
  parts: TableParts,
  inputPaths: ReadonlySet<string>,
): Generator<HostileCase> {
  for (let index = 0; index < parts.list.file.records.length; index++) {
    yield* editedRecords(
      parts,
      { fields: LIST_FIELDS, edits: listEdits() },
      `list entry ${index}`,
      ({ list }) => list[index]!,
    );
  }
  yield listCase(parts, 'an entry twice', true, (open) => open.list.push({ ...open.list[0]! }));
  yield listCase(parts, 'no entries', false, (open) => open.list.splice(0));
  for (const [path, { file }] of parts.manifests) {
    for (const [index, entry] of file.records.entries()) {
      if (entry[ENTRY_FIELDS.status] === STATUS_DELETED) continue;
      const filePath = String((entry[ENTRY_FIELDS.dataFile] as OpenRecord)[FILE_FIELDS.filePath]);
      const isInput = inputPaths.has(filePath);
      const others = [...inputPaths].filter((other) => other !== filePath);
      const name = `entry ${index} of ${path.slice(path.lastIndexOf('/') + 1)}`;
      const find = (open: OpenParts): OpenRecord => open.manifests.get(path)![index]!;
      yield* editedRecords(parts, { fields: ENTRY_FIELDS, edits: entryEdits() }, name, find);
      yield* editedRecords(
        parts,
        { fields: FILE_FIELDS, edits: fileEdits(isInput, others[0]) },
        `file of ${name}`,
        (open) => {
          const dataFile = find(open)[ENTRY_FIELDS.dataFile] as OpenRecord;
          return dataFile;
        },
      );
      yield* recountedRows(parts, { path, index, name, isInput });
    }
  }
}

function* editedRecords(
  parts: TableParts,
  { fields, edits }: EditSet,
  name: string,
  find: (open: OpenParts) => OpenRecord,
): Generator<HostileCase> {
  for (const { field, what, mustBeRefused, change } of edits) {
    const label = `${name}: ${field} ${what}`;
    let isChanged = false;
    const corruption = parts.edited((open) => {
      const record = find(open);
      const name = fields[field];
      if (name === undefined || !(name in record)) return;
      const before = record[name];
      record[name] = change(before);
      isChanged = record[name] !== before;
    });
    if (isChanged && corruption !== undefined) {
      yield { label, corruption, expects: expectation(mustBeRefused) };
    }
  }
}

function listCase(
  parts: TableParts,
  label: string,
  mustBeRefused: boolean,
  change: (open: OpenParts) => unknown,
): HostileCase {
  return {
    label: `list: ${label}`,
    corruption: parts.edited(change) ?? new Map(),
    expects: expectation(mustBeRefused),
  };
}

function listEdits(): readonly FieldEdit[] {
  const counts = ['added', 'existing', 'deleted'].flatMap((status) => [
    `${status}FilesCount`,
    `${status}RowsCount`,
  ]);
  return [
    ...['manifestLength', ...counts].flatMap((field) => longEdits(field, [1, -1, -1000], true)),
    ...longEdits('sequenceNumber', [1000, -1000], true),
    ...longEdits('minSequenceNumber', [1000, -1000], true),
    ...longEdits('partitionSpecId', [99, -99], true),
    ...longEdits('addedSnapshotId', [1], false),
    ...longEdits('firstRowId', [-(2 ** 40)], true),
    ...longEdits('firstRowId', [1, -1, 2 ** 40], false),
    edit('firstRowId', 'taken away', false, () => null),
    edit('content', 'flipped', true, (before) => 1 - Number(before)),
    edit('content', 'becomes 7', true, () => 7),
    edit('manifestPath', 'names nothing', true, () => MISSING_PATH),
    edit('manifestPath', 'is empty', true, () => ''),
    edit('manifestPath', 'has no scheme', true, () => '../manifest.avro'),
    edit('partitions', 'taken away', false, () => null),
    edit('keyMetadata', 'set', true, () => Buffer.from([1])),
  ];
}

function entryEdits(): readonly FieldEdit[] {
  return [
    edit('status', 'becomes 3', true, () => 3),
    edit('status', 'becomes -1', true, () => -1),
    edit('status', 'becomes deleted', true, () => STATUS_DELETED),
    edit('snapshotId', 'taken away', false, () => null),
    edit('snapshotId', 'of nobody', false, () => 1n),
    edit('sequenceNumber', 'far above the table', true, () => 2n ** 40n),
    edit('sequenceNumber', 'negative', true, () => -5n),
    edit('fileSequenceNumber', 'far above the table', true, () => 2n ** 40n),
    edit('fileSequenceNumber', 'negative', true, () => -5n),
  ];
}

function fileEdits(isInput: boolean, otherPath: string | undefined): readonly FieldEdit[] {
  return [
    ...longEdits('recordCount', [1, -1, -1000], true),
    ...longEdits('fileSizeBytes', [1, -1, -100], isInput),
    ...longEdits('fileSizeBytes', [-(2 ** 40)], true),
    ...longEdits('fileSizeBytes', [2 ** 40], false),
    edit('filePath', 'names nothing', isInput, () => MISSING_PATH),
    edit('filePath', 'is empty', isInput, () => ''),
    edit('filePath', 'climbs out', isInput, () => 's3://bucket/../../other/file.parquet'),
    edit('filePath', 'is 1 MiB long', isInput, () => `s3://bucket/${'x'.repeat(2 ** 20)}`),
    ...(otherPath === undefined
      ? []
      : [edit('filePath', 'is that of another file', false, () => otherPath)]),
    edit('content', 'becomes 1', isInput, () => 1),
    edit('content', 'becomes 9', true, () => 9),
    edit('fileFormat', 'becomes ORC', false, () => 'ORC'),
    edit('fileFormat', 'is empty', false, () => ''),
    edit('keyMetadata', 'set', false, () => Buffer.from([1])),
    edit('splitOffsets', 'negative', false, () => [-4n]),
    edit('splitOffsets', 'beyond the file', false, () => [4n, 2n ** 40n]),
    edit('sortOrderId', 'unknown', false, () => 77),
    edit('valueCounts', 'halved', false, halvedCounts),
    edit('nullValueCounts', 'halved', false, halvedCounts),
    edit('columnSizes', 'taken away', false, () => null),
    edit('lowerBounds', 'cut', false, cutBounds),
    edit('upperBounds', 'cut', false, cutBounds),
    ...longEdits('firstRowId', [-(2 ** 40)], true),
    ...longEdits('firstRowId', [1, 2 ** 40], false),
    edit('equalityIds', 'set', false, (before) => before ?? [1]),
    ...longEdits('contentOffset', [-(2 ** 40)], true),
    ...longEdits('contentSizeBytes', [-(2 ** 40)], true),
  ];
}

function edit(
  field: string,
  what: string,
  mustBeRefused: boolean,
  change: FieldEdit['change'],
): FieldEdit {
  return { field, what, mustBeRefused, change };
}

function longEdits(
  field: string,
  differences: readonly number[],
  mustBeRefused: boolean,
): readonly FieldEdit[] {
  return differences.map((difference) =>
    edit(field, `${difference >= 0 ? '+' : ''}${difference}`, mustBeRefused, (before) => {
      if (typeof before === 'bigint') return before + BigInt(difference);
      return typeof before === 'number' ? before + difference : before;
    }),
  );
}

/** Maps by field id are arrays of two-field records. */
function changeMap(before: unknown, change: (value: unknown) => unknown): unknown {
  if (!Array.isArray(before)) return before;
  return before.map((item: OpenRecord) => {
    const [key, value] = Object.keys(item) as [string, string];
    return { [key]: item[key], [value]: change(item[value]) };
  });
}

function halvedCounts(before: unknown): unknown {
  return changeMap(before, (count) => (count as bigint) / 2n);
}

function cutBounds(before: unknown): unknown {
  return changeMap(before, (bound) => (bound as Buffer).subarray(0, 1));
}

/** A record count that the manifest list agrees with: only the file itself contradicts it. */
function* recountedRows(
  parts: TableParts,
  entry: {
    readonly path: string;
    readonly index: number;
    readonly name: string;
    readonly isInput: boolean;
  },
): Generator<HostileCase> {
  const { path, index, name, isInput } = entry;
  for (const difference of [1n, -1n]) {
    const corruption = parts.edited((open) => {
      const record = open.manifests.get(path)![index]!;
      const file = record[ENTRY_FIELDS.dataFile] as OpenRecord;
      file[FILE_FIELDS.recordCount] = (file[FILE_FIELDS.recordCount] as bigint) + difference;
      const listed = open.list.find((each) => each[LIST_FIELDS.manifestPath] === path)!;
      const count =
        record[ENTRY_FIELDS.status] === STATUS_ADDED
          ? LIST_FIELDS.addedRowsCount
          : LIST_FIELDS.existingRowsCount;
      if (typeof listed[count] === 'bigint') listed[count] += difference;
    });
    if (corruption === undefined) continue;
    const label = `file of ${name}: record_count ${difference} with the list's agreement`;
    yield { label, corruption, expects: expectation(isInput) };
  }
}
