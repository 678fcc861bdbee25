import type { SQSEvent } from 'aws-lambda';
import { openDeployment } from '../../shared/deployment/index.ts';
import { fileAgeRule } from '../../shared/guards/index.ts';
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
  type RewriteDataFilesOutcome,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { readFunctionConfig } from './config.ts';
import { outcomeFields } from './outcome-fields.ts';

const JOB: OperationJob<RewriteDataFilesOutcome> = {
  operation: 'rewrite-data-files',
  run: ({ onCommitted, ...request }, ports) =>
    rewriteDataFiles(
      {
        ...request,
        options: { 'partial-progress.enabled': 'true' },
        onProgress: (progress) => {
          if (progress.step === 'committed') onCommitted(progress.snapshotId, progress.groupCount);
        },
      },
      ports,
    ),
  waitMs: (rules) => fileAgeRule(rules).minFileAgeMs,
  isCut: (outcome) =>
    'plan' in outcome && outcome.plan.skippedFiles['max-files-to-rewrite'] !== undefined,
  outcomeFields,
};

/** Compacts the tables that the messages name; README.md has the contract. */
export function createHandler(ports: HandlerPorts<RewriteDataFilesOutcome>): Handler {
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
