import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ExitCode } from '../../cli/exit-codes.ts';
import { reportError } from '../../cli/report-error.ts';
import type { Session } from '../../cli/session.ts';
import { type NewDataFile, type NewTable, TableWriter } from '../../local/table-writer/index.ts';
import {
  type JsonObject,
  type JsonValue,
  ManualClock,
  seededRandom,
} from '../../shared/base/index.ts';
import { MemoryCatalog, parseTableIdentifier } from '../../shared/catalog/index.ts';
import type { GuardOverrides } from '../../shared/guards/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import type { Warehouse } from '../../shared/warehouse/index.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

export const FIELDS = [
  { fieldId: 1, name: 'id', isRequired: true, type: { kind: 'long' } },
  { fieldId: 2, name: 'region', isRequired: false, type: { kind: 'string' } },
  { fieldId: 3, name: 'amount', isRequired: false, type: { kind: 'double' } },
] as const;

export const BY_REGION = [
  { sourceIds: [2], fieldId: 1000, name: 'region', transform: { kind: 'identity' } },
] as const;

/** Tables of tests are seconds old, and nobody else writes to them. */
export const LOWERED_GUARDS: GuardOverrides = {
  minFileAgeMs: 0,
  commitIntervalMs: 0,
  wapWaitMs: 0,
};

/** A folder that is there as long as the test. */
export async function temporaryFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'firn-cli-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface MemoryWarehouse extends Warehouse {
  readonly catalog: MemoryCatalog;
  readonly store: MemoryObjectStore;
  readonly clock: ManualClock;
}

export function memoryWarehouse(): MemoryWarehouse {
  const clock = new ManualClock(Date.UTC(2026, 10, 30, 12));
  const random = seededRandom(5);
  const ledger = memoryLedger({ clock });
  return {
    catalogUrl: 'memory:',
    openLedger: () => ledger,
    clock,
    catalog: new MemoryCatalog({ clock, random }),
    store: new MemoryObjectStore({ clock }),
  };
}

/** Files of two rows each, by region. */
export function smallFiles(regions: readonly (string | null)[]): readonly NewDataFile[] {
  return regions.map((region, index) => ({
    rows: [
      { 1: BigInt(index * 2), 2: region, 3: 0.5 },
      { 1: BigInt(index * 2 + 1), 2: region, 3: null },
    ],
    partition: [region],
  }));
}

/** Names, uuids and snapshot ids are the same in each run. */
export async function createTable(
  warehouse: Pick<Warehouse, 'catalog' | 'store'>,
  name: string,
  table: Partial<NewTable> = {},
): Promise<TableWriter> {
  return await TableWriter.create(
    {
      identifier: parseTableIdentifier(name),
      location: `s3://bucket/${name}`,
      formatVersion: 2,
      fields: FIELDS,
      partitionFields: BY_REGION,
      ...table,
    },
    {
      ...warehouse,
      clock: new ManualClock(Date.UTC(2026, 10, 30, 12)),
      random: seededRandom(5),
    },
  );
}

/** What a command printed and how it ended, also by an error. */
export interface Answer {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
  readonly document: JsonObject | undefined;
  readonly errorText: string;
  readonly progress: readonly string[];
}

/** Runs a command in this process, as `main` does. */
export async function answerOf(
  command: (session: Session) => Promise<ExitCode>,
  warehouse: Warehouse,
  options: { readonly isJson?: boolean; readonly widthMax?: number } = {},
): Promise<Answer> {
  const lines: string[] = [];
  const progress: string[] = [];
  const documents: JsonValue[] = [];
  const session: Session = {
    warehouse,
    initLedger: async () => ({ kind: 'file' }),
    clock: new ManualClock(Date.UTC(2026, 10, 30, 12)),
    random: seededRandom(6),
    isJson: options.isJson ?? false,
    widthMax: options.widthMax,
    progress: { update: (line) => progress.push(line), clear: () => {} },
    print: (printed) => lines.push(...printed),
    printJson: (value) => documents.push(value),
  };
  const outcome = await command(session).then(
    (exitCode) => ({ exitCode, text: '', json: undefined }),
    (error: unknown) => reportError(error),
  );
  return {
    exitCode: outcome.exitCode,
    lines,
    document: (documents[0] ?? outcome.json) as JsonObject | undefined,
    errorText: outcome.text,
    progress,
  };
}
