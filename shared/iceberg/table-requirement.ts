import { assertNever, IcebergError } from '../base/index.ts';
import type { TableMetadata } from './metadata-types.ts';

/** What must hold of the table when a commit lands, under the type names of the REST catalog's specification. */
export type TableRequirement =
  | { readonly type: 'assert-table-uuid'; readonly uuid: string }
  | {
      readonly type: 'assert-ref-snapshot-id';
      readonly ref: string;
      /** Absent: the reference must not exist. */
      readonly snapshotId?: bigint;
    };

/**
 * Checks a requirement against the table as it is now.
 *
 * @throws commit-rejected — when the table is another one than expected: no retry can help
 * @throws commit-conflict — when a reference has moved: plan again on the new head
 */
export function checkRequirement(metadata: TableMetadata, requirement: TableRequirement): void {
  switch (requirement.type) {
    case 'assert-table-uuid':
      if (metadata.tableUuid?.toLowerCase() === requirement.uuid.toLowerCase()) return;
      throw new IcebergError(
        'commit-rejected',
        `table: uuid is ${metadata.tableUuid ?? 'absent'}, expected ${requirement.uuid}`,
      );
    case 'assert-ref-snapshot-id': {
      const snapshotId = metadata.refs.get(requirement.ref)?.snapshotId;
      if (snapshotId === requirement.snapshotId) return;
      throw new IcebergError(
        'commit-conflict',
        `ref ${requirement.ref}: points to ${snapshotId ?? 'nothing'}, expected ${requirement.snapshotId ?? 'nothing'}`,
      );
    }
    default:
      assertNever(requirement, 'table requirement');
  }
}
