// Java stands between its read and its conditional write while Firn fences: Java's write fails, is tried again, succeeds.

import assert from 'node:assert/strict';
import {
  IcebergError,
  isIcebergError,
  NO_DEADLINE,
  randomUuid,
  silentLogger,
  systemClock,
  systemRandom,
} from '../../shared/base/index.ts';
import {
  type Catalog,
  type PointerUpdate,
  parseTableIdentifier,
  type TablePointer,
} from '../../shared/catalog/index.ts';
import { LOWERED_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { rewriteDataFiles } from '../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import type { Warehouse as Ports } from '../../shared/warehouse/index.ts';
import { compactInto, LOWERED_GUARDS } from './firn.ts';
import { openPorts } from './firn-ports.ts';
import { assertRowsAsWritten, createHourlyTable, type Job } from './hourly-table.ts';
import type { Tools, Warehouse } from './tools.ts';

const COLD_HOURS = 2;

/** A run that finds too few files to compact: it settles what others left behind, and changes nothing else. */
const SETTLES_ONLY = ['--option', 'min-input-files=1000'];

/** A pointer write of Firn that is still on its way, and the run that has lost sight of it. */
type LostWrite = Readonly<{ runId: string; update: PointerUpdate }>;

/** A catalog whose line goes dead with the first pointer write: neither that one nor anything later gets an answer. */
function catalogGoingDead(catalog: Catalog, onWrite: (update: PointerUpdate) => void): Catalog {
  let isDead = false;
  const unanswered = (): Promise<never> =>
    Promise.reject(new IcebergError('unavailable', 'catalog: no answer'));
  return {
    listTables: (namespace) => catalog.listTables(namespace),
    registerTable: unanswered,
    fenceTable: unanswered,
    loadTable: (identifier) => (isDead ? unanswered() : catalog.loadTable(identifier)),
    commitTable: (update) => {
      isDead = true;
      onWrite(update);
      return Promise.reject(new IcebergError('commit-state-unknown', 'catalog: no answer'));
    },
  };
}

/** Runs a compaction whose pointer write is sent and not heard of again: it leaves an open intent behind. */
async function loseWrite(identifier: string, ports: Ports): Promise<LostWrite> {
  const [clock, random] = [systemClock, systemRandom];
  const table = await loadTable(parseTableIdentifier(identifier), { ...ports, clock });
  const runId = randomUuid(random);
  let update: PointerUpdate | undefined;
  const catalog = catalogGoingDead(ports.catalog, (sent) => {
    update = sent;
  });
  const guards = LOWERED_GUARD_SETTINGS;
  const ledger = ports.openLedger();
  const running = rewriteDataFiles(
    { table, options: {}, mode: 'commit', runId, guards },
    {
      ...{ catalog, store: ports.store, ledger, clock, random },
      ...{ deadline: NO_DEADLINE, logger: silentLogger },
    },
  );
  await assert.rejects(running, (error) => isIcebergError(error, 'commit-state-unknown'));
  const run = await ledger.runs.read(identifier, runId);
  assert.equal(run?.openIntent?.version, update?.version, 'firn left no open intent');
  assert.ok(update !== undefined);
  return { runId, update };
}

/** Settles by a run of its own, and demands that it was done by a fence: a new version, the same metadata. */
async function settleByFence(
  lost: LostWrite,
  identifier: string,
  { warehouse, ports }: Readonly<{ warehouse: Warehouse; ports: Ports }>,
): Promise<TablePointer> {
  const { base } = lost.update;
  const before = await ports.catalog.loadTable(base.identifier);
  assert.equal(before.version, base.version, 'somebody moved the pointer before the fence');
  await compactInto(['nothing-planned'], identifier, warehouse, SETTLES_ONLY);
  const after = await ports.catalog.loadTable(base.identifier);
  assert.equal(after.metadataLocation, before.metadataLocation);
  assert.notEqual(after.version, before.version, 'firn set no fence');
  const record = (await ports.openLedger().runs.read(identifier, lost.runId))?.record;
  assert.equal(record?.status, 'abandoned');
  assert.deepEqual(
    record?.intents.map(({ state }) => state),
    ['not-applied'],
  );
  return after;
}

/** One job of Java that meets a fence, and the lost write that arrives after all. Returns a line on it. */
async function fenceJob(
  kind: Job['kind'],
  identifier: string,
  { tools, warehouse }: Readonly<{ tools: Tools; warehouse: Warehouse }>,
): Promise<string> {
  const ports = openPorts(warehouse);
  const lost = await loseWrite(identifier, ports);
  await tools.call('iceberg', 'pauseJob', { table: identifier, kind, at: 'write' });
  const fenced = await settleByFence(lost, identifier, { warehouse, ports });
  await assert.rejects(ports.catalog.commitTable(lost.update), (error) =>
    isIcebergError(error, 'commit-conflict'),
  );
  const { attempts, retries, failure } = await tools.call<Job>('iceberg', 'resumeJob', {
    table: identifier,
  });
  const endedWell = { attempts: 2, retries: ['nothing'], failure: null };
  assert.deepEqual({ attempts, retries, failure }, endedWell);
  const pointer = await ports.catalog.loadTable(fenced.identifier);
  assert.notEqual(pointer.metadataLocation, fenced.metadataLocation, 'java committed nothing');
  return (
    `${kind} by Java, paused before its conditional write; Firn's fence set v from ${lost.update.base.version} to ` +
    `${fenced.version}; Java's write failed, attempt 2 landed; Firn's lost write arrived and was refused`
  );
}

export async function fencePausedWriter(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const identifier = `${warehouse.namespace}.concurrent_fence`;
  await createHourlyTable(tools, identifier, COLD_HOURS);
  const lines: string[] = [];
  for (const kind of ['append', 'merge'] as const) {
    lines.push(await fenceJob(kind, identifier, { tools, warehouse }));
  }
  await compactInto(['committed'], identifier, warehouse, LOWERED_GUARDS);
  const rowCount = await assertRowsAsWritten(tools, identifier);
  return [...lines, `then Firn compacted; ${rowCount} rows as the writers' ledger has them`];
}
