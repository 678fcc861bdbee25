import { type FileDeletes, groupDeletesOf } from './file-deletes.ts';
import type { RewriteDataFilesOptions } from './options.ts';
import { forecastOutputs, rowGroupSizes } from './row-groups.ts';
import { isSelectedForDeletes, type ScannedFile, type SelectionReason } from './select.ts';
import type { SkipCounts } from './skip-counts.ts';

/** Which file is rewritten, as its entry stood when planned, and why. */
export interface PlannedFile {
  readonly filePath: string;
  readonly manifestPath: string;
  readonly fileSizeBytes: number;
  readonly recordCount: number;
  readonly dataSequenceNumber: bigint;
  readonly fileSequenceNumber?: bigint;
  readonly firstRowId?: bigint;
  /** Absent where no delete file applies to it. */
  readonly deletes?: FileDeletes;
  readonly reason: SelectionReason;
}

/** Why a group is worth rewriting. */
export type GroupReason =
  | 'enough-input-files'
  | 'enough-content'
  | 'too-much-content'
  | 'deletes'
  | 'rewrite-all';

/** Files of one spec and partition that are rewritten together; output rows follow the order of `files`. */
export interface PlannedGroup {
  /** Position in the plan, before the job order is applied; names the group in reports. */
  readonly groupIndex: number;
  readonly specId: number;
  /** Equal exactly for groups of one spec and partition. */
  readonly partitionKey: string;
  readonly partition: string;
  readonly files: readonly PlannedFile[];
  readonly inputBytes: number;
  readonly recordCount: number;
  /** An output is closed before the row group that would take it beyond this size. */
  readonly outputSizeBytes: number;
  readonly outputFileCountExpected: number;
  /** Of all files, each delete file once; absent where no delete file applies to any. */
  readonly deletes?: FileDeletes;
  readonly reason: GroupReason;
}

/** A selected file while groups are being formed. */
export interface Candidate extends PlannedFile {
  readonly specId: number;
  readonly partitionKey: string;
  readonly partition: string;
  readonly rowGroupSizes: readonly number[];
}

export function toCandidate(
  file: ScannedFile,
  reason: SelectionReason,
  options: RewriteDataFilesOptions,
): Candidate {
  return {
    filePath: file.filePath,
    manifestPath: file.manifestPath,
    fileSizeBytes: file.fileSizeBytes,
    recordCount: file.recordCount,
    dataSequenceNumber: file.dataSequenceNumber,
    ...(file.fileSequenceNumber === undefined
      ? {}
      : { fileSequenceNumber: file.fileSequenceNumber }),
    ...(file.firstRowId === undefined ? {} : { firstRowId: file.firstRowId }),
    ...(file.deletes === undefined ? {} : { deletes: file.deletes }),
    reason,
    specId: file.specId,
    partitionKey: file.partitionKey,
    partition: file.partition,
    rowGroupSizes: rowGroupSizes(file, options.targetFileSizeBytes),
  };
}

/**
 * By spec and partition, then by age, then by path. Age keeps rows that arrived together together, which
 * narrows the bounds of the outputs for columns that follow time.
 */
