import { type MaintenanceOperation, serializeMaintenanceRequest } from '../../events/index.ts';
import { formatTableIdentifier, type TableIdentifier } from '../catalog/index.ts';
import type { LookPorts } from './look-at-table.ts';
import { NEW_OPERATION } from './routing-view.ts';
import { queued } from './state-after-look.ts';

export interface OperationRequest {
  readonly identifier: TableIdentifier;
  readonly operation: MaintenanceOperation;
  /** Who asked, and why; up to 1,024 characters. */
  readonly reason: string;
  readonly correlationId: string;
}

export type RequestOutcome = { readonly table: string } & (
  | { readonly outcome: 'queued' }
  /** A message was sent less than the interval ago: the run that answers it, or the one after, does this as well. */
  | { readonly outcome: 'rate-limited' }
);

/**
 * Asks for a run, whatever the triggers say. It is no permission: the run observes where the table is not allowed, and waits
 * where a rule holds it back. One read and one write of the ledger, and one message; many requests for one
 * table become two runs at most.
 *
 * @throws unavailable, access-denied, not-found, invalid-config — as the ledger or the queue demands
 */
export async function requestOperation(
  { identifier, operation, reason, correlationId }: OperationRequest,
  { ledger, queues, settings, clock }: Pick<LookPorts, 'ledger' | 'queues' | 'settings' | 'clock'>,
): Promise<RequestOutcome> {
  const table = formatTableIdentifier(identifier);
  const before = (await ledger.states.read(table))?.operations[operation] ?? NEW_OPERATION;
  const nowMs = clock.nowMs();
  const isLimited =
    before.queuedAtMs !== undefined && nowMs < before.queuedAtMs + settings.routingIntervalMsFloor;
  if (!isLimited) {
    const { roundCount } = before;
    const body = { operation, table, reason, correlationId, round: roundCount };
    await queues[operation].send({ body: serializeMaintenanceRequest(body), groupId: table });
  }
  await ledger.states.change(table, (state) => {
    const current = state.operations[operation] ?? NEW_OPERATION;
    const owed = { reason: 'request', atMs: nowMs, sinceMs: nowMs };
    const asked =
      isLimited && current.queuedAtMs !== undefined
        ? { ...current, owed }
        : queued({ ...current, owed }, 'request', nowMs);
    return { ...state, operations: { ...state.operations, [operation]: asked } };
  });
  return { table, outcome: isLimited ? 'rate-limited' : 'queued' };
}
