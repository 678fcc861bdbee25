import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { systemClock, systemRandom } from '../../shared/base/index.ts';
import { openWarehouse } from '../../shared/warehouse/index.ts';
import { createTable, smallFiles, temporaryFolder } from './command-fixture.ts';
import { COMPACT, documentOf, firn } from './firn-process.ts';

async function createFolderTable(folder: string, name: string): Promise<void> {
  const catalogUrl = `file:${folder}`;
  const warehouse = openWarehouse({ catalogUrl, clock: systemClock, random: systemRandom });
  const writer = await createTable(warehouse, name, { location: `file://${folder}/${name}` });
  await writer.append(smallFiles(['eu', 'us', 'eu', 'us', 'eu', 'us']));
  await writer.append(smallFiles(['eu', 'us', 'eu', 'us']));
}

async function listFolder(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

describe('firn on a local folder', () => {
  it('looks at a table, plans, compacts, and then has nothing to do', async (t) => {
    const folder = await temporaryFolder(t);
    await createFolderTable(folder, 'db.orders');
    const env = { FIRN_CATALOG: `file:${folder}` };

    const looked = await firn(['inspect', 'db.orders', '--json'], env);
    const filesBefore = await listFolder(folder);
    const planned = await firn([...COMPACT, 'db.orders', '--dry-run', '--json'], env);
    const filesPlanned = await listFolder(folder);
    const compacted = await firn([...COMPACT, 'db.orders', '--json'], env);
    const again = await firn([...COMPACT, 'db.orders', '--json'], env);

    assert.deepEqual(
      [looked, planned, compacted, again].map(({ exitCode, stderr }) => [exitCode, stderr]),
      [
        [0, ''],
        [0, ''],
        [0, ''],
        [3, ''],
      ],
    );
    assert.equal(documentOf(looked.stdout)['formatVersion'], 2);
    assert.equal(documentOf(planned.stdout)['outcome'], 'observed');
    assert.deepEqual(filesPlanned, filesBefore);
    const { outcome, before, after } = documentOf(compacted.stdout);
    assert.equal(outcome, 'committed');
    assert.deepEqual(
      [before, after].map((counts) => (counts as { fileCount: number }).fileCount),
      [10, 2],
    );
    assert.equal(documentOf(again.stdout)['outcome'], 'nothing-planned');
  });

  it('registers a table under another name, once', async (t) => {
    const folder = await temporaryFolder(t);
    await createFolderTable(folder, 'db.orders');
    const catalog = ['--catalog', `file:${folder}`];
    const { metadataLocation } = documentOf(
      (await firn(['inspect', 'db.orders', '--json', ...catalog])).stdout,
    );
    const args = ['--metadata-location', String(metadataLocation), ...catalog];

    const registered = await firn(['register', 'db.copy', ...args]);
    const again = await firn(['register', 'db.copy', ...args]);

    assert.equal(registered.exitCode, 0);
    assert.equal(registered.stdout, `db.copy: registered, format v2, file://${folder}/db.orders\n`);
    assert.equal(again.exitCode, 1);
    assert.match(again.stderr, /^error \(commit-conflict\): .*db\.copy/);
    assert.match(again.stderr, /somebody else was first/);
  });

  it('says what is wrong on standard error, and with --json on standard output', async (t) => {
    const folder = await temporaryFolder(t);
    await createFolderTable(folder, 'db.orders');
    const args = ['inspect', 'db.none', '--catalog', `file:${folder}`];

    const text = await firn(args);
    const json = await firn([...args, '--json']);

    assert.deepEqual([text.exitCode, text.stdout], [1, '']);
    assert.match(
      text.stderr,
      /^error \(not-found\): .*: has no table db\.none\n {2}check the name/,
    );
    assert.deepEqual([json.exitCode, json.stderr], [1, '']);
    assert.deepEqual(documentOf(json.stdout), {
      error: {
        kind: 'not-found',
        table: 'db.none',
        message: `${join(folder, '.firn-catalog')}: has no table db.none`,
      },
    });
  });

  it('does not mind a reader that stops early', async (t) => {
    const folder = await temporaryFolder(t);
    await createFolderTable(folder, 'db.orders');
    const main = join(import.meta.dirname, '../../cli/main.ts');
    const args = [main, 'inspect', 'db.orders', '--catalog', `file:${folder}`];
    const child = spawn(process.execPath, args, { env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });

    child.stdout.destroy();
    const [exitCode] = await once(child, 'close');

    assert.deepEqual([exitCode, stderr], [0, '']);
  });
});

describe('firn used wrongly', () => {
  for (const [what, args, message] of [
    ['without a command', [], /^Usage: firn/],
    ['with an unknown command', ['drop'], /unknown command 'drop'/],
    ['with an unknown option', ['compact', 'a.b', '--nope'], /unknown option '--nope'/],
    ['without a table', ['inspect'], /missing required argument 'table'/],
    ['without a catalog', ['inspect', 'a.b'], /give --catalog or set FIRN_CATALOG/],
  ] as const) {
    it(`${what} ends with 2 and says so`, async () => {
      const { exitCode, stdout, stderr } = await firn(args);

      assert.deepEqual([exitCode, stdout], [2, '']);
      assert.match(stderr, message);
    });
  }
});

describe('firn asked about itself', () => {
  it('tells its version', async () => {
    const { exitCode, stdout } = await firn(['--version']);

    assert.deepEqual([exitCode, stdout], [0, `${packageJson.version}\n`]);
  });

  it('tells its commands and exit codes', async () => {
    const { exitCode, stdout } = await firn(['--help']);

    assert.equal(exitCode, 0);
    for (const command of ['inspect', 'compact', 'register']) {
      assert.match(stdout, new RegExp(`^ {2}${command} `, 'm'));
    }
    assert.match(stdout, /Exit codes: 0 done, 1 failed, 2 usage, 3 nothing to do/);
  });
});
