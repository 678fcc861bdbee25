import { isIcebergError, NO_DEADLINE, randomUuid, silentLogger } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { formatInstant, printable } from '../../shared/display/index.ts';
import { DEFAULT_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import type { Report, TableState } from '../../shared/ledger/index.ts';
import {
  outcomeToJson,
  type RewriteDataFilesOutcome,
  rewriteDataFiles,
} from '../../shared/operations/rewrite-data-files/index.ts';
import { loadTable, REWRITE_LEASE } from '../../shared/table/index.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { describeLastPlan, lastPlanToJson } from './describe-last-plan.ts';
import { describeOutcome } from './describe-outcome.ts';
import { describePlan } from './describe-plan.ts';
import { describeRouting, routingAnswer, routingToJson } from './describe-routing.ts';
import { describeReports, reportToJson } from './history.ts';
import { propertyWarnings } from './property-warnings.ts';

export interface WhyRequest {
  readonly table: string;
  readonly branch: string;
}

/** What the ledger knows of a table; the command is of use without one, too. */
type LedgerView =
  | {
      /** Who works on the table now. */
      readonly holder: { readonly owner: string; readonly expiresAtMs: number } | undefined;
      readonly reports: readonly Report[];
      /** Undefined where no deployment has looked at the table. */
      readonly state: TableState | undefined;
    }
  | { readonly problem: string };

/** The last run, and the skips since. */
const REPORT_COUNT = 5;

/** `firn why`: what is due and what is not, by the same plan and rules that a run would follow. Writes nothing. */
export async function why(
  { table: name, branch }: WhyRequest,
  session: Session,
): Promise<ExitCode> {
  const { warehouse, clock, random, progress } = session;
  progress.update(`${name}: reading metadata`);
  const table = await loadTable(parseTableIdentifier(name), { ...warehouse, clock });
  progress.update(`${name}: reading manifests`);
  const outcome = await rewriteDataFiles(
    {
      table,
      branch,
      options: {},
      mode: 'observe',
      runId: randomUuid(random),
      guards: DEFAULT_GUARD_SETTINGS,
    },
    {
      catalog: warehouse.catalog,
      store: warehouse.store,
      clock,
      random,
      deadline: NO_DEADLINE,
      logger: silentLogger,
    },
  );
  const ledger = await readLedger(name, session);
  progress.clear();
  const state = 'problem' in ledger ? undefined : ledger.state;
  const { metadata } = table;
  const routing = routingAnswer(name, { metadata, state, nowMs: clock.nowMs() });
  const { properties } = table.metadata;
  const warnings = propertyWarnings(properties);
  if (session.isJson) {
    session.printJson({
      table: name,
      enabled: properties['firn.enabled'] ?? null,
      'rewrite-data-files': outcomeToJson(outcome),
      routing: routingToJson(routing),
      lastPlan: lastPlanToJson(state),
      ...ledgerToJson(ledger),
      warnings,
    });
  } else {
    session.print([
      ...warnings.map((warning) => `warning: ${printable(warning)}`),
      ...describeDue(name, outcome, session.widthMax),
      enabledText(properties['firn.enabled']),
      '',
      ...describeRouting(routing, { hasState: state !== undefined, widthMax: session.widthMax }),
      ...describeLastPlan(state),
      '',
      ...describeLedger(name, ledger, session.widthMax),
    ]);
  }
  return outcome.outcome === 'observed' ? EXIT_CODES.done : EXIT_CODES.nothingToDo;
}

/** A ledger that is missing or out of reach is told, and the rest is told all the same. */
async function readLedger(table: string, { warehouse }: Session): Promise<LedgerView> {
  try {
    const ledger = warehouse.openLedger();
    const holder = await ledger.leases.holder({ table, scope: REWRITE_LEASE });
    const { reports } = await ledger.reports.list({ table, reportCountMax: REPORT_COUNT });
    return { holder, reports, state: await ledger.states.read(table) };
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    return { problem: error.message };
  }
}

function ledgerToJson(view: LedgerView) {
  if ('problem' in view) return { ledger: { problem: view.problem } };
  const { holder, reports } = view;
  return { ledger: { holder: holder ?? null, reports: reports.map(reportToJson) } };
}

function describeDue(
  name: string,
  outcome: RewriteDataFilesOutcome,
  widthMax: number | undefined,
): string[] {
  const plan = 'plan' in outcome ? describePlan(name, outcome, widthMax) : [];
  return [...plan, ...describeOutcome(name, outcome)];
}

function enabledText(enabled: string | undefined): string {
  return enabled === undefined
    ? 'the table has no firn.enabled: deployments change it only if their list names it'
    : `the table has firn.enabled=${printable(enabled)}`;
}

function describeLedger(name: string, view: LedgerView, widthMax: number | undefined): string[] {
  if ('problem' in view) return [`no history: ${printable(view.problem)}`];
  const { holder, reports } = view;
  const working =
    holder === undefined
      ? 'no run is working on it now'
      : `run ${printable(holder.owner)} is working on it until ${formatInstant(holder.expiresAtMs)} or later`;
  return [working, ...describeReports(name, reports, widthMax)];
}
