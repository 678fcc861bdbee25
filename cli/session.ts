import {
  type Clock,
  IcebergError,
  type JsonValue,
  type Random,
  serializeJson,
  systemClock,
  systemRandom,
} from '../shared/base/index.ts';
import {
  initLedger,
  type LedgerSetup,
  openWarehouse,
  type Warehouse,
} from '../shared/warehouse/index.ts';
import type { CliConfig } from './config.ts';
import { createProgress, type Progress } from './progress.ts';

/** Options that every command has. */
export interface SessionOptions {
  readonly catalog?: string;
  readonly json: boolean;
}

/** What a command works with: the tables, and the person in front of it. */
export interface Session {
  readonly warehouse: Warehouse;
  /** Makes the warehouse's ledger where it is missing. */
  readonly initLedger: () => Promise<LedgerSetup>;
  readonly clock: Clock;
  readonly random: Random;
  readonly isJson: boolean;
  readonly progress: Progress;
  /** Columns of the terminal; undefined where the answer goes elsewhere, and is not shortened. */
  readonly widthMax: number | undefined;
  /** The answer, line by line, on standard output. */
  readonly print: (lines: readonly string[]) => void;
  readonly printJson: (value: JsonValue) => void;
}

/** @throws invalid-config — when no catalog is named, or its URL is not understood */
export function openSession(options: SessionOptions, config: CliConfig): Session {
  const catalogUrl = options.catalog ?? config.catalogUrl;
  if (catalogUrl === undefined) {
    throw new IcebergError(
      'invalid-config',
      'catalog: none is named; give --catalog or set FIRN_CATALOG',
    );
  }
  const { stdout, stderr } = process;
  const { catalogUrl: _, ...surroundings } = config;
  const warehouseOptions = {
    ...surroundings,
    catalogUrl,
    clock: systemClock,
    random: systemRandom,
  };
  return {
    warehouse: openWarehouse(warehouseOptions),
    initLedger: () => initLedger(warehouseOptions),
    clock: systemClock,
    random: systemRandom,
    isJson: options.json,
    progress: createProgress(stderr, systemClock),
    // Some terminals tell 0 for a width that they do not know.
    widthMax: stdout.isTTY ? stdout.columns || undefined : undefined,
    print: (lines) => void stdout.write(lines.map((line) => `${line}\n`).join('')),
    printJson: (value) => void stdout.write(`${serializeJson(value, 2)}\n`),
  };
}
