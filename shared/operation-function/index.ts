/**
 * What the function of an operation does with the messages of its queue: each is parsed, its table maintained as far as
 * that is allowed, and how it ended told to the ledger, the queue and the log. Knows no operation; the functions say which.
 */
export { type EndedOperation, type Ending, endingOfError, endingOfOutcome } from './ending.ts';
export {
  createOperationHandler,
  type ExecutionAnswer,
  type ExecutionEvent,
  type Handler,
  type HandlerContext,
  type HandlerPorts,
  type OperationAnswer,
} from './handler.ts';
export { guardFields, requestFields } from './log-fields.ts';
export type { FunctionRun, OperationJob } from './run-table.ts';
