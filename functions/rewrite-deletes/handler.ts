import type { SQSEvent } from 'aws-lambda';
import { openDeployment } from '../../shared/deployment/index.ts';
import { coldPartitionRule } from '../../shared/guards/index.ts';
import { MAIN_BRANCH } from '../../shared/iceberg/index.ts';
import {
  createOperationHandler,
  type ExecutionEvent,
  type Handler,
  type HandlerContext,
  type HandlerPorts,
  type OperationAnswer,
  type OperationJob,
} from '../../shared/operation-function/index.ts';
import {
  type RewriteDeletesOutcome,
  rewriteDeletes,
} from '../../shared/operations/rewrite-deletes/index.ts';
import { readFunctionConfig } from './config.ts';
import { outcomeFields } from './outcome-fields.ts';

const JOB: OperationJob<RewriteDeletesOutcome> = {
  operation: 'rewrite-deletes',
  run: ({ onCommitted, ...request }, ports) =>
    rewriteDeletes(
      {
        ...request,
        options: { 'partial-progress.enabled': 'true' },
        onProgress: (progress) => {
          if (progress.step === 'committed') onCommitted(progress.snapshotId, progress.groupCount);
        },
      },
      ports,
    ),
  waitMs: (rules) => coldPartitionRule({ ...rules, branch: MAIN_BRANCH }).coldAgeMs,
  isCut: (outcome) =>
    'plan' in outcome && outcome.plan.skipped['max-files-to-rewrite'] !== undefined,
  outcomeFields,
};

/** Rewrites the deletes of the tables that the messages name; README.md has the contract. */
export function createHandler(ports: HandlerPorts<RewriteDeletesOutcome>): Handler {
  return createOperationHandler(JOB, ports);
}

let deployed: Handler | undefined;

/** What Lambda calls. Clients are made once, at the first call, and kept. */
export async function handler(
  event: SQSEvent | ExecutionEvent,
  context: HandlerContext,
): Promise<OperationAnswer> {
  deployed ??= createHandler(openDeployment(readFunctionConfig()));
  return deployed(event, context);
}
