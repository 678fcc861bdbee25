import type { UnreadableReason } from '../../deletes/index.ts';
import type { RewriteDeletesOptions } from './options.ts';
import type { PlanBase, ScannedDelete, ScannedFile, ScannedPartition } from './scanned.ts';
import type { SkipCounts, SkipReason } from './skip-counts.ts';
import { isScoped, type PartitionFiles, type TableDeletes } from './table-deletes.ts';

/** Why deletes are rewritten. */
export type GroupReason =
  | 'delete-file-count'
  | 'equality-delete-file-count'
  | 'delete-ratio'
  | 'delete-manifest-ratio'
  /** Nothing needs them any more. */
  | 'dangling'
  | 'puffin-garbage'
  | 'rewrite-all';

/** What is to be done in one partition. */
export interface PartitionWork {
  readonly place: ScannedPartition;
  readonly reasons: readonly GroupReason[];
  /** Data files to be given new deletes. */
  readonly files: readonly ScannedFile[];
  /** Whether equality deletes are evaluated. */
  readonly isConverted: boolean;
  /** Whether global equality deletes leave the table with it: all partitions that they apply to must go together. */
  readonly convertsGlobal: boolean;
  /** Vectors and position delete files of `files` alone, in whose place the new ones come. */
  readonly replaced: readonly ScannedDelete[];
  /** Position and equality delete files of several data files: all of them are among `files`, or of other partitions. */
  readonly covered: readonly ScannedDelete[];
  /** Delete files that nothing needs. */
  readonly dangling: readonly ScannedDelete[];
  /** Other data files that a removed position delete file would apply to if they had no vector, which they keep. */
  readonly keptPaths: readonly string[];
}

/** What every partition is judged by. */
export interface JudgedBy {
  readonly base: PlanBase;
  readonly options: RewriteDeletesOptions;
  readonly deleteManifestRatio: number;
  readonly deleteManifestBytes: number;
}

/** Delete manifests that are read in one small request slow nobody down, however few data manifests there are. */
const DELETE_MANIFEST_BYTES_MIN = 256 * 1024;

/** A partition, before it is decided. */
interface Candidate {
  readonly place: ScannedPartition;
  readonly rowCount: number;
  readonly files: readonly ScannedFile[];
  readonly vectorFiles: PartitionFiles['vectorFiles'];
  /** Deletes that a data file needs, but for global ones. */
  readonly needed: readonly ScannedDelete[];
  /** Files whose position deletes can be made fewer, and those deletes. */
  readonly positionFiles: readonly ScannedFile[];
  readonly positionDeletes: readonly ScannedDelete[];
  /** Equality deletes that apply to some data file: of the partition, and of all. */
  readonly ownEquality: readonly ScannedDelete[];
  readonly globalEquality: readonly ScannedDelete[];
  readonly dangling: readonly ScannedDelete[];
  /** Why nothing can be done, position deletes cannot be read, or equality deletes cannot be evaluated. */
  readonly blocked: SkipReason | undefined;
  readonly positionsBlocked: SkipReason | undefined;
  readonly equalityBlocked: SkipReason | undefined;
}

/** What is worth doing, by spec and partition; what is not is counted. */
export function partitionWorks(
  table: TableDeletes,
  judged: JudgedBy,
  skips: SkipCounts,
): readonly PartitionWork[] {
  const globalDeletes = table.globalDeletes().filter((each) => table.isNeeded(each));
  const candidates = table
    .places()
    .map((place) => toCandidate(place, { table, judged, globalDeletes }));
  const withGlobal = candidates.filter(({ globalEquality }) => globalEquality.length > 0);
  const isWanted = withGlobal.some((each) => equalityReasons(each, judged, true).length > 0);
  const isReady = withGlobal.every((each) => equalityBlock(each) === undefined);
  const ofGlobal: GlobalState = !isWanted ? 'unwanted' : isReady ? 'converted' : 'waits';
  return candidates.flatMap((candidate) => {
    const globalState = candidate.globalEquality.length > 0 ? ofGlobal : 'none';
    return decide(candidate, judged, { skips, globalState });
  });
}

/** What becomes of the global equality deletes that apply to a partition. */
type GlobalState = 'none' | 'unwanted' | 'converted' | 'waits';

