import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { S3Fault, S3RequestFacts } from '../../local/s3-endpoint/index.ts';
import { startTestCloud } from './cloud-fixture.ts';
import { createTable, smallFiles } from './command-fixture.ts';
import { COMPACT, documentOf, firn } from './firn-process.ts';

const SIX_FILES = ['eu', 'eu', 'eu', 'eu', 'eu', 'eu'];

/** Rights that are missing from some moment on. */
function createRights() {
  const state: { isDenied: (request: S3RequestFacts) => boolean } = { isDenied: () => false };
  return {
    state,
    faults: (request: S3RequestFacts): S3Fault | undefined =>
      state.isDenied(request) ? { answer: { status: 403, code: 'AccessDenied' } } : undefined,
  };
}

describe('firn on DynamoDB and S3', () => {
  it('looks at a table, compacts it, and then has nothing to do', async (t) => {
    const cloud = await startTestCloud(t, () => undefined);
    const writer = await createTable(cloud.warehouse, 'db.orders');
    await writer.append(smallFiles(SIX_FILES));
    const args = ['db.orders', '--json', '--catalog', cloud.catalogUrl];

    const looked = await firn(['inspect', ...args]);
    const compacted = await firn([...COMPACT, ...args]);
    const again = await firn([...COMPACT, ...args]);

    assert.deepEqual(
      [looked, compacted, again].map(({ exitCode, stderr }) => [exitCode, stderr]),
      [
        [0, ''],
        [0, ''],
        [3, ''],
      ],
    );
    const { metadata, metadataLocation } = await writer.load();
    const [commit] = documentOf(compacted.stdout)['commits'] as readonly { snapshotId: string }[];
    assert.equal(commit?.snapshotId, String(metadata.currentSnapshotId));
    assert.notEqual(documentOf(looked.stdout)['metadataLocation'], metadataLocation);
  });

  it('names the action and the object that a right is missing for', async (t) => {
    const { state, faults } = createRights();
    const cloud = await startTestCloud(t, faults);
    const writer = await createTable(cloud.warehouse, 'db.orders');
    const [file] = await writer.append(smallFiles(SIX_FILES));
    const { metadataLocation } = await writer.load();
    const { filePath } = file!.dataFile;
    const args = ['db.orders', '--catalog', cloud.catalogUrl];

    state.isDenied = ({ key }) => metadataLocation.endsWith(key);
    const metadata = await firn(['inspect', ...args]);
    state.isDenied = ({ key }) => filePath.endsWith(key);
    const dataFile = await firn([...COMPACT, ...args]);
    state.isDenied = ({ operation }) => operation === 'PutObject';
    const output = await firn([...COMPACT, ...args, '--json']);

    assert.deepEqual(
      [metadata, dataFile, output].map(({ exitCode }) => exitCode),
      [1, 1, 1],
    );
    assert.ok(
      metadata.stderr.startsWith(
        `error (access-denied): s3:GetObject ${metadataLocation}: AccessDenied, status 403\n`,
      ),
      metadata.stderr,
    );
    assert.match(metadata.stderr, /grant the action named above/);
    assert.ok(
      dataFile.stderr.startsWith(`error (access-denied): s3:GetObject ${filePath}: AccessDenied`),
      dataFile.stderr,
    );
    const { error } = documentOf(output.stdout) as { readonly error: Record<string, string> };
    assert.equal(error['kind'], 'access-denied');
    assert.equal(error['action'], 's3:PutObject');
    assert.match(
      error['location'] ?? '',
      /^s3:\/\/bucket\/db\.orders\/data\/region=eu\/.*\.parquet$/,
    );
  });

  it('names the action and the table that a right on the catalog is missing for', async (t) => {
    const cloud = await startTestCloud(t, () => undefined);
    const writer = await createTable(cloud.warehouse, 'db.orders');
    await writer.append(smallFiles(SIX_FILES));

    const read = await firn([
      ...['inspect', 'db.orders', '--catalog'],
      await cloud.refusing('GetItem'),
    ]);
    const written = await firn([
      ...[...COMPACT, 'db.orders', '--catalog'],
      await cloud.refusing('UpdateItem'),
    ]);

    assert.deepEqual([read.exitCode, written.exitCode], [1, 1]);
    assert.match(
      read.stderr,
      /^error \(access-denied\): catalog table iceberg: access denied for dynamodb:GetItem of db\.orders/,
    );
    assert.match(
      written.stderr,
      /^error \(access-denied\): catalog table iceberg: access denied for dynamodb:UpdateItem of db\.orders/,
    );
  });

  it('says how to make a ledger that is missing; firn init makes it', async (t) => {
    const cloud = await startTestCloud(t, () => undefined, { hasLedger: false });
    const writer = await createTable(cloud.warehouse, 'db.orders');
    await writer.append(smallFiles(SIX_FILES));
    const args = ['--catalog', cloud.catalogUrl];

    const dryRun = await firn([...COMPACT, 'db.orders', '--dry-run', ...args]);
    const without = await firn([...COMPACT, 'db.orders', ...args]);
    const made = await firn(['init', ...args]);
    const compacted = await firn([...COMPACT, 'db.orders', ...args]);
    const history = await firn(['history', 'db.orders', '--json', ...args]);

    assert.deepEqual(
      [dryRun, without, made, compacted, history].map(({ exitCode }) => exitCode),
      [0, 1, 0, 0, 0],
    );
    assert.match(without.stderr, /^error \(not-found\): ledger table firn-ledger: no such table/);
    assert.match(without.stderr, /Make it with `firn init`/);
    assert.match(made.stdout, /^ledger table firn-ledger is there\n/);
    const reports = documentOf(history.stdout)['reports'] as readonly { outcome: string }[];
    assert.deepEqual(
      reports.map(({ outcome }) => outcome),
      ['committed'],
    );
  });

  it('demands a place for the state of the ledger before it changes a table', async (t) => {
    const cloud = await startTestCloud(t, () => undefined);
    const writer = await createTable(cloud.warehouse, 'db.orders');
    await writer.append(smallFiles(SIX_FILES));
    const catalog = cloud.catalogUrl.replace(/&state=.*$/, '');

    const { exitCode, stderr } = await firn([...COMPACT, 'db.orders', '--catalog', catalog]);

    assert.equal(exitCode, 2);
    assert.match(stderr, /^error \(invalid-config\): ledger: nothing says where its state goes/);
  });

  it('tells a missing table from a missing catalog', async (t) => {
    const cloud = await startTestCloud(t, () => undefined);

    const table = await firn(['inspect', 'db.none', '--catalog', cloud.catalogUrl]);
    const catalog = await firn([
      ...['inspect', 'db.none', '--catalog'],
      cloud.catalogUrl.replace('/iceberg?', '/icebreg?'),
    ]);

    assert.deepEqual([table.exitCode, catalog.exitCode], [1, 1]);
    assert.match(
      table.stderr,
      /^error \(not-found\): catalog table iceberg: has no table db\.none/,
    );
    assert.match(catalog.stderr, /^error \(not-found\): catalog table icebreg: no such table, for/);
  });
});
