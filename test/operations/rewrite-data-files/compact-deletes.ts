import { NO_DEADLINE, silentLogger } from '../../../shared/base/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import type { OperationPorts, OptionTexts } from '../../../shared/maintenance/index.ts';
import {
  type RewriteDataFilesOutcome,
  type RewriteDataFilesRequest,
  rewriteDataFiles,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import type { Warehouse } from '../rewrite-deletes/deletes-fixture.ts';

/** Compacts the table of a warehouse with deletes. */
export async function compact(
  { writer, nextRunId, ...ports }: Warehouse,
  options: OptionTexts = {},
  {
    ports: other,
    ...request
  }: Partial<RewriteDataFilesRequest> & { readonly ports?: Partial<OperationPorts> } = {},
): Promise<RewriteDataFilesOutcome> {
  return rewriteDataFiles(
    {
      table: await writer.load(),
      options,
      mode: 'commit',
      runId: nextRunId(),
      guards: LOWERED_GUARD_SETTINGS,
      ...request,
    },
    { ...ports, deadline: NO_DEADLINE, logger: silentLogger, ...other },
  );
}
