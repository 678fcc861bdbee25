// Spark writes, and nobody calls Firn: the catalog's stream rings, a message is sent, a run compacts.

import assert from 'node:assert/strict';
import { DescribeTableCommand, DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { deployLocally, type LocalDeployment } from '../../local/deployment/index.ts';
import type { InvocationReport } from '../../local/lambda-host/index.ts';
import { ItemStream } from '../../local/stream/index.ts';
import {
  isJsonObject,
  type JsonObject,
  parseJson,
  systemClock,
  systemRandom,
} from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import type { FunctionSettings } from '../../shared/deployment/index.ts';
import { DEFAULT_GUARD_SETTINGS, guardSettingsText } from '../../shared/guards/index.ts';
import { stateDueAtMs } from '../../shared/ledger/index.ts';
import { type Warehouse as FirnWarehouse, openWarehouse } from '../../shared/warehouse/index.ts';
import { region } from './config.ts';
import { StreamReader } from './dynamodb-streams.ts';
import { catalogUrl, STATE_LOCATION } from './firn.ts';
import { assertSameRows, describeTable, readRows } from './read-table.ts';
import { CATALOG_TABLE, type CatalogListener } from './servers.ts';
import type { Tools, Warehouse } from './tools.ts';

/** Commits of Spark, of one file each. */
const COMMITS = 14;
const ROWS = 20;

/** How often the host looks for what is due, and moto's stream is read. */
const HOST_MS = 50;

/** How often tables are looked at whose time has come. */
const SWEEP_MS = 1_000;

/** From the last commit of Spark to the last of Firn. */
const QUIET_MS_MAX = 60_000;

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' } as const;

/** As shipped but for the waits: the files are seconds old. */
function settingsFor(table: string): FunctionSettings {
  return {
    enabledTables: [table],
    isObserving: false,
    guards: {
      ...DEFAULT_GUARD_SETTINGS,
      minFileAgeMsFloor: 1_000,
      minFileAgeMsDerivedMax: 1_000,
      commitIntervalMsFloor: 1_000,
    },
    routingIntervalMsFloor: 500,
    messageVisibilityMs: 180_000,
    logLevel: 'info',
  };
}

/** Everything of Firn that runs for one table of a run, on the machine's clock. */
interface Deployed {
  readonly firn: LocalDeployment;
  readonly firnWarehouse: FirnWarehouse;
  readonly log: readonly JsonObject[];
  readonly invocations: readonly InvocationReport[];
  /** Ends it, when nothing is under way any more. */
  stop(): Promise<void>;
}

async function deploy(table: string, warehouse: Warehouse): Promise<Deployed> {
  const clock = systemClock;
  const random = systemRandom;
  const firnWarehouse = openWarehouse({
    catalogUrl: catalogUrl(warehouse),
    s3Endpoint: warehouse.s3Endpoint,
    stateLocation: STATE_LOCATION,
    credentials,
    clock,
    random,
  });
  const stream = new ItemStream({
    tableName: CATALOG_TABLE,
    region,
    viewType: 'KEYS_ONLY',
    shardCount: 1,
    clock,
    random,
  });
  const log: JsonObject[] = [];
  const invocations: InvocationReport[] = [];
  const firn = deployLocally({
    cloud: { warehouse: firnWarehouse, clock, random },
    stream,
    settings: settingsFor(table),
    sweepEveryMs: { due: SWEEP_MS },
    logDestination: {
      write: (line) => {
        const fields = parseJson(line, 'log line');
        if (isJsonObject(fields)) log.push(fields);
      },
    },
    onInvocation: (report) => void invocations.push(report),
  });
  // Other tables of the run have their own checks, which nothing else should happen to.
  const pull = await followCatalog(warehouse, (change) => {
    const { identifier } = change.keys;
    if (isJsonObject(identifier) && identifier['S'] === table) stream.append(change);
  });
  let isOver = false;
  const hosting = (async () => {
    while (!isOver) {
      await pull();
      firn.host.dispatch();
      await clock.sleepMs(HOST_MS);
    }
    await firn.host.settle();
  })();
  return {
    firn,
    firnWarehouse,
    log,
    invocations,
    stop: async () => {
      isOver = true;
      await hosting;
    },
  };
}

/** Tells of changes of the catalog's items: as our endpoint sees them, or by moto's stream, whenever it is pulled. */
async function followCatalog(
  { onCatalogChange, dynamoDbEndpoint }: Warehouse,
  listener: CatalogListener,
): Promise<() => Promise<void>> {
  if (onCatalogChange !== undefined) {
    onCatalogChange(listener);
    return () => Promise.resolve();
  }
  const reader = new StreamReader(dynamoDbEndpoint, await enableStream(dynamoDbEndpoint));
  return async () => {
    for (const { dynamodb } of await reader.read()) {
      listener({ tableName: CATALOG_TABLE, keys: dynamodb?.Keys as unknown as JsonObject });
    }
  };
}

/** Returns the address of the catalog table's stream. */
async function enableStream(endpoint: string): Promise<string> {
  const client = new DynamoDBClient({ region, endpoint, credentials });
  const TableName = CATALOG_TABLE;
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  if (Table?.LatestStreamArn !== undefined) return Table.LatestStreamArn;
  const { TableDescription } = await client.send(
    new UpdateTableCommand({
      TableName,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
    }),
  );
  client.destroy();
  return TableDescription?.LatestStreamArn ?? '';
}

/** Waits until Firn has committed, has seen the last commit, and has nothing left to do for now. */
async function waitUntilQuiet(table: string, { firn, firnWarehouse, log }: Deployed) {
  const identifier = parseTableIdentifier(table);
  const endMs = systemClock.nowMs() + QUIET_MS_MAX;
  for (;;) {
    const { metadataLocation } = await firnWarehouse.catalog.loadTable(identifier);
    const state = await firnWarehouse.openLedger().states.read(table);
    const nowMs = systemClock.nowMs();
    const { visible, hidden } = firn.rewriteQueue.counts();
    const isQuiet =
      countEvents(log, 'commit.succeeded') > 0 &&
      state?.seen?.metadataLocation === metadataLocation &&
      (stateDueAtMs(state) ?? Number.POSITIVE_INFINITY) > nowMs &&
      visible + hidden + firn.host.underWayCount() === 0;
    if (isQuiet) return;
    const said = log.map((fields) => JSON.stringify(fields)).slice(-10);
    assert.ok(nowMs < endMs, `not quiet in ${QUIET_MS_MAX} ms\n${said.join('\n')}`);
    await systemClock.sleepMs(HOST_MS);
  }
}

function countEvents(log: readonly JsonObject[], event: string): number {
  return log.filter((fields) => fields['event'] === event).length;
}

/** Writes with Spark while Firn is deployed; every reader must see what Spark wrote. */
export async function writeUnasked(tools: Tools, warehouse: Warehouse): Promise<string[]> {
  const table = `${warehouse.namespace}.spark_unasked`;
  const sql = (text: string) => tools.call<string[]>('spark4', 'sql', { sql: text });
  await sql(`CREATE TABLE interop.${table} (id BIGINT, note STRING) USING iceberg
    TBLPROPERTIES ('format-version' = '2', 'firn.verify' = 'rows')`);
  const deployed = await deploy(table, warehouse);
  const startMs = systemClock.nowMs();
  try {
    for (let commit = 0; commit < COMMITS; commit += 1) {
      const range = `range(${commit * ROWS}, ${(commit + 1) * ROWS}, 1, 1)`;
      await sql(`INSERT INTO interop.${table} SELECT id, concat('row ', id) FROM ${range}`);
    }
    await waitUntilQuiet(table, deployed);
  } finally {
    await deployed.stop();
  }
  const seconds = ((systemClock.nowMs() - startMs) / 1000).toFixed(1);
  const expected = Array.from({ length: COMMITS * ROWS }, (_, id) => `(${id},"row ${id}")`).sort();
  assertSameRows(await tools.call<string[]>('spark4', 'read', { table }), expected, 'spark4');
  for (const reader of ['java', 'pyiceberg', 'duckdb'] as const) {
    const rows = await readRows(tools, { identifier: table, formatVersion: 2 }, reader);
    assertSameRows(rows, expected, reader);
  }
  return [...(await assertUnasked(table, tools, deployed)), `${seconds} s from the first commit`];
}

/** The commits of Firn are in the table, and it was events that led to them. */
async function assertUnasked(
  table: string,
  tools: Tools,
  { log, invocations }: Deployed,
): Promise<string[]> {
  const [counted] = await tools.call<string[]>('spark4', 'sql', {
    sql: `SELECT count(*) FROM interop.${table}.snapshots WHERE summary['firn.run-id'] IS NOT NULL`,
  });
  const firnCommits = countEvents(log, 'commit.succeeded');
  assert.equal(counted, `[${firnCommits}]`);
  assert.ok(firnCommits >= 1);
  const { files } = await describeTable(tools, table);
  assert.ok(files.length < COMMITS, `${files.length} files are left`);
  const complaints = log.filter(({ level }) => level === 'warn' || level === 'error');
  assert.deepEqual(complaints, []);
  assert.deepEqual(
    invocations.filter(({ ended }) => ended !== 'returned'),
    [],
  );
  const rung = invocations.filter(({ functionName }) => functionName === 'route-events').length;
  assert.ok(rung >= 1);
  const { guards, routingIntervalMsFloor } = settingsFor(table);
  return [
    `deployed with ${guardSettingsText(guards)}; metadata read each ${routingIntervalMsFloor} ms, due tables swept each ${SWEEP_MS} ms; triggers as shipped`,
    `${COMMITS} commits of Spark of one file each, ${firnCommits} of Firn, ${files.length} files at the end`,
    `${rung} invocations of route-events, ${countEvents(log, 'run.finished')} runs`,
    'rows as written, by spark4, java, pyiceberg and duckdb',
  ];
}
