import { join } from 'node:path';
import type { SQSEvent } from 'aws-lambda';
import type { MaintenanceRequest } from '../../events/maintenance-request/v1/schema.ts';
import { createHandler } from '../../functions/rewrite-data-files/handler.ts';
import { IcebergError, randomUuid } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatSizeHistogram,
} from '../../shared/display/index.ts';
import { guardSettingsText, LOWERED_GUARD_SETTINGS } from '../../shared/guards/index.ts';
import { snapshotOfRef } from '../../shared/iceberg/index.ts';
import type { RewriteDataFilesOutcome } from '../../shared/operations/rewrite-data-files/index.ts';
import { loadTable } from '../../shared/table/index.ts';
import { type LocalCloud, startLocalCloud } from '../local-cloud.ts';
import { TableWriter } from '../table-writer/index.ts';
import { loadFixtureWarehouse, openFixtureWarehouse } from './fixture-warehouse.ts';
import { replicateFiles } from './replicate.ts';
import { type RowScan, scanRows } from './scan-rows.ts';

const FIXTURE_FOLDER = join(import.meta.dirname, '../../test/fixtures/warehouse');
const TABLE_NAME = 'demo.events';

/** Copies of each file that Spark wrote: with 48 of those, 432 files in all. */
const COPY_COUNT = 8;

const LAMBDA_TIMEOUT_MS = 15 * 60 * 1000;

/**
 * The main job from end to end on this machine: a table that Spark wrote, grown to several hundred small files, is
 * compacted by the Lambda handler that a deployment runs, and read again by another engine.
 *
 * @throws invariant — when Firn landed no commit, or a row is not what it was
 */
export async function demonstrate(print: (line: string) => void): Promise<void> {
  const fixture = await openFixtureWarehouse(FIXTURE_FOLDER);
  const cloud = await startLocalCloud({ buckets: fixture.buckets });
  try {
    print(`local cloud: S3 at ${cloud.s3.endpoint}, DynamoDB at ${cloud.dynamoDb.endpoint}`);
    const loaded = await loadFixtureWarehouse(fixture, {
      store: cloud.warehouse.store,
      dynamoDbEndpoint: cloud.dynamoDb.endpoint,
    });
    print(
      `loaded ${formatCount(loaded.objectCount, 'object')}, ${formatBytes(loaded.bytes)}, written by Spark through DynamoDbCatalog`,
    );
    await compactInFrontOf(print, cloud);
  } finally {
    await cloud.close();
  }
}

async function compactInFrontOf(print: (line: string) => void, cloud: LocalCloud): Promise<void> {
  const { warehouse, clock, random } = cloud;
  const identifier = parseTableIdentifier(TABLE_NAME);
  const writer = new TableWriter(identifier, { ...warehouse, clock, random });
  await replicateFiles(writer, { store: warehouse.store, copyCount: COPY_COUNT });
  print(
    `${TABLE_NAME}: each file copied ${COPY_COUNT} times by Firn's own table writer, one commit per round of copies\n`,
  );

  const before = await scanRows(identifier, warehouse, clock);
  printScan('before', before, print);
  const outcome = await invokeHandler(print, cloud);
  const after = await scanRows(identifier, warehouse, clock);
  printScan('after', after, print);
  printComparison(before, after, print);
  requireSuccess(outcome, before, after);

  const { metadata, metadataLocation } = await loadTable(identifier, { ...warehouse, clock });
  const snapshot = snapshotOfRef(metadata);
  print(`committed, read back from the catalog: ${metadataLocation}`);
  print(
    `  snapshot ${snapshot?.snapshotId}, ${snapshot?.summary['operation']} by run ${snapshot?.summary['firn.run-id']}: ` +
      `${snapshot?.summary['deleted-data-files']} files replaced by ${snapshot?.summary['added-data-files']}, ` +
      `${snapshot?.summary['total-records']} records as before`,
  );
}

