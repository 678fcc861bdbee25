import assert from 'node:assert/strict';
import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import {
  type JsonObject,
  ManualClock,
  parseJson,
  seededRandom,
  serializeJson,
} from '../../shared/base/index.ts';
import {
  FileCatalog,
  type FileCatalogOptions,
  formatTableIdentifier,
  parseTableIdentifier,
  type TableIdentifier,
} from '../../shared/catalog/index.ts';
import { errorOfKind } from '../support/error-of-kind.ts';
import { testCatalogConformance } from './catalog.conformance.ts';
import { rawRecords } from './raw-records.ts';

testCatalogConformance('file', async (clock) => {
  const folder = await mkdtemp(`${tmpdir()}/firn-file-catalog-`);
  const tableFolder = (identifier: TableIdentifier) =>
    `${folder}/${encodeURIComponent(formatTableIdentifier(identifier))}`;
  const headPath = async (identifier: TableIdentifier) => {
    const names = await readdir(tableFolder(identifier));
    return `${tableFolder(identifier)}/${names.sort().at(-1)}`;
  };
  let drops = 0;
  return {
    catalog: new FileCatalog({ folder, clock, random: seededRandom(1) }),
    other: new FileCatalog({ folder, clock, random: seededRandom(2) }),
    raw: rawRecords({
      clock,
      readRecord: async (identifier) =>
        parseJson(await readFile(await headPath(identifier), 'utf8'), 'head') as JsonObject,
      writeRecord: async (identifier, record) => {
        await mkdir(tableFolder(identifier), { recursive: true });
        const count = (await readdir(tableFolder(identifier))).length;
        const name = `${String(count + 1).padStart(8, '0')}.json`;
        await writeFile(`${tableFolder(identifier)}/${name}`, serializeJson(record));
      },
      drop: (identifier) => rename(tableFolder(identifier), `${folder}/.dropped-${++drops}`),
    }),
    close: () => rm(folder, { recursive: true }),
  };
});

