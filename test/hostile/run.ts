/**
 * Corrupts tables in every way that a byte can be wrong, and compacts each: nothing may crash, hang, take memory
 * without bound or delete, and what commits must hold the rows that a slow reader finds in the corrupted input. Formats
 * that a compaction does not read, or only in part, are corrupted and read by themselves.
 *
 *     npm run test:hostile -- [--seeds N] [--seed S] [--only TARGET] [--case N] [--verbose]
 */
import { parseArgs } from 'node:util';
import { FORMAT_TARGETS } from './format-targets.ts';
import { printFailures, printTable, type TargetReport } from './report.ts';
import { runTargets } from './runner.ts';
import { TARGETS, TEXT_STRIDE } from './targets.ts';

/** As many as it takes to change every byte of the texts too. */
const SEEDS_DEFAULT = TEXT_STRIDE;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: String(SEEDS_DEFAULT) },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    case: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

const firstSeed = wholeNumber('seed', values.seed);
const seedCount = values.case === undefined ? wholeNumber('seeds', values.seeds) : 1;
const seeds = Array.from({ length: seedCount }, (_, index) => firstSeed + index);
const targets = [...FORMAT_TARGETS, ...TARGETS].filter(
  ({ name }) => values.only === undefined || name.startsWith(values.only),
);
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

print(`seeds ${seeds[0]} to ${seeds.at(-1)}, ${targets.length} targets`);
const reports: readonly TargetReport[] = await runTargets({
  targets,
  seeds,
  ...(values.case === undefined ? {} : { onlyCase: wholeNumber('case', values.case) }),
  isVerbose: values.verbose,
  print,
});
printTable(reports, print);
const failedCount = printFailures(reports, print);
const passedCount = reports.reduce((sum, report) => sum + report.caseCount, 0) - failedCount;
print(`${passedCount} passed, ${failedCount} failed`);
process.exitCode = failedCount === 0 && reports.length > 0 ? 0 : 1;

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  process.stderr.write(`--${name}: '${text}' is not a whole number\n`);
  process.exit(2);
}
