import { inspect } from 'node:util';
import { formatTableIdentifier } from '../../shared/catalog/index.ts';
import { permissionFor } from '../../shared/guards/index.ts';
import type { TableState } from '../../shared/ledger/index.ts';
import { ofSameTable, routingView } from '../../shared/routing/index.ts';
import type { FleetTable } from './fleet-table.ts';
import type { FleetWorld } from './fleet-world.ts';

/** The largest page that the ledger gives. */
const PAGE = 10_000;

/** For how long the table that has been due for longest has been so, by the ledger; 0 where none is. */
export async function markedOverdueMs({
  ledger,
  clock,
}: Pick<FleetWorld, 'ledger' | 'clock'>): Promise<number> {
  const nowMs = clock.nowMs();
  const { tables } = await ledger.states.listDue({ dueAtMsMax: nowMs, tableCountMax: 1 });
  return tables[0] === undefined ? 0 : nowMs - tables[0].dueAtMs;
}

/** Tables that the ledger has a time for, now or later. */
export async function markedCount({ ledger }: Pick<FleetWorld, 'ledger'>): Promise<number> {
  const all = { dueAtMsMax: Number.MAX_SAFE_INTEGER, tableCountMax: PAGE };
  return (await ledger.states.listDue(all)).tables.length;
}

/** What was found of a table at the last check. */
interface Judged {
  /** Pointer and state, as text. */
  readonly basis: string;
  /** Undefined where nothing will be due. */
  readonly dueAtMs: number | undefined;
}

/** Judges tables by their metadata, whatever marks there are; what has not changed is not judged again before its time. */
export class FleetJudge {
  readonly #judged = new Map<string, Judged>();
  readonly #tables: readonly FleetTable[];
  readonly #world: Pick<FleetWorld, 'ledger' | 'settings' | 'writerPorts'>;

  constructor(
    tables: readonly FleetTable[],
    world: Pick<FleetWorld, 'ledger' | 'settings' | 'writerPorts'>,
  ) {
    this.#tables = tables;
    this.#world = world;
  }

  /** Tables on which something was due at a time and is so still. One that nobody has looked at yet is left out. */
  async dueSince(atMs: number): Promise<readonly string[]> {
    const due: string[] = [];
    for (const table of this.#tables) {
      const name = formatTableIdentifier(table.identifier);
      const state = await this.#world.ledger.states.read(name);
      if (state !== undefined && (await this.#isDue(table, state, atMs))) due.push(name);
    }
    return due;
  }

  async #isDue(table: FleetTable, state: TableState, atMs: number): Promise<boolean> {
    const { metadataLocation } = await this.#world.writerPorts.catalog.loadTable(table.identifier);
    const basis = [metadataLocation, inspect(state.operations, { depth: 5 })].join();
    const known = this.#judged.get(state.table);
    if (known?.basis === basis && (known.dueAtMs ?? atMs + 1) > atMs) return false;
    const metadata = await table.recentMetadata();
    const { settings } = this.#world;
    const view = routingView({
      metadata,
      state: ofSameTable(state, metadata),
      permission: permissionFor(state.table, metadata.properties, settings),
      guards: settings.guards,
      nowMs: atMs,
    });
    const times = view.operations.flatMap(({ dueAtMs }) => dueAtMs ?? []);
    const dueAtMs = times.length === 0 ? undefined : Math.min(...times);
    this.#judged.set(state.table, { basis, dueAtMs });
    return view.operations.some(({ standing }) => standing === 'due');
  }
}
