import type { MaintenanceOperation } from '../../events/index.ts';
import { type Snapshot, type TableMetadata, tableProperty } from '../iceberg/index.ts';
import { unmaintainable } from '../maintenance/index.ts';
import { parseRewriteDataFilesOptions } from '../operations/rewrite-data-files/index.ts';
import {
  REWRITE_DATA_FILES_TRIGGERS,
  REWRITE_DELETES_TRIGGERS,
  type TriggerRow,
} from './triggers.ts';

/** What routing knows of one operation. */
export interface OperationRoute {
  readonly operation: MaintenanceOperation;
  readonly triggers: readonly TriggerRow[];
  /** Whether a table is due that was never planned, or whose history is lost; otherwise triggers alone decide. */
  readonly plansUnseen: boolean;
  /** Why nothing is due while no trigger is met, and none will be without another commit. */
  readonly idle: { readonly reason: string; readonly detail: string };
  /** Files below are too small, in bytes. @throws invalid-config — when the table's property is malformed */
  readonly fileSizeBytesMin: (metadata: TableMetadata) => number;
  /** Why the operation never runs on such a table; undefined where it may. */
  readonly refusal: (
    metadata: TableMetadata,
    head: Snapshot,
  ) => { readonly reason: string; readonly detail: string } | undefined;
}

/** One row for each operation, in the order in which they are shown. */
export const OPERATION_ROUTES: readonly OperationRoute[] = [
  {
    operation: 'rewrite-data-files',
    triggers: REWRITE_DATA_FILES_TRIGGERS,
    plansUnseen: true,
    idle: {
      reason: 'nothing-added',
      detail: 'no files were added since the last plan',
    },
    fileSizeBytesMin: ({ properties }) => {
      const targetBytes = tableProperty(properties, 'write.target-file-size-bytes');
      return parseRewriteDataFilesOptions({}, targetBytes).fileSizeBytesMin;
    },
    refusal: (metadata, head) => unmaintainable({ metadata }, head),
  },
  {
    operation: 'rewrite-deletes',
    triggers: REWRITE_DELETES_TRIGGERS,
    // Most tables have no deletes, and need not be planned to find that out.
    plansUnseen: false,
    idle: {
      reason: 'few-deletes',
      detail: 'too few delete files were added since the last plan',
    },
    fileSizeBytesMin: () => 0,
    refusal: (metadata, head) => unmaintainable({ metadata }, head),
  },
];
