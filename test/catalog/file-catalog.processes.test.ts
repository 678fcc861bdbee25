import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ManualClock, seededRandom } from '../../shared/base/index.ts';
import { FileCatalog, parseTableIdentifier } from '../../shared/catalog/index.ts';

const PROCESS_COUNT = 3;
const COMMIT_COUNT = 20;

const COMMITTER = new URL('./file-catalog-committer.ts', import.meta.url).pathname;

test('processes that commit to one table lose no commit among them', async () => {
  const folder = await mkdtemp(`${tmpdir()}/firn-file-catalog-`);
  try {
    const catalog = new FileCatalog({ folder, clock: new ManualClock(0), random: seededRandom(1) });
    const identifier = parseTableIdentifier('db.counter');
    await catalog.registerTable(identifier, '0');

    await Promise.all(
      Array.from({ length: PROCESS_COUNT }, (_, seed) =>
        promisify(execFile)(process.execPath, [
          COMMITTER,
          folder,
          String(seed),
          String(COMMIT_COUNT),
        ]),
      ),
    );

    const { metadataLocation } = await catalog.loadTable(identifier);
    assert.equal(metadataLocation, String(PROCESS_COUNT * COMMIT_COUNT));
  } finally {
    await rm(folder, { recursive: true });
  }
});