export function compareCandidates(a: Candidate, b: Candidate): number {
  if (a.specId !== b.specId) return a.specId - b.specId;
  return (
    compareText(a.partitionKey, b.partitionKey) ||
    compareBigint(a.dataSequenceNumber, b.dataSequenceNumber) ||
    compareText(a.filePath, b.filePath) ||
    compareText(a.manifestPath, b.manifestPath)
  );
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareBigint(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Next-fit over sorted candidates; a file larger than the cap gets a group by itself. */
export function packGroups(
  sorted: readonly Candidate[],
  options: RewriteDataFilesOptions,
): readonly (readonly Candidate[])[] {
  const groups: Candidate[][] = [];
  let open: Candidate[] = [];
  let openBytes = 0;
  for (const file of sorted) {
    const first = open[0];
    const fits =
      first !== undefined &&
      first.specId === file.specId &&
      first.partitionKey === file.partitionKey &&
      openBytes + file.fileSizeBytes <= options.fileGroupSizeBytesMax &&
      open.length < options.fileGroupInputFilesMax;
    if (!fits) {
      open = [];
      openBytes = 0;
      groups.push(open);
    }
    open.push(file);
    openBytes += file.fileSizeBytes;
  }
  return groups;
}

export type KeptGroup = Omit<PlannedGroup, 'groupIndex'> & {
  readonly candidates: readonly Candidate[];
};

/**
 * The group with its reason, or undefined after counting why not. Where the sizes gain nothing, what is left of the group
 * are the files that were selected for their deletes.
 */
export function keepGroup(
  files: readonly Candidate[],
  options: RewriteDataFilesOptions,
  skips: SkipCounts,
): KeptGroup | undefined {
  const reason = groupReason(files, options);
  if (reason === undefined) {
    skips.addGroup('too-few-files', files.length, sumBytes(files));
    return undefined;
  }
  const group = toKeptGroup(files, reason, options);
  if (!isSizeReason(reason) || isGain(group, options)) return group;
  const forDeletes = files.filter(isSelectedForDeletes);
  const others = files.filter((file) => !isSelectedForDeletes(file));
  if (others.length > 0) skips.addGroup('no-gain', others.length, sumBytes(others));
  return forDeletes.length === 0 ? undefined : toKeptGroup(forDeletes, 'deletes', options);
}

function toKeptGroup(
  files: readonly Candidate[],
  reason: GroupReason,
  options: RewriteDataFilesOptions,
): KeptGroup {
  const first = files[0]!;
  const rowGroups = files.flatMap((file) => file.rowGroupSizes);
  const { outputSizeBytes, fileCount } = forecastOutputs(rowGroups, options);
  const hasDeletes = files.some(({ deletes }) => deletes !== undefined);
  return {
    specId: first.specId,
    partitionKey: first.partitionKey,
    partition: first.partition,
    files: files.map(toPlannedFile),
    candidates: files,
    inputBytes: sumBytes(files),
    recordCount: files.reduce((sum, file) => sum + file.recordCount, 0),
    outputSizeBytes,
    outputFileCountExpected: fileCount,
    ...(hasDeletes ? { deletes: groupDeletesOf(files) } : {}),
    reason,
  };
}

function groupReason(
  files: readonly Candidate[],
  options: RewriteDataFilesOptions,
): GroupReason | undefined {
  const inputBytes = sumBytes(files);
  if (options.rewriteAll) return 'rewrite-all';
  if (files.length > 1 && files.length >= options.minInputFiles) return 'enough-input-files';
  if (files.length > 1 && inputBytes > options.targetFileSizeBytes) return 'enough-content';
  if (inputBytes > options.fileSizeBytesMax) return 'too-much-content';
  return files.some(isSelectedForDeletes) ? 'deletes' : undefined;
}

function isSizeReason(reason: GroupReason): boolean {
  return reason !== 'rewrite-all' && reason !== 'deletes';
}

/**
 * Whether the outputs will be fewer than the inputs, or a file too large will be cut, as any file of two rows or
 * more can be. A rewrite that passes lowers the bytes above the maximum, or the number of files and nothing else;
 * so planning again and again comes to an end.
 */
function isGain(
  { candidates, outputFileCountExpected }: KeptGroup,
  options: RewriteDataFilesOptions,
): boolean {
  const canBeCut = (file: Candidate): boolean =>
    file.fileSizeBytes > options.fileSizeBytesMax && file.recordCount > 1;
  return outputFileCountExpected < candidates.length || candidates.some(canBeCut);
}

function toPlannedFile(candidate: Candidate): PlannedFile {
  const { specId: _s, partitionKey: _k, partition: _p, rowGroupSizes: _r, ...file } = candidate;
  return file;
}

function sumBytes(files: readonly { readonly fileSizeBytes: number }[]): number {
  return files.reduce((sum, file) => sum + file.fileSizeBytes, 0);
}
