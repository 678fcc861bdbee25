import { assert } from '../base/index.ts';
import type { Item } from './item-store.ts';
import { type LedgerPorts, writeSettled } from './settled-write.ts';
import {
  parseTableState,
  STATE_SORT,
  serializeTableState,
  stateDueAtMs,
  stateKey,
  type TableState,
} from './table-state.ts';

/** A table that somebody should look at. */
export interface DueTable {
  readonly table: string;
  /** As the index has it: it may lag behind. */
  readonly dueAtMs: number;
}

export interface DueTableQuery {
  /** Inclusive. */
  readonly dueAtMsMax: number;
  readonly tableCountMax: number;
  /** Of the page before. */
  readonly cursor?: DueTable;
}

export interface DueTablePage {
  /** The one that has been due for longest first. */
  readonly tables: readonly DueTable[];
  /** Where the next page begins; undefined when there is none. */
  readonly cursor?: DueTable;
}

/** What is remembered of each table, and which of them are due; one item for a table. */
export class TableStates {
  readonly #ports: LedgerPorts;

  constructor(ports: LedgerPorts) {
    this.#ports = ports;
  }

  /** Undefined for a table that nobody has looked at yet. One read. */
  async read(table: string): Promise<TableState | undefined> {
    const item = await this.#ports.items.read(stateKey(table));
    return item === undefined ? undefined : parseTableState(item);
  }

  /**
   * Changes the state by a pure function, which is called again on the newer state when somebody else was faster; a state
   * that it returns as it was is not written. One read and one write, and as much again for each conflict.
   *
   * @returns the state as it is now
   */
  async change(table: string, change: (state: TableState) => TableState): Promise<TableState> {
    let item: Item | undefined = await this.#ports.items.read(stateKey(table));
    for (;;) {
      const before: TableState =
        item === undefined ? { table, operations: {} } : parseTableState(item);
      const after = change(before);
      if (after === before) return after;
      const dueAtMs = stateDueAtMs(after);
      const outcome = await writeSettled(
        {
          ...stateKey(table),
          body: serializeTableState(after),
          ...(dueAtMs === undefined ? {} : { dueAtMs }),
          baseRevision: item?.revision,
        },
        this.#ports,
      );
      if (outcome.outcome === 'written') return after;
      item = outcome.current;
    }
  }

  /** A page of the tables that are due. One query of the index, which may lag behind by seconds. */
  async listDue({ dueAtMsMax, tableCountMax, cursor }: DueTableQuery): Promise<DueTablePage> {
    assert(tableCountMax >= 1, `states: a page of ${tableCountMax}`);
    const page = await this.#ports.items.queryDue({
      sort: STATE_SORT,
      dueAtMsMax,
      itemCountMax: tableCountMax,
      ...(cursor === undefined
        ? {}
        : { after: { partition: cursor.table, dueAtMs: cursor.dueAtMs } }),
    });
    const tables = page.map(({ partition, dueAtMs }) => ({ table: partition, dueAtMs }));
    const last = page.length < tableCountMax ? undefined : tables.at(-1);
    return { tables, ...(last === undefined ? {} : { cursor: last }) };
  }
}
