import { NO_DEADLINE, randomFraction, randomUuid } from '../../../shared/base/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../../shared/guards/index.ts';
import type {
  CommitSummary,
  GroupResult,
  NamedGroup,
  OptionTexts,
} from '../../../shared/maintenance/index.ts';
import {
  deletesOf,
  rewriteDataFiles,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { rewriteDeletes } from '../../../shared/operations/rewrite-deletes/index.ts';
import { loadTable } from '../../../shared/table/index.ts';
import {
  claimOf,
  FIRN_OPTIONS,
  type FirnClaim,
  type FirnRun,
  untilNotBusy,
} from '../actors/firn.ts';
import type { ActorPorts } from '../ports.ts';
import { IDENTIFIER } from '../world.ts';

/** Compaction or the other operation, which leaves more to the next run, with thresholds that are soon reached. */
export const runCompactionOrDeletes: FirnRun = (ports, options) => {
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(randomFraction(ports.random) * items.length)]!;
  if (pick([true, true, false, false, false])) {
    const thresholds = pick<OptionTexts>([
      {},
      { 'delete-file-threshold': '1' },
      { 'rewrite-all': 'true' },
    ]);
    const ratio = pick<OptionTexts>([{}, { 'delete-ratio-threshold': '0.1' }]);
    return compact(ports, { ...options, ...thresholds, ...ratio });
  }
  const { 'partial-progress.enabled': isPartial } = options;
  return rewrite(ports, {
    'delete-file-threshold': pick(['1', '2']),
    'equality-delete-file-threshold': pick(['1', '2', '1000']),
    'puffin-garbage-ratio-threshold': pick(['0.01', '0.2', '0.5']),
    ...pick<OptionTexts>([{}, { 'rewrite-all': 'true' }]),
    ...(isPartial === undefined ? {} : { 'partial-progress.enabled': isPartial }),
  });
};

/** One run of compaction that leaves nothing to do, and one of the other operation. */
export const LAST_RUNS: readonly ((ports: ActorPorts) => Promise<FirnClaim>)[] = [
  (ports) => compact(ports, FIRN_OPTIONS),
  (ports) => rewrite(ports, { 'rewrite-all': 'true' }),
];

function compact(ports: ActorPorts, options: OptionTexts): Promise<FirnClaim> {
  return untilNotBusy(ports, () =>
    claimOf(options, async () => {
      const outcome = await rewriteDataFiles(await request(ports, options), operationPorts(ports));
      if (!('groups' in outcome)) return outcome;
      countEndings('compaction', outcome, ports);
      const { formatVersion } = outcome.plan.base;
      const done = deletesOf(outcome);
      const count = countIn(ports);
      if (done.purgedRowCount > 0) count('compactions that purged rows');
      if (done.carriedRowCount > 0) count(`compactions that carried rows along, v${formatVersion}`);
      if (done.carriedOverRowCount > 0) {
        count(`compactions that carried new deletes over, v${formatVersion}`);
      }
      return outcome;
    }),
  );
}

function rewrite(ports: ActorPorts, options: OptionTexts): Promise<FirnClaim> {
  return untilNotBusy(ports, () =>
    claimOf(options, async () => {
      const outcome = await rewriteDeletes(await request(ports, options), operationPorts(ports));
      if (!('groups' in outcome)) return outcome;
      countEndings('rewrite-deletes', outcome, ports);
      for (const { copies } of outcome.commits.length > 0 ? outcome.plan.groups : []) {
        if (copies.length > 0) countIn(ports)('vectors copied out of sparse Puffin files');
      }
      return outcome;
    }),
  );
}

async function request(ports: ActorPorts, options: OptionTexts) {
  return {
    table: await loadTable(IDENTIFIER, ports),
    options,
    mode: 'commit' as const,
    runId: randomUuid(ports.random),
    guards: LOWERED_GUARD_SETTINGS,
  };
}

function operationPorts(ports: ActorPorts) {
  return { ...ports, deadline: NO_DEADLINE };
}

function countEndings(
  operation: string,
  {
    groups,
    commits,
  }: {
    readonly groups: readonly GroupResult<NamedGroup>[];
    readonly commits: readonly CommitSummary[];
  },
  ports: ActorPorts,
): void {
  const count = countIn(ports);
  for (const group of groups) {
    if (group.state === 'dropped') count(`groups of ${operation} dropped: ${group.reason}`);
  }
  if (commits.some(({ attemptCount }) => attemptCount > 1)) {
    count(`${operation} with several attempts`);
  }
}

/** The logger of an actor counts what it is told. */
function countIn({ logger }: ActorPorts): (what: string) => void {
  return (what) => logger.debug(what, '');
}