describe('FileCatalog', () => {
  const identifier = parseTableIdentifier('db.orders');
  const syncFolder = async () => {};
  const failWith = (code: string) => async () => {
    throw Object.assign(new Error(code), { code });
  };

  async function withFolder(
    run: (
      folder: string,
      open: (calls?: FileCatalogOptions['calls']) => FileCatalog,
    ) => Promise<void>,
  ): Promise<void> {
    const folder = await mkdtemp(`${tmpdir()}/firn-file-catalog-`);
    const options = { folder, clock: new ManualClock(0), random: seededRandom(1) };
    try {
      await run(
        folder,
        (calls) => new FileCatalog(calls === undefined ? options : { ...options, calls }),
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  test('keeps each pointer as a numbered record, and leaves no temporary file', async () => {
    await withFolder(async (folder, open) => {
      const base = await open().registerTable(identifier, 's3://w/0.json');
      await open().commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' });

      const names = await readdir(`${folder}/db.orders`);

      assert.deepEqual(names.sort(), ['00000001.json', '00000002.json']);
      assert.deepEqual(
        parseJson(await readFile(`${folder}/db.orders/00000002.json`, 'utf8'), 'record'),
        {
          'format-version': 1,
          namespace: ['db'],
          name: 'orders',
          version: 'v1',
          'metadata-location': 's3://w/1.json',
          'previous-metadata-location': 's3://w/0.json',
          'created-at-ms': 0,
          'updated-at-ms': 0,
          properties: {},
        },
      );
    });
  });

  test('does not see the temporary file of a writer that died', async () => {
    await withFolder(async (folder, open) => {
      const base = await open().registerTable(identifier, 's3://w/0.json');
      await writeFile(`${folder}/db.orders/.dead.tmp`, '{"half":');

      await open().commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' });

      assert.equal((await open().loadTable(identifier)).version, 'v1');
    });
  });

  test('a registration that died before its record leaves no table, and can be repeated', async () => {
    await withFolder(async (folder, open) => {
      await mkdir(`${folder}/db.orders`);

      await assert.rejects(open().loadTable(identifier), errorOfKind('not-found'));

      const base = await open().registerTable(identifier, 's3://w/0.json');
      assert.deepEqual(await open().loadTable(identifier), base);
    });
  });

  test('does not list folders and files that are not tables', async () => {
    await withFolder(async (folder, open) => {
      for (const name of ['.dropped', 'nodots', 'a%2Eb', '%E0%A4%A', 'data.x.']) {
        await mkdir(`${folder}/${name}`);
      }
      await writeFile(`${folder}/db.file`, '');
      await open().registerTable(identifier, 's3://w/0.json');
      const found: TableIdentifier[] = [];

      for await (const table of open().listTables()) found.push(table);

      assert.deepEqual(found, [identifier]);
    });
  });

  test('names the folder when the catalog itself is not there', async () => {
    await withFolder(async (folder, open) => {
      await rm(folder, { recursive: true });

      await assert.rejects(open().loadTable(identifier), errorOfKind('not-found', /list/));
      await assert.rejects(
        open().listTables()[Symbol.asyncIterator]().next(),
        errorOfKind('not-found', /list/),
      );
    });
  });

  test('refuses records that are damaged, of another table, or too large', async () => {
    const good = {
      'format-version': 1,
      namespace: ['db'],
      name: 'orders',
      version: 'v0',
      'metadata-location': 's3://w/0.json',
    };
    const damaged: [string, RegExp][] = [
      ['{"half":', /not valid JSON/],
      ['[]', /is not an object/],
      [serializeJson({ ...good, name: 'Orders' }), /is the record of db\.Orders, not db\.orders/],
      [serializeJson({ ...good, 'metadata-location': '' }), /metadata-location is missing/],
      [serializeJson({ ...good, version: 7 }), /version is missing, empty or not a string/],
      [serializeJson({ ...good, 'previous-metadata-location': '' }), /previous-metadata-location/],
      [serializeJson({ ...good, properties: [] }), /properties is not an object/],
      [serializeJson({ ...good, properties: { a: 1 } }), /property a is not a string/],
      [' '.repeat(1024 * 1024 + 1), /1048577 bytes, at most 1048576/],
    ];
    for (const [text, message] of damaged) {
      await withFolder(async (folder, open) => {
        await mkdir(`${folder}/db.orders`);
        await writeFile(`${folder}/db.orders/00000001.json`, text);

        await assert.rejects(open().loadTable(identifier), errorOfKind('invalid-data', message));
      });
    }
  });

  test('refuses records of a format version to come', async () => {
    await withFolder(async (folder, open) => {
      await mkdir(`${folder}/db.orders`);
      await writeFile(`${folder}/db.orders/00000001.json`, '{"format-version":2}');

      await assert.rejects(
        open().loadTable(identifier),
        errorOfKind('unsupported', /format version is 2, not 1/),
      );
    });
  });

  test('refuses a commit beyond the last record number', async () => {
    await withFolder(async (folder, open) => {
      const base = await open().registerTable(identifier, 's3://w/0.json');
      await rename(`${folder}/db.orders/00000001.json`, `${folder}/db.orders/99999999.json`);

      await assert.rejects(
        open().commitTable({ base, metadataLocation: 's3://w/1.json', version: 'v1' }),
        errorOfKind('unsupported', /100000000 records, 99999999 fit/),
      );
    });
  });

  test('an error of the file system after the link is an unknown state', async () => {
    await withFolder(async (_folder, open) => {
      const base = await open().registerTable(identifier, 's3://w/0.json');
      const update = { base, metadataLocation: 's3://w/1.json', version: 'v1' };

      const commit = open({ link, syncFolder: failWith('EIO') }).commitTable(update);

      await assert.rejects(commit, errorOfKind('commit-state-unknown', /may not be durable/));
      assert.equal((await open().loadTable(identifier)).version, 'v1');
    });
  });

  test('tells errors of the link that leave the state open from those that do not', async () => {
    const expected = {
      EIO: 'commit-state-unknown',
      EEXIST: 'commit-conflict',
      ENOENT: 'commit-conflict',
      EPERM: 'access-denied',
      EROFS: 'access-denied',
      ENOTSUP: 'unsupported',
      ENOSPC: 'unavailable',
    } as const;
    for (const [code, kind] of Object.entries(expected)) {
      await withFolder(async (folder, open) => {
        const base = await open().registerTable(identifier, 's3://w/0.json');
        const update = { base, metadataLocation: 's3://w/1.json', version: 'v1' };

        const commit = open({ link: failWith(code), syncFolder }).commitTable(update);

        await assert.rejects(commit, errorOfKind(kind));
        assert.deepEqual(await readdir(`${folder}/db.orders`), ['00000001.json']);
      });
    }
  });

  test('answers a conflict when the folder goes away between read and write', async () => {
    await withFolder(async (folder, open) => {
      const base = await open().registerTable(identifier, 's3://w/0.json');
      const dropThenLink = async (source: string, target: string) => {
        await rename(`${folder}/db.orders`, `${folder}/.dropped`);
        await link(source, target);
      };

      const commit = open({ link: dropThenLink, syncFolder }).commitTable({
        base,
        metadataLocation: 's3://w/1.json',
        version: 'v1',
      });

      await assert.rejects(commit, errorOfKind('commit-conflict', /has been dropped/));
    });
  });

  test('refuses a name that the file system cannot hold', async () => {
    await withFolder(async (_folder, open) => {
      const long = { namespace: ['db'], name: 'x'.repeat(300) };

      await assert.rejects(
        open().registerTable(long, 's3://w/0.json'),
        errorOfKind('invalid-config', /ENAMETOOLONG/),
      );
      await assert.rejects(open().loadTable(long), errorOfKind('invalid-config', /ENAMETOOLONG/));
    });
  });

  test('refuses a file where its folder should be', async () => {
    await withFolder(async (folder, open) => {
      await writeFile(`${folder}/db.orders`, '');

      await assert.rejects(open().loadTable(identifier), errorOfKind('invalid-config', /ENOTDIR/));
    });
  });
});
