import {
  type ErrorKind,
  isIcebergError,
  ManualClock,
  NO_DEADLINE,
  seededRandom,
  silentLogger,
} from '../../shared/base/index.ts';
import { MemoryCatalog } from '../../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { rewriteDataFiles } from '../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { type SlowParser, slowParser } from '../support/slow-parser.ts';
import {
  readFilesSlowly,
  type SlowFileRows,
  type SlowReadOptions,
} from '../support/slow-reader.ts';
import type { BaseTable } from './base-tables.ts';
import { OverlayStore } from './overlay-store.ts';

/** Objects of a table as a case leaves them, by location. */
export type Corruption = ReadonlyMap<string, Uint8Array>;

export type Outcome =
  | `refused: ${ErrorKind}`
  | 'nothing to do'
  | 'committed, equal'
  /** Files that nothing can read stayed or moved as they were; every other row is there. */
  | 'committed, equal but for what was unreadable before'
  /** A format by itself: read, and what it says is what an independent reader or the original says. */
  | 'read, equal'
  | 'FAILED';

export interface CaseResult {
  readonly outcome: Outcome;
  /** Why it failed, or what the refusal said. */
  readonly detail: string;
}

/**
 * `refusal`: the corruption breaks a length, count, checksum or cross-reference that the commit relies on, so it must
 * not commit. `commit`: there is nothing wrong. `anything`: a refusal, or a commit of equal rows.
 */
export interface CaseExpectation {
  readonly expects: 'anything' | 'refusal' | 'commit';
}

const IDENTIFIER = { namespace: ['db'], name: 'table' };
const NOW_MS = Date.UTC(2027, 0, 1);

/** What a corrupt table may come to; anything else is a fault of ours. */
const EXPECTED_KINDS: readonly ErrorKind[] = [
  'invalid-data',
  'unsupported',
  'invalid-config',
  'not-found',
  'commit-rejected',
  'commit-conflict',
  'invariant',
];

/** Compacts a copy of the table with the corruption in place, and judges what came of it. */
export async function runCase(
  base: BaseTable,
  corruption: Corruption,
  { expects }: CaseExpectation,
): Promise<CaseResult> {
  const { store, metadataLocation, error } = await compactCopy(base, corruption);
  const refusal = error === undefined ? undefined : judgeError(error);
  const isMoved = metadataLocation !== base.metadataLocation;
  if (store.violations.length > 0) return failed(store.violations.join('; '));
  if (expects === 'commit' && !isMoved) return failed(`not committed: ${refusal?.detail}`);
  if (refusal !== undefined) return isMoved ? failed(`moved, then ${refusal.detail}`) : refusal;
  if (!isMoved) return { outcome: 'nothing to do', detail: '' };
  if (expects === 'refusal') return failed('committed although it had to be refused');
  const parser = parserOf(base, corruption, store);
  const before = await tryRead({ store, parser, metadataLocation: base.metadataLocation });
  const after = await tryRead({ store, parser, metadataLocation });
  return compareRows(before, after);
}

/** What became of a copy: its store and pointer, and the error that ended the run if one did. */
export interface Compaction {
  readonly store: OverlayStore;
  readonly metadataLocation: string;
  readonly error?: unknown;
}

/** Compacts a copy of the table by the operation itself, as a function or the command line would. */
export async function compactCopy(
  base: BaseTable,
  corruption: Corruption = new Map(),
): Promise<Compaction> {
  const store = new OverlayStore(base.store);
  for (const [location, bytes] of corruption) await store.corrupt(location, bytes);
  const clock = new ManualClock(NOW_MS);
  const random = seededRandom(1);
  const catalog = new MemoryCatalog({ clock, random });
  await catalog.registerTable(IDENTIFIER, base.metadataLocation);
  let failure: { readonly error?: unknown } = {};
  try {
    const table = await loadTable(IDENTIFIER, { catalog, store, clock });
    await rewriteDataFiles(
      {
        table,
        options: { 'min-input-files': '2' },
        mode: 'commit',
        runId: 'hostile',
        guards: LOWERED_GUARD_SETTINGS,
      },
      {
        catalog,
        store,
        ledger: memoryLedger({ clock }),
        clock,
        random,
        deadline: NO_DEADLINE,
        logger: silentLogger,
      },
    );
  } catch (error) {
    failure = { error };
  }
  const { metadataLocation } = await catalog.loadTable(IDENTIFIER);
  return { store, metadataLocation, ...failure };
}