function toCandidate(
  place: ScannedPartition,
  {
    table,
    judged: { base },
    globalDeletes,
  }: {
    readonly table: TableDeletes;
    readonly judged: JudgedBy;
    readonly globalDeletes: readonly ScannedDelete[];
  },
): Candidate {
  const { partitionKey } = place;
  const { files = [], vectorFiles = [], rowCount = 0 } = table.filesOf(partitionKey) ?? {};
  const deletes = table.deletesOf(partitionKey);
  const needed = deletes.filter((each) => table.isNeeded(each));
  const positionFiles = files.filter((file) => canFold(file, base));
  const own = needed.filter(({ kind, isGlobal }) => kind === 'equality' && !isGlobal);
  const oldest = files.reduce<bigint | undefined>(
    (least, { dataSequenceNumber }) =>
      least !== undefined && least < dataSequenceNumber ? least : dataSequenceNumber,
    undefined,
  );
  const global = globalDeletes.filter(
    ({ dataSequenceNumber }) => oldest !== undefined && oldest < dataSequenceNumber,
  );
  const positionDeletes = foldedDeletes(needed, positionFiles, base);
  const positionsRead = needed.filter(({ kind }) => isScoped(kind));
  return {
    place,
    rowCount,
    files,
    vectorFiles,
    needed,
    positionFiles,
    positionDeletes,
    ownEquality: own,
    globalEquality: global,
    dangling: deletes.filter((each) => !table.isNeeded(each)),
    blocked: blockOf(place, table),
    positionsBlocked: firstUnreadable(positionsRead),
    equalityBlocked:
      firstUnreadable([...own, ...global]) ??
      firstUnreadable(files.filter(({ equalityDeleteCount }) => equalityDeleteCount > 0)),
  };
}

/** In v3 whatever is no vector yet; in v2 what is more than one file, or is to be split. */
function canFold(file: ScannedFile, { formatVersion, splitsPartitionScoped }: PlanBase): boolean {
  const fileScopedCount = file.fileScopedKeys.length;
  const partitionScopedCount = file.partitionScopedKeys.length;
  if (formatVersion >= 3) return fileScopedCount + partitionScopedCount > 0;
  return fileScopedCount > 1 || (splitsPartitionScoped && partitionScopedCount > 0);
}

/** Position delete files that would be gone, or be one. */
function foldedDeletes(
  needed: readonly ScannedDelete[],
  files: readonly ScannedFile[],
  { formatVersion, splitsPartitionScoped }: PlanBase,
): readonly ScannedDelete[] {
  const fileScoped = new Set(files.flatMap(({ fileScopedKeys }) => fileScopedKeys));
  const takesPartitionScoped = formatVersion >= 3 || splitsPartitionScoped;
  return needed.filter(({ kind, deleteKey }) =>
    kind === 'partition-scoped' ? takesPartitionScoped : fileScoped.has(deleteKey),
  );
}

function blockOf(place: ScannedPartition, table: TableDeletes): SkipReason | undefined {
  if (!place.isSpecWritable) return 'unsupported-spec';
  if (table.isFlawed(place)) return 'referenced-twice';
  return place.dueAtMs === undefined ? undefined : 'too-warm';
}

function firstUnreadable(
  files: readonly { readonly unreadable?: UnreadableReason }[],
): UnreadableReason | undefined {
  return files.find(({ unreadable }) => unreadable !== undefined)?.unreadable;
}

/** A vector must hold what position delete files say: where they cannot be read, nothing can be converted. */
function equalityBlock(candidate: Candidate): SkipReason | undefined {
  return candidate.blocked ?? candidate.positionsBlocked ?? candidate.equalityBlocked;
}

function positionReasons(candidate: Candidate, judged: JudgedBy): readonly GroupReason[] {
  const { positionDeletes } = candidate;
  if (positionDeletes.length === 0) return [];
  const { options } = judged;
  const isMany = positionDeletes.length >= options.deleteFileThreshold;
  return [
    ...(isMany ? (['delete-file-count'] as const) : []),
    ...commonReasons(positionDeletes, candidate, judged),
  ];
}

function equalityReasons(
  candidate: Candidate,
  judged: JudgedBy,
  countsGlobal: boolean,
): readonly GroupReason[] {
  const { ownEquality, globalEquality } = candidate;
  const deletes = countsGlobal ? [...ownEquality, ...globalEquality] : ownEquality;
  if (deletes.length === 0) return [];
  const isMany = deletes.length >= judged.options.equalityDeleteFileThreshold;
  return [
    ...(isMany ? (['equality-delete-file-count'] as const) : []),
    ...commonReasons(deletes, candidate, judged),
  ];
}

function commonReasons(
  deletes: readonly ScannedDelete[],
  { rowCount }: Candidate,
  { options, deleteManifestRatio, deleteManifestBytes }: JudgedBy,
): readonly GroupReason[] {
  const deletedRows = deletes.reduce((sum, { recordCount }) => sum + recordCount, 0);
  const isDense = deletedRows >= options.deleteRatioThreshold * rowCount;
  const isManifestHeavy =
    deleteManifestBytes >= DELETE_MANIFEST_BYTES_MIN &&
    deleteManifestRatio >= options.deleteManifestRatioThreshold;
  return [
    ...(isDense ? (['delete-ratio'] as const) : []),
    ...(isManifestHeavy ? (['delete-manifest-ratio'] as const) : []),
    ...(options.rewriteAll ? (['rewrite-all'] as const) : []),
  ];
}

