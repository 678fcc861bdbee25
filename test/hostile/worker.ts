import { watchAllocations } from './allocation-watch.ts';
import { FORMAT_TARGETS, type FormatCase } from './format-targets.ts';
import type { CaseReport, TargetRequest, WorkerMessage } from './messages.ts';
import { type CaseResult, runCase } from './run-case.ts';
import { loadTargetTable, TARGETS, type Target, type TargetTable } from './targets.ts';

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
  let caseNumber = 0;
  for (const each of await casesOf(targetName, seed)) {
    const number = caseNumber++;
    if (number < firstCase || (onlyCase !== undefined && number !== onlyCase)) continue;
    send({ type: 'begin', caseNumber: number, label: each.label });
    send({ type: 'case', ...(await measure(each, number)) });
  }
  send({ type: 'done' });
}

/** The cases of a format, or of a part of a table. */
async function casesOf(targetName: string, seed: number): Promise<Iterable<FormatCase>> {
  const format = FORMAT_TARGETS.find(({ name }) => name === targetName);
  if (format !== undefined) return format.formatCases(seed);
  const target = TARGETS.find(({ name }) => name === targetName)!;
  const table = tables.get(target.tableName) ?? loadTargetTable(target.tableName);
  tables.set(target.tableName, table);
  return tableCases(target, await table, seed);
}

function* tableCases(target: Target, table: TargetTable, seed: number): Generator<FormatCase> {
  for (const each of target.cases(table, seed)) {
    yield { label: each.label, run: () => runCase(table.base, each.corruption, each) };
  }
}

async function measure(each: FormatCase, caseNumber: number): Promise<CaseReport> {
  allocations.takeBytesMax();
  const residentBytes = residentBytesMax();
  const startMs = performance.now();
  const result = await each.run();
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
