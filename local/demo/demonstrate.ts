import { join } from 'node:path';
import { IcebergError, systemClock, systemRandom } from '../../shared/base/index.ts';
import { parseTableIdentifier } from '../../shared/catalog/index.ts';
import { formatBytes, formatCount } from '../../shared/display/index.ts';
import {
  LOCAL_CATALOG_TABLE,
  LOCAL_REGION,
  type LocalCloud,
  startLocalCloud,
} from '../local-cloud.ts';
import { ItemStream } from '../stream/index.ts';
import { TableWriter } from '../table-writer/index.ts';
import { loadFixtureWarehouse, openFixtureWarehouse } from './fixture-warehouse.ts';
import { judgeReports } from './judge-reports.ts';
import { runLive } from './live-phase.ts';
import { listReports } from './observe-table.ts';
import { COPY_COUNT, parameterLines, TABLE_NAME, TABLE_PROPERTIES } from './parameters.ts';
import { appendCopies, listDataFiles } from './replicate.ts';
import { scanFiles, scanTable } from './scan-rows.ts';
import { committedLines, comparisonLine, isEqual, runLines, scanLines } from './summary.ts';

const FIXTURE_FOLDER = join(import.meta.dirname, '../../test/fixtures/warehouse');

export interface DemonstrationOptions {
  readonly print: (line: string) => void;
  /** Columns that a line may take. */
  readonly widthMax: number;
}

/**
 * The main job from end to end on this machine: a table that Spark wrote, grown by a writer that commits every
 * second, is kept healthy by the functions that a deployment runs, and read again by another engine.
 *
 * @throws invariant — when Firn landed no commit, a row is not what it was, or files were left for a reason that
 *   nobody expects
 */
export async function demonstrate({ print, widthMax }: DemonstrationOptions): Promise<void> {
  const fixture = await openFixtureWarehouse(FIXTURE_FOLDER);
  const stream = new ItemStream({
    tableName: LOCAL_CATALOG_TABLE,
    region: LOCAL_REGION,
    viewType: 'KEYS_ONLY',
    shardCount: 2,
    clock: systemClock,
    random: systemRandom,
  });
  const cloud = await startLocalCloud({
    buckets: fixture.buckets,
    onCatalogChange: (change) => stream.append(change),
  });
  try {
    print(`local cloud: S3 at ${cloud.s3.endpoint}, DynamoDB at ${cloud.dynamoDb.endpoint}`);
    const loaded = await loadFixtureWarehouse(fixture, {
      store: cloud.warehouse.store,
      dynamoDbEndpoint: cloud.dynamoDb.endpoint,
    });
    print(
      `loaded ${formatCount(loaded.objectCount, 'object')}, ${formatBytes(loaded.bytes)}, written by Spark through DynamoDbCatalog`,
    );
    await keepHealthy({ cloud, stream, print, widthMax });
  } finally {
    await cloud.close();
  }
}

async function keepHealthy({
  cloud,
  stream,
  print,
  widthMax,
}: DemonstrationOptions & {
  readonly cloud: LocalCloud;
  readonly stream: ItemStream;
}): Promise<void> {
  const { warehouse, clock, random } = cloud;
  const { store } = warehouse;
  const identifier = parseTableIdentifier(TABLE_NAME);
  const writer = new TableWriter(identifier, { ...warehouse, clock, random });
  const originals = await listDataFiles(await writer.load(), store);
  const paths = originals.map(({ dataFile }) => dataFile.filePath);
  for (let copy = 0; copy < COPY_COUNT; copy++) {
    paths.push(...(await appendCopies(writer, originals, { store, label: `copy-${copy}` })));
  }
  await writer.setProperties(TABLE_PROPERTIES);
  print(
    `${TABLE_NAME}: each of its ${originals.length} files copied ${COPY_COUNT} times by Firn's own table writer\n`,
  );
  for (const line of parameterLines()) print(line);
  print('');

  paths.push(...(await runLive({ cloud, stream, writer, originals, print, widthMax })));

  print('');
  const written = await scanFiles(paths, { store, clock });
  const kept = await scanTable(identifier, warehouse, clock);
  for (const line of scanLines('as the writer left it', written)) print(line);
  for (const line of scanLines('as Firn keeps it', kept)) print(line);
  print(comparisonLine(written, kept));
  for (const line of await committedLines(identifier, cloud)) print(line);
  const reports = await listReports(identifier, warehouse);
  print('');
  for (const line of runLines(reports, widthMax)) print(line);
  const problems = await judgeReports(reports, warehouse.openLedger());
  if (!isEqual(written, kept)) problems.push('rows differ');
  if (problems.length > 0) throw new IcebergError('invariant', `demo: ${problems.join('; ')}`);
}
