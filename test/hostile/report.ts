import type { CaseReport } from './messages.ts';

/** What became of the cases of one target, over all seeds. */
export interface TargetReport {
  readonly name: string;
  caseCount: number;
  readonly countByOutcome: Map<string, number>;
  readonly failures: { readonly seed: number; readonly report: CaseReport }[];
  allocatedBytesMax: number;
  grownBytesMax: number;
  durationMsMax: number;
}

/** Failures printed for each target; the others are most often the same ones. */
const FAILURES_SHOWN_MAX = 12;

export function emptyReport(name: string): TargetReport {
  return {
    name,
    caseCount: 0,
    countByOutcome: new Map(),
    failures: [],
    allocatedBytesMax: 0,
    grownBytesMax: 0,
    durationMsMax: 0,
  };
}

export function addCase(target: TargetReport, seed: number, report: CaseReport): void {
  target.caseCount++;
  const count = target.countByOutcome.get(report.outcome) ?? 0;
  target.countByOutcome.set(report.outcome, count + 1);
  if (report.outcome === 'FAILED') target.failures.push({ seed, report });
  target.allocatedBytesMax = Math.max(target.allocatedBytesMax, report.allocatedBytesMax);
  target.grownBytesMax = Math.max(target.grownBytesMax, report.grownBytes);
  target.durationMsMax = Math.max(target.durationMsMax, report.durationMs);
}

/** Targets by outcomes, sums, and the worst of time and memory. */
export function printTable(reports: readonly TargetReport[], print: (line: string) => void): void {
  const outcomes = [
    ...new Set(reports.flatMap((report) => [...report.countByOutcome.keys()])),
  ].sort();
  const sum = (outcome: string): number =>
    reports.reduce((total, report) => total + (report.countByOutcome.get(outcome) ?? 0), 0);
  print('');
  for (const report of reports) {
    print(`${report.name}: ${report.caseCount} cases`);
    for (const outcome of outcomes) {
      const count = report.countByOutcome.get(outcome) ?? 0;
      if (count > 0) print(`  ${String(count).padStart(7)}  ${outcome}`);
    }
  }
  print('\nall targets');
  for (const outcome of outcomes) print(`  ${String(sum(outcome)).padStart(7)}  ${outcome}`);
  const worst = (of: (report: TargetReport) => number): number => Math.max(...reports.map(of), 0);
  print(`largest allocation at once: ${worst((report) => report.allocatedBytesMax)} bytes`);
  print(
    `largest growth of the process in a case: ${worst((report) => report.grownBytesMax)} bytes`,
  );
  print(`longest case: ${Math.round(worst((report) => report.durationMsMax))} ms`);
}

/** Failures with how to run each again; returns how many there are. */
export function printFailures(
  reports: readonly TargetReport[],
  print: (line: string) => void,
): number {
  let failedCount = 0;
  for (const { name, failures } of reports) {
    failedCount += failures.length;
    for (const { seed, report } of failures.slice(0, FAILURES_SHOWN_MAX)) {
      print(`\nFAILED ${name}: ${report.label}`);
      print(
        `  again: npm run test:hostile -- --seed ${seed} --only ${name} --case ${report.caseNumber}`,
      );
      print(`  ${report.detail.replaceAll('\n', '\n  ')}`);
    }
    const hiddenCount = failures.length - FAILURES_SHOWN_MAX;
    if (hiddenCount > 0) print(`\n${name}: ${hiddenCount} more failures`);
  }
  return failedCount;
}
