import {
  cheaperTreatment,
  type DeletesEstimate,
  type DeleteTreatment,
  estimateDeletes,
  type TreatmentEstimate,
} from '../../datafile/index.ts';
import type { DataFile } from '../../iceberg/index.ts';
import type { RoaringBitmap } from '../../roaring/index.ts';
import type { PlannedFile, PlannedGroup } from './group-files.ts';
import type { RewriteDataFilesOptions } from './options.ts';
import type { DeletesTreatment, PlanBase } from './plan.ts';
import { isSelectedForDeletes } from './select.ts';

/** What is known of the rows that are deleted of a file. */
export interface DeletedShare {
  readonly deletedCount: number;
  readonly estimate: DeletesEstimate;
}

/**
 * What becomes of the deleted rows of a file. Those of a file whose deletes are reason enough to rewrite it are left out
 * whatever was asked for: its output would be selected again.
 */
export function chooseTreatment(
  file: Pick<PlannedFile, 'reason' | 'recordCount'>,
  { deletedCount, estimate }: DeletedShare,
  by: {
    readonly asked: DeletesTreatment;
    readonly options: Pick<RewriteDataFilesOptions, 'deleteRatioThreshold'>;
  },
): DeleteTreatment {
  const isReasonEnough = deletedCount >= by.options.deleteRatioThreshold * file.recordCount;
  if (isSelectedForDeletes(file) || isReasonEnough) return 'purge';
  return by.asked === 'auto' ? cheaperTreatment(estimate) : by.asked;
}

/** What is deleted of a file, once that is known. */
export function deletedShare(
  dataFile: DataFile,
  positions: RoaringBitmap,
  { outputSizeBytes }: Pick<PlannedGroup, 'outputSizeBytes'>,
): DeletedShare {
  const estimate = estimateDeletes({ dataFile, positions, outputSizeBytes });
  return { deletedCount: positions.cardinality, estimate };
}

/** What rewriting a group is expected to take. */
export interface ExpectedWork extends TreatmentEstimate {
  /** Input files whose deleted rows are kept, and deleted anew. */
  readonly carriedFileCount: number;
}

/** Judged by the entries of the group's files and deletes. */
export function expectedWork(
  group: PlannedGroup,
  { base, options }: { readonly base: PlanBase; readonly options: RewriteDataFilesOptions },
): ExpectedWork {
  const work = { decodedBytes: 0, copiedBytes: 0, carriedFileCount: 0 };
  for (const file of group.files) {
    const share = expectedShare(file, group);
    const treatment = chooseTreatment(file, share, { asked: base.deletesTreatment, options });
    const { decodedBytes, copiedBytes } = share.estimate[treatment];
    work.decodedBytes += decodedBytes;
    work.copiedBytes += copiedBytes;
    if (share.deletedCount > 0 && treatment === 'carry') work.carriedFileCount++;
  }
  return work;
}

/**
 * Position deletes are taken to delete a row each, equality deletes too, evenly over the rows of the group; and there is a
 * deleted row in each row group, if there is any.
 */
function expectedShare(
  { recordCount, fileSizeBytes, deletes }: PlannedFile,
  group: PlannedGroup,
): DeletedShare {
  const carry = { decodedBytes: 0, copiedBytes: fileSizeBytes };
  if (deletes === undefined) {
    return { deletedCount: 0, estimate: { carry, purge: carry, deletedBytes: 0 } };
  }
  const { fileScoped, partitionScoped, equality } = deletes;
  const sharedCount = partitionScoped.rowCount + equality.rowCount;
  const ofShared = (sharedCount * recordCount) / Math.max(group.recordCount, 1);
  const deletedCount = Math.min(fileScoped.rowCount + ofShared, recordCount);
  const isAll = deletedCount === recordCount;
  const purge = { decodedBytes: isAll ? 0 : fileSizeBytes, copiedBytes: 0 };
  const deletedBytes = (fileSizeBytes * deletedCount) / Math.max(recordCount, 1);
  return { deletedCount, estimate: { carry, purge, deletedBytes } };
}
