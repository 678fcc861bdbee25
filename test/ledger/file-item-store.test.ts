import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { getuid } from 'node:process';
import { describe, test } from 'node:test';
import { seededRandom } from '../../shared/base/index.ts';
import { createLedger, FileItemStore } from '../../shared/ledger/index.ts';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { testLedgerConformance } from './ledger.conformance.ts';

testLedgerConformance('file', async (clock) => {
  const folder = await mkdtemp(`${tmpdir()}/firn-ledger-`);
  const state = { store: new MemoryObjectStore(), prefix: 's3://state/ledger/' };
  const items = new FileItemStore({ folder, random: seededRandom(1) });
  const otherItems = new FileItemStore({ folder, random: seededRandom(2) });
  return {
    ledger: createLedger({ items, state, clock, random: seededRandom(3) }),
    other: createLedger({ items: otherItems, state, clock, random: seededRandom(4) }),
    items,
    close: () => rm(folder, { recursive: true }),
  };
});

describe('FileItemStore', () => {
  const key = { partition: 'db.ordérs', sort: 'lease#rewrite' };
  const item = { ...key, revision: 'v1', body: { n: 1 } };

  async function withFolder(run: (folder: string, items: FileItemStore) => Promise<void>) {
    const folder = await mkdtemp(`${tmpdir()}/firn-ledger-`);
    try {
      await run(folder, new FileItemStore({ folder, random: seededRandom(1) }));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const itemFolder = (folder: string) => `${folder}/db.ord%C3%A9rs/lease%23rewrite`;

  test('keeps each state of an item as a numbered record', async () => {
    await withFolder(async (folder, items) => {
      await items.write({ ...item, expiresAtMs: 5 }, undefined);
      await items.write({ ...item, revision: 'v2' }, 'v1');
      await items.remove(key, 'v2');

      const names = (await readdir(itemFolder(folder))).sort();

      assert.deepEqual(names, ['00000001.json', '00000002.json', '00000003.json']);
      const texts = await Promise.all(
        names.map((name) => readFile(`${itemFolder(folder)}/${name}`, 'utf8')),
      );
      assert.deepEqual(texts, [
        '{"revision":"v1","body":{"n":1},"expires-at-ms":5}\n',
        '{"revision":"v2","body":{"n":1}}\n',
        '{"is-removed":true}\n',
      ]);
    });
  });

  test('a record that is none is invalid', async () => {
    await withFolder(async (folder, items) => {
      await mkdir(itemFolder(folder), { recursive: true });
      for (const text of ['{"half":', '[]', '{"revision":"v"}', '{"revision":1,"body":{}}']) {
        await writeFile(`${itemFolder(folder)}/00000001.json`, text);

        await assert.rejects(items.read(key), errorOfKind('invalid-data'));
      }
    });
  });

  test('an item that was changed too often is unsupported', async () => {
    await withFolder(async (folder, items) => {
      await mkdir(itemFolder(folder), { recursive: true });
      await writeFile(`${itemFolder(folder)}/99999999.json`, '{"revision":"v","body":{}}');

      await assert.rejects(items.write(item, 'v'), errorOfKind('unsupported', /100000000 records/));
    });
  });

  test('a ledger that is not there is empty', async () => {
    await withFolder(async (folder) => {
      const items = new FileItemStore({ folder: `${folder}/none`, random: seededRandom(1) });
      const query = { ...key, sortPrefix: '', order: 'ascending', itemCountMax: 1 } as const;

      assert.equal(await items.read(key), undefined);
      assert.deepEqual(await items.query(query), []);
    });
  });

  test('a file in the place of a folder is unavailable', async () => {
    await withFolder(async (folder, items) => {
      await writeFile(`${folder}/db.ord%C3%A9rs`, '');

      await assert.rejects(items.read(key), errorOfKind('unavailable', /ENOTDIR/));
    });
  });

  test('a table whose name no folder can have is refused', async () => {
    await withFolder(async (_folder, items) => {
      const partition = `db.${'x'.repeat(300)}`;

      await assert.rejects(
        items.write({ ...item, partition }, undefined),
        errorOfKind('invalid-config', /ENAMETOOLONG/),
      );
    });
  });

  test('a folder that may not be read is a missing right', async (context) => {
    if (getuid?.() === 0) return context.skip('the superuser may read everything');
    await withFolder(async (folder, items) => {
      await items.write(item, undefined);
      await chmod(itemFolder(folder), 0o000);

      await assert.rejects(items.read(key), errorOfKind('access-denied', /EACCES/));
      await chmod(itemFolder(folder), 0o700);
    });
  });
});
