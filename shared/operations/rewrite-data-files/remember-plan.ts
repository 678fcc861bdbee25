import { isIcebergError, type Logger } from '../../base/index.ts';
import { formatTableIdentifier } from '../../catalog/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import { requireStateOutside, type Table } from '../../table/index.ts';
import type { RewriteGroupResult } from './outcome.ts';
import { serializePlanState } from './plan-state-bytes.ts';
import type { PlannedTable } from './plan-table.ts';

const STATE_NAME = 'rewrite-data-files.plan';

/**
 * Keeps what the next plan can go on from, where it is to be kept, and returns its location. Where it cannot be written, what was
 * kept before still holds, since it speaks for its own snapshot; so that is no failure of the run. One PUT.
 */
export async function rememberPlan(
  { nextState }: PlannedTable,
  groups: readonly RewriteGroupResult[],
  {
    table,
    ledger,
    logger,
  }: { readonly table: Table; readonly ledger?: Ledger; readonly logger: Logger },
): Promise<{ readonly planStateLocation?: string }> {
  const committed = groups.filter(({ state }) => state === 'committed');
  const state = nextState(new Set(committed.map(({ groupIndex }) => groupIndex)));
  if (state === undefined || ledger === undefined) return {};
  const tableName = formatTableIdentifier(table.identifier);
  try {
    requireStateOutside(ledger.statePrefix, table.metadata);
    const bytes = serializePlanState(state);
    if (bytes === undefined) {
      logger.debug('plan-state.too-large', 'the next plan will be of the whole table');
      return {};
    }
    const name = { table: tableName, name: STATE_NAME };
    return { planStateLocation: await ledger.sidecars.write(name, bytes) };
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    logger.warn('plan-state.unwritten', error.message, { kind: error.kind });
    return {};
  }
}