/** Sends the handler what a queue would send it, and hands back how the run ended. */
async function invokeHandler(
  print: (line: string) => void,
  { warehouse, catalogUrl, clock, random }: LocalCloud,
): Promise<RewriteDataFilesOutcome | undefined> {
  const config = {
    catalogUrl,
    enabledTables: [TABLE_NAME],
    isObserving: false,
    guards: LOWERED_GUARD_SETTINGS,
    logLevel: 'info',
  } as const;
  print(
    `deployment parameters of this demo: enabled tables ${config.enabledTables.join(', ')}; clock of this machine; ` +
      `guards lowered, since the table is seconds old: ${guardSettingsText(config.guards)}; everything else as shipped\n`,
  );
  let outcome: RewriteDataFilesOutcome | undefined;
  const handler = createHandler({
    config,
    warehouse,
    clock,
    random,
    logDestination: { write: (line) => print(`  log ${line.trimEnd()}`) },
    onOutcome: (_table, ended) => {
      outcome = ended;
    },
  });
  const startMs = clock.nowMs();
  const answer = await handler(queueEvent(randomUuid(random), startMs), {
    awsRequestId: randomUuid(random),
    getRemainingTimeInMillis: () => LAMBDA_TIMEOUT_MS - (clock.nowMs() - startMs),
  });
  print(
    `handler functions/rewrite-data-files: ${formatDuration(clock.nowMs() - startMs)}, ` +
      `${answer.batchItemFailures.length} failed messages\n`,
  );
  return outcome;
}

function queueEvent(messageId: string, sentMs: number): SQSEvent {
  const request: MaintenanceRequest = {
    version: 1,
    operation: 'rewrite-data-files',
    table: TABLE_NAME,
    reason: 'npm start: many small files',
    correlationId: messageId,
  };
  return {
    Records: [
      {
        messageId,
        receiptHandle: messageId,
        body: JSON.stringify(request),
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: String(sentMs),
          SenderId: 'local',
          ApproximateFirstReceiveTimestamp: String(sentMs),
          MessageGroupId: TABLE_NAME,
        },
        messageAttributes: {},
        md5OfBody: '',
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:rewrite-data-files',
        awsRegion: 'us-east-1',
      },
    ],
  };
}

function printScan(title: string, scan: RowScan, print: (line: string) => void): void {
  const bytes = scan.fileSizesBytes.reduce((sum, size) => sum + size, 0);
  print(
    `${title}: ${formatCount(scan.fileSizesBytes.length, 'data file')}, ${formatBytes(bytes)}, ` +
      `${formatCount(Number(scan.rowCount), 'row')}`,
  );
  for (const line of formatSizeHistogram(scan.fileSizesBytes)) print(`  ${line}`);
  print(
    `  planning ${formatDuration(scan.planDurationMs)}, fetching and scanning with DuckDB ${formatDuration(scan.scanDurationMs)}\n`,
  );
}

function printComparison(before: RowScan, after: RowScan, print: (line: string) => void): void {
  const times = (one: number, other: number): string => `${(one / Math.max(other, 1)).toFixed(1)}x`;
  print(
    `files ${times(before.fileSizesBytes.length, after.fileSizesBytes.length)} fewer, ` +
      `scan ${times(before.scanDurationMs, after.scanDurationMs)} faster, ` +
      `rows ${before.rowHash === after.rowHash ? 'equal' : 'DIFFERENT'} (hash ${after.rowHash})`,
  );
}

function requireSuccess(
  outcome: RewriteDataFilesOutcome | undefined,
  before: RowScan,
  after: RowScan,
): void {
  if (outcome?.outcome !== 'committed') {
    throw new IcebergError(
      'invariant',
      `demo: the run ended as ${outcome?.outcome ?? 'a failure'}`,
    );
  }
  if (before.rowHash !== after.rowHash || before.rowCount !== after.rowCount) {
    throw new IcebergError(
      'invariant',
      `demo: ${after.rowCount} rows with hash ${after.rowHash}, before ${before.rowCount} with ${before.rowHash}`,
    );
  }
}
