import type { FileSkipReason } from './select.ts';

/** Why a group of selected files is left as it is. */
export type GroupSkipReason = 'too-few-files' | 'no-gain';

export interface SkippedFiles {
  readonly fileCount: number;
  readonly bytes: number;
}

export interface SkippedGroups extends SkippedFiles {
  readonly groupCount: number;
}

export type SkippedFilesByReason = Readonly<Partial<Record<FileSkipReason, SkippedFiles>>>;
export type SkippedGroupsByReason = Readonly<Partial<Record<GroupSkipReason, SkippedGroups>>>;

/** Counts what a plan leaves alone, by reason. */
export interface SkipCounts {
  addFile(reason: FileSkipReason, bytes: number): void;
  addGroup(reason: GroupSkipReason, fileCount: number, bytes: number): void;
  files(): SkippedFilesByReason;
  groups(): SkippedGroupsByReason;
}

export function createSkipCounts(): SkipCounts {
  const files: Partial<Record<FileSkipReason, SkippedFiles>> = {};
  const groups: Partial<Record<GroupSkipReason, SkippedGroups>> = {};
  return {
    addFile(reason, bytes) {
      const before = files[reason] ?? { fileCount: 0, bytes: 0 };
      files[reason] = { fileCount: before.fileCount + 1, bytes: before.bytes + bytes };
    },
    addGroup(reason, fileCount, bytes) {
      const before = groups[reason] ?? { groupCount: 0, fileCount: 0, bytes: 0 };
      groups[reason] = {
        groupCount: before.groupCount + 1,
        fileCount: before.fileCount + fileCount,
        bytes: before.bytes + bytes,
      };
    },
    files: () => ({ ...files }),
    groups: () => ({ ...groups }),
  };
}
