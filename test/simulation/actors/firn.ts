import {
  type ErrorKind,
  isIcebergError,
  NO_DEADLINE,
  randomUuid,
} from '../../../shared/base/index.ts';
import { formatTableIdentifier } from '../../../shared/catalog/index.ts';
import {
  DEFAULT_GUARD_SETTINGS,
  type DeploymentSwitches,
  type GuardSettings,
  LOWERED_GUARD_SETTINGS,
  permissionFor,
} from '../../../shared/guards/index.ts';
import type { OptionTexts } from '../../../shared/maintenance/index.ts';
import { rewriteDataFiles } from '../../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../../shared/table/index.ts';
import type { Chance } from '../chance.ts';
import type { ActorPorts } from '../ports.ts';
import { IDENTIFIER } from '../world.ts';

/** What a run says of itself, to be held against what the catalog saw. */
export type FirnClaim =
  /** It ended well, and these are all the snapshots that it committed. */
  | { readonly ended: 'well'; readonly outcome: string; readonly snapshotIds: readonly bigint[] }
  /** It gave up, and none of its pointer writes was applied or ever will be. */
  | { readonly ended: 'uncommitted'; readonly kind: ErrorKind }
  /** It gave up, and says nothing about its pointer writes. */
  | { readonly ended: 'unknown'; readonly kind: ErrorKind };

export type FirnRun = (ports: ActorPorts, options: OptionTexts) => Promise<FirnClaim>;

/** Everything is small here, and two files are worth a rewrite. */
export const FIRN_OPTIONS: OptionTexts = { 'min-input-files': '2' };

const NEVER_KINDS: readonly ErrorKind[] = [
  'invariant',
  'invalid-data',
  'unsupported',
  'invalid-config',
  'access-denied',
];

/** Several groups, several commits, or one of everything. */
export function chooseOptions(chance: Chance): OptionTexts {
  return {
    ...FIRN_OPTIONS,
    ...(chance.is(0.5) ? { 'max-file-group-input-files': chance.pick(['2', '3']) } : {}),
    ...(chance.is(0.2) ? { 'partial-progress.enabled': 'true' } : {}),
  };
}

/** A message that finds the table busy comes again. */
const DELIVERIES_MAX = 5;
const REDELIVERY_MS = 5_000;

/** One run of compaction, as a function or a person starts it; as often as it takes to get the table's lease. */
export const runFirn: FirnRun = (ports, options) =>
  untilNotBusy(ports, () =>
    compact({ mode: 'commit', guards: LOWERED_GUARD_SETTINGS, options }, ports),
  );

/** Runs again, as a queue would, while somebody else has the table's lease. */
export async function untilNotBusy(
  { clock }: Pick<ActorPorts, 'clock'>,
  run: () => Promise<FirnClaim>,
): Promise<FirnClaim> {
  for (let delivery = 1; ; delivery++) {
    const said = await run();
    const isBusy = said.ended === 'well' && said.outcome === 'busy';
    if (!isBusy || delivery === DELIVERIES_MAX) return said;
    await clock.sleepMs(REDELIVERY_MS);
  }
}

/** As a deployment is shipped: it names no table, and none has been enabled. */
const SHIPPED_SWITCHES: DeploymentSwitches = { enabledTables: [], isObserving: false };

/** One run as a fresh deployment makes it, with all its defaults. */
export const runFirnAsShipped: FirnRun = (ports) =>
  compact({ mode: 'as-permitted', guards: DEFAULT_GUARD_SETTINGS, options: {} }, ports);

interface Compaction {
  readonly mode: 'commit' | 'as-permitted';
  readonly guards: GuardSettings;
  readonly options: OptionTexts;
}

function compact({ mode, guards, options }: Compaction, ports: ActorPorts): Promise<FirnClaim> {
  return claimOf(options, async () => {
    const table = await loadTable(IDENTIFIER, ports);
    const { properties } = table.metadata;
    const permission = permissionFor(
      formatTableIdentifier(IDENTIFIER),
      properties,
      SHIPPED_SWITCHES,
    );
    return rewriteDataFiles(
      {
        table,
        options,
        mode: mode === 'commit' ? mode : permission.mode,
        runId: randomUuid(ports.random),
        guards,
      },
      { ...ports, deadline: NO_DEADLINE },
    );
  });
}

/** What a run of any operation says of itself. */
export async function claimOf(
  options: OptionTexts,
  run: () => Promise<{
    readonly outcome: string;
    readonly commits?: readonly { readonly snapshotId: bigint }[];
  }>,
): Promise<FirnClaim> {
  try {
    const { outcome, commits = [] } = await run();
    return { ended: 'well', outcome, snapshotIds: commits.map(({ snapshotId }) => snapshotId) };
  } catch (error) {
    // Whatever others do and whatever goes wrong, its own proposals hold and it can read what it finds.
    if (!isIcebergError(error) || NEVER_KINDS.includes(error.kind)) throw error;
    if (error.kind === 'not-found' && !('table' in error.context)) throw error;
    const { kind } = error;
    // With partial progress, batches before the one that failed are committed.
    const isSilent = kind === 'commit-state-unknown' || 'partial-progress.enabled' in options;
    return { ended: isSilent ? 'unknown' : 'uncommitted', kind };
  }
}