function judgeError(error: unknown): CaseResult {
  if (!isIcebergError(error)) {
    return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  if (!EXPECTED_KINDS.includes(error.kind)) return failed(`${error.kind}: ${error.message}`);
  return { outcome: `refused: ${error.kind}`, detail: error.message };
}

function failed(detail: string): CaseResult {
  return { outcome: 'FAILED', detail };
}

/** Sound objects of the table are parsed once for all cases. */
function parserOf(base: BaseTable, corruption: Corruption, store: OverlayStore): SlowParser {
  const plain = slowParser(store);
  const isSound = (location: string): boolean =>
    base.locations.has(location) && !corruption.has(location);
  return {
    avro: (location) => (isSound(location) ? base.parser : plain).avro(location),
    parquet: (file) => (isSound(file.filePath) ? base.parser : plain).parquet(file),
  };
}

interface SlowRead {
  readonly files: readonly SlowFileRows[];
  readonly failure?: unknown;
}

function compareRows(before: SlowRead, after: SlowRead): CaseResult {
  if (before.failure !== undefined || after.failure !== undefined) {
    return failed(
      `committed; the slow reader says ${String(before.failure ?? 'fine')} before, ${String(after.failure ?? 'fine')} after`,
    );
  }
  const difference = differenceOf(before.files, after.files);
  if (difference !== undefined) return failed(difference);
  const isWhole = before.files.every(({ failure }) => failure === undefined);
  return {
    outcome: isWhole ? 'committed, equal' : 'committed, equal but for what was unreadable before',
    detail: '',
  };
}

async function tryRead(options: SlowReadOptions): Promise<SlowRead> {
  try {
    return { files: await readFilesSlowly({ ...options, withLineage: true }) };
  } catch (failure) {
    return { files: [], failure };
  }
}

/**
 * How the rows differ, as multisets. Row groups that cannot be read may move to another file, which then cannot be
 * read as a whole either; every other row must be there.
 */
function differenceOf(
  before: readonly SlowFileRows[],
  after: readonly SlowFileRows[],
): string | undefined {
  const hasMovedBroken = before.some(
    ({ filePath, failure }) =>
      failure !== undefined && !after.some((one) => one.filePath === filePath),
  );
  const newlyBroken = after.find(
    ({ filePath, failure }) =>
      failure !== undefined && !before.some((one) => one.filePath === filePath && one.failure),
  );
  if (newlyBroken !== undefined && !hasMovedBroken) {
    return `committed; ${newlyBroken.filePath} cannot be read: ${String(newlyBroken.failure)}`;
  }
  // A table from before v3 gets its first row ids by the commit.
  const hasIds = before.every(({ rows }) => rows.every((row) => !row.startsWith(NO_LINEAGE)));
  const [rowsBefore, rowsAfter] = [before, after].map((files) =>
    files.flatMap(({ rows }) => rows.map((row) => (hasIds ? row : withoutLineage(row)))).sort(),
  ) as [string[], string[]];
  const missing = firstMissing(rowsBefore, rowsAfter);
  if (missing !== undefined) return `committed; row lost: ${missing.slice(0, 300)}`;
  const added = hasMovedBroken ? undefined : firstMissing(rowsAfter, rowsBefore);
  return added === undefined ? undefined : `committed; row added: ${added.slice(0, 300)}`;
}

const NO_LINEAGE = 'null|null';

function withoutLineage(row: string): string {
  return row.split('|').slice(2).join('|');
}

/** The first of the sorted rows that the other sorted rows do not hold as often. */
function firstMissing(rows: readonly string[], others: readonly string[]): string | undefined {
  let index = 0;
  for (const row of rows) {
    while (index < others.length && others[index]! < row) index++;
    if (others[index] !== row) return row;
    index++;
  }
  return undefined;
}
