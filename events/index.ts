/**
 * The contracts of everything that reaches a function from outside, one folder for each with its versions, samples
 * and a README. A parser gives the value or one line that says why there is none, and never throws. What AWS adds to
 * an envelope is tolerated; what is not known in Firn's own parts is refused.
 */
export {
  type CatalogRecord,
  type CatalogSubject,
  parseCatalogRecord,
  parseCatalogStreamEvent,
  sequenceNumberOf,
} from './catalog-stream/v1/schema.ts';
export {
  FIRN_REQUEST_DETAIL_TYPE,
  type FirnRequest,
  parseFirnRequest,
} from './firn-request/v1/schema.ts';
export {
  MAINTENANCE_OPERATIONS,
  type MaintenanceOperation,
  type MaintenanceRequest,
  parseMaintenanceRequest,
  serializeMaintenanceRequest,
} from './maintenance-request/v2/schema.ts';
export type { Parsed } from './parsed.ts';
export { parseRewriteExecution, type RewriteExecution } from './rewrite-execution/v1/schema.ts';
export { parseSweepRequest, type SweepRequest } from './sweep-request/v1/schema.ts';