function decide(
  candidate: Candidate,
  judged: JudgedBy,
  { skips, globalState }: { readonly skips: SkipCounts; readonly globalState: GlobalState },
): readonly PartitionWork[] {
  const { place, ownEquality, positionDeletes, dangling, blocked } = candidate;
  const equality = equalityReasons(candidate, judged, globalState !== 'waits');
  const positions = positionReasons(candidate, judged);
  const isConverted =
    globalState === 'converted' || (equality.length > 0 && equalityBlock(candidate) === undefined);
  const isFolded =
    isConverted ||
    (positions.length > 0 && blocked === undefined && candidate.positionsBlocked === undefined);
  countSkips(candidate, { equality, positions, isConverted, isFolded, globalState }, skips);
  if (blocked !== undefined) return [];
  const foldable = new Set(isFolded ? candidate.positionFiles : []);
  const files = candidate.files.filter(
    (file) => foldable.has(file) || (isConverted && file.equalityDeleteCount > 0),
  );
  const covered = [
    ...(isFolded ? positionDeletes.filter(({ kind }) => kind === 'partition-scoped') : []),
    ...(isConverted ? ownEquality : []),
    ...(globalState === 'converted' ? candidate.globalEquality : []),
  ];
  if (files.length + covered.length + dangling.length === 0) return [];
  const reasons = [
    ...(isConverted ? equality : []),
    ...(isFolded ? positions : []),
    ...(dangling.length > 0 ? (['dangling'] as const) : []),
  ];
  const replacedKeys = new Set(
    files.flatMap(({ vectorKeys, fileScopedKeys }) => [...vectorKeys, ...fileScopedKeys]),
  );
  return [
    {
      place,
      reasons: [...new Set(reasons)],
      files,
      isConverted,
      convertsGlobal: globalState === 'converted',
      replaced: candidate.needed.filter(({ deleteKey }) => replacedKeys.has(deleteKey)),
      covered,
      dangling,
      keptPaths: keptPaths(candidate, files, [...covered, ...dangling]),
    },
  ];
}

function keptPaths(
  { vectorFiles }: Candidate,
  rewritten: readonly ScannedFile[],
  removed: readonly ScannedDelete[],
): readonly string[] {
  const named = removed
    .filter(({ kind }) => kind === 'file-scoped')
    .flatMap(({ referencedDataFile }) => referencedDataFile ?? []);
  let newest = -1n;
  for (const { kind, dataSequenceNumber } of removed) {
    if (kind === 'partition-scoped' && dataSequenceNumber > newest) newest = dataSequenceNumber;
  }
  const inReach = vectorFiles.filter(({ dataSequenceNumber }) => dataSequenceNumber <= newest);
  const paths = new Set([...named, ...inReach.map(({ filePath }) => filePath)]);
  for (const { filePath } of rewritten) paths.delete(filePath);
  return [...paths].sort();
}

/** What is left as it is, and why; each delete file under one reason. */
function countSkips(
  candidate: Candidate,
  decided: {
    readonly equality: readonly GroupReason[];
    readonly positions: readonly GroupReason[];
    readonly isConverted: boolean;
    readonly isFolded: boolean;
    readonly globalState: GlobalState;
  },
  skips: SkipCounts,
): void {
  const { place, blocked, ownEquality, globalEquality, positionDeletes, dangling } = candidate;
  const { equality, positions, isConverted, isFolded, globalState } = decided;
  const counts = new Map<SkipReason, number>();
  const add = (reason: SkipReason | undefined, deletes: readonly ScannedDelete[]): void => {
    if (reason === undefined || deletes.length === 0) return;
    counts.set(reason, (counts.get(reason) ?? 0) + deletes.length);
  };
  if (globalState === 'waits') add(equalityBlock(candidate) ?? 'others-not-ready', globalEquality);
  if (globalState === 'unwanted') add('below-thresholds', globalEquality);
  if (!isConverted) {
    add(equality.length > 0 ? equalityBlock(candidate) : 'below-thresholds', ownEquality);
  }
  if (!isFolded) {
    const reason = blocked ?? candidate.positionsBlocked;
    add(positions.length > 0 ? reason : 'below-thresholds', positionDeletes);
  }
  add(blocked, dangling);
  for (const [reason, deleteFileCount] of counts) {
    const dueAtMs = reason === 'too-warm' ? place.dueAtMs : undefined;
    skips.add(reason, { partitionCount: 1, deleteFileCount }, dueAtMs);
  }
}
