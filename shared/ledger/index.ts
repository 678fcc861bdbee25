/**
 * What Firn remembers of tables outside of them: leases with fencing numbers, runs with the objects they may have
 * written and their intents, tombstones, reports, what was seen of each table and when it is due. One item at a
 * time, each changed on condition of its revision, in a DynamoDB table of Firn's own, a local folder, or memory with
 * faults; what is too large for an item lies in a state store. Decides nothing about tables and reads none; deletes
 * no object. See its README.
 */
export type { ItemRequestCounts } from './counting-item-store.ts';
export { DynamoDbItemStore } from './dynamodb-item-store.ts';
export { createLedgerTable, enableReportExpiry } from './dynamodb-table.ts';
export { FileItemStore, type FileItemStoreOptions } from './file-item-store.ts';
export type { Intent, IntentOutcome, PointerWrite } from './intent.ts';
export type { DueItem, DueQuery, Item, ItemKey, ItemQuery, ItemStore } from './item-store.ts';
export type { Lease, LeaseGrant } from './lease.ts';
export type { LeaseOutcome, LeaseRequest, Leases } from './leases.ts';
export { createLedger, type Ledger, type LedgerOptions } from './ledger.ts';
export {
  type ItemCall,
  type ItemFault,
  type ItemFaults,
  MemoryItemStore,
} from './memory-item-store.ts';
export type { Report, ReportDetails } from './report-record.ts';
export type { ReportPage, ReportQuery, Reports } from './reports.ts';
export type { Run } from './run.ts';
export type { RunOutcome, RunRecord } from './run-record.ts';
export type { OpenRun, Runs } from './runs.ts';
export type { SidecarName, Sidecars } from './sidecars.ts';
export type { StateStore } from './state-store.ts';
export {
  type LookMark,
  type OperationState,
  type OwedMark,
  type PlanMark,
  type SeenMetadata,
  stateDueAtMs,
  type TableState,
} from './table-state.ts';
export type { DueTable, DueTablePage, DueTableQuery, TableStates } from './table-states.ts';
export type { Tombstone, TombstoneBatch, Tombstones } from './tombstones.ts';
