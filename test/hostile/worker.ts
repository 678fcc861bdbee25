import { watchAllocations } from './allocation-watch.ts';
import type { HostileCase } from './hostile-case.ts';
import type { CaseReport, TargetRequest, WorkerMessage } from './messages.ts';
import { type CaseResult, runCase } from './run-case.ts';
import { loadTargetTable, TARGETS, type TargetTable } from './targets.ts';

/** No table here is larger than 64 KiB; what is written is buffered in pieces of some MiB at most. */
const ALLOCATION_BYTES_MAX = 32 * 1024 * 1024;

/** Growth of the highest resident size within one case; garbage of earlier cases is part of it. */
const GROWN_BYTES_MAX = 160 * 1024 * 1024;

const KIB = 1024;

const allocations = watchAllocations();
const tables = new Map<string, Promise<TargetTable>>();

process.on('message', (request: TargetRequest) => {
  runTarget(request).catch((error: unknown) => {
    process.stderr.write(`${String(error instanceof Error ? error.stack : error)}\n`);
    process.exit(1);
  });
});

async function runTarget({ targetName, seed, firstCase, onlyCase }: TargetRequest): Promise<void> {
  const target = TARGETS.find(({ name }) => name === targetName)!;
  const table = tables.get(target.tableName) ?? loadTargetTable(target.tableName);
  tables.set(target.tableName, table);
  let caseNumber = 0;
  for (const each of target.cases(await table, seed)) {
    const number = caseNumber++;
    if (number < firstCase || (onlyCase !== undefined && number !== onlyCase)) continue;
    send({ type: 'begin', caseNumber: number, label: each.label });
    send({ type: 'case', ...(await measure(await table, each, number)) });
  }
  send({ type: 'done' });
}

async function measure(
  { base }: TargetTable,
  each: HostileCase,
  caseNumber: number,
): Promise<CaseReport> {
  allocations.takeBytesMax();
  const residentBytes = residentBytesMax();
  const startMs = performance.now();
  const result = await runCase(base, each.corruption, each);
  const durationMs = performance.now() - startMs;
  const allocatedBytesMax = allocations.takeBytesMax();
  const grownBytes = residentBytesMax() - residentBytes;
  const overLimit = overLimitText(allocatedBytesMax, grownBytes);
  const judged: CaseResult =
    overLimit === undefined
      ? result
      : { outcome: 'FAILED', detail: `${overLimit}; ${result.detail}` };
  return {
    caseNumber,
    label: each.label.slice(0, 300),
    outcome: judged.outcome,
    detail: judged.detail.slice(0, 2000),
    allocatedBytesMax,
    grownBytes,
    durationMs,
  };
}

function overLimitText(allocatedBytesMax: number, grownBytes: number): string | undefined {
  if (allocatedBytesMax > ALLOCATION_BYTES_MAX) {
    return `allocated ${allocatedBytesMax} bytes at once, limit ${ALLOCATION_BYTES_MAX}`;
  }
  if (grownBytes > GROWN_BYTES_MAX) return `grew by ${grownBytes} bytes, limit ${GROWN_BYTES_MAX}`;
  return undefined;
}

function residentBytesMax(): number {
  return process.resourceUsage().maxRSS * KIB;
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}
