import type { Outcome } from './run-case.ts';

/** From the runner: which cases of which target. */
export interface TargetRequest {
  readonly targetName: string;
  readonly seed: number;
  /** Begin here, after a case that had to be stopped. */
  readonly firstCase: number;
  /** Run this one alone. */
  readonly onlyCase?: number;
}

/** From the worker: a case begins, a case is over, the target is done. */
export type WorkerMessage =
  | { readonly type: 'begin'; readonly caseNumber: number; readonly label: string }
  | ({ readonly type: 'case' } & CaseReport)
  | { readonly type: 'done' };

export interface CaseReport {
  readonly caseNumber: number;
  readonly label: string;
  readonly outcome: Outcome;
  readonly detail: string;
  /** The largest single allocation, and by how much the highest resident size grew. */
  readonly allocatedBytesMax: number;
  readonly grownBytes: number;
  readonly durationMs: number;
}
