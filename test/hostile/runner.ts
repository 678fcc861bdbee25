import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { TargetRequest, WorkerMessage } from './messages.ts';
import { addCase, emptyReport, type TargetReport } from './report.ts';

/** A case takes some milliseconds; the first of a table also loads it. */
const HANG_MS = 30_000;

const WORKER_HEAP_MIB_MAX = 512;
const WORKERS_MAX = 4;

export interface RunTargetsOptions {
  readonly targets: readonly { readonly name: string }[];
  readonly seeds: readonly number[];
  readonly onlyCase?: number;
  readonly isVerbose: boolean;
  readonly print: (line: string) => void;
}

/** Runs every target for every seed in worker processes, and watches that each goes on. */
export async function runTargets(options: RunTargetsOptions): Promise<readonly TargetReport[]> {
  const { targets, seeds, onlyCase, print } = options;
  const reports = targets.map(({ name }) => emptyReport(name));
  const queue = seeds.flatMap((seed) => reports.map((report) => ({ seed, report })));
  const workerCount = Math.min(availableParallelism(), WORKERS_MAX, queue.length);
  await Promise.all(
    Array.from({ length: workerCount }, async () => {
      const worker = new Worker();
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { seed, report } = next;
        const { caseCount } = report;
        const request = { targetName: report.name, seed, firstCase: 0 };
        await worker.run(
          onlyCase === undefined ? request : { ...request, onlyCase },
          report,
          options,
        );
        const failedCount = report.failures.filter((failure) => failure.seed === seed).length;
        print(
          `seed ${seed} ${report.name}: ${report.caseCount - caseCount} cases, ${failedCount} failed`,
        );
        if (report.caseCount === caseCount && onlyCase === undefined) {
          addCase(report, seed, stopped('no cases', { caseNumber: 0, label: 'the target' }));
        }
      }
      worker.stop();
    }),
  );
  return reports;
}

interface BegunCase {
  readonly caseNumber: number;
  readonly label: string;
}

/** A worker process, replaced by a new one whenever it hangs or dies. */
class Worker {
  #child: ChildProcess | undefined;

  /** Runs a target to its end, with as many processes as that takes. */
  async run(
    request: TargetRequest,
    report: TargetReport,
    options: RunTargetsOptions,
  ): Promise<void> {
    let firstCase: number | undefined = request.firstCase;
    while (firstCase !== undefined) {
      const ended = await this.#runOnce({ ...request, firstCase }, report, options);
      if (ended !== undefined) {
        this.stop();
        const begun = ended.begun ?? { caseNumber: firstCase, label: 'before its first case' };
        addCase(report, request.seed, stopped(ended.reason, begun));
        // A worker that never came to a case would not come to one again.
        firstCase = ended.begun === undefined ? undefined : ended.begun.caseNumber + 1;
      } else firstCase = undefined;
    }
  }

  stop(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  /** Undefined when the target is done, else why and at which case the process ended. */
  #runOnce(
    request: TargetRequest,
    report: TargetReport,
    { isVerbose, print }: RunTargetsOptions,
  ): Promise<{ readonly reason: string; readonly begun: BegunCase | undefined } | undefined> {
    this.#child ??= startWorker();
    const child = this.#child;
    return new Promise((resolve) => {
      let begun: BegunCase | undefined;
      let timer: NodeJS.Timeout;
      const end = (reason?: string): void => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(reason === undefined ? undefined : { reason, begun });
      };
      const watch = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => end(`no progress for ${HANG_MS} ms`), HANG_MS);
      };
      child.on('message', (message: WorkerMessage) => {
        watch();
        if (message.type === 'begin') begun = message;
        if (message.type === 'case') {
          addCase(report, request.seed, message);
          if (isVerbose) print(`${message.label}: ${message.outcome} ${message.detail}`);
        }
        if (message.type === 'done') end();
      });
      child.on('exit', (code, signal) => end(`the process ended with ${code ?? signal}`));
      watch();
      child.send(request);
    });
  }
}

function startWorker(): ChildProcess {
  return fork(new URL('worker.ts', import.meta.url), {
    execArgv: [`--max-old-space-size=${WORKER_HEAP_MIB_MAX}`],
  });
}

function stopped(reason: string, { caseNumber, label }: BegunCase) {
  return {
    caseNumber,
    label,
    outcome: 'FAILED' as const,
    detail: reason,
    allocatedBytesMax: 0,
    grownBytes: 0,
    durationMs: 0,
  };
}
