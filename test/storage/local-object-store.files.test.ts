import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { LocalObjectStore } from '../../shared/storage/index.ts';
import { patternBytes, rejectsWith } from './object-store.conformance.ts';

async function withRoot(run: (root: string, store: LocalObjectStore) => Promise<void>) {
  const root = await mkdtemp(`${tmpdir()}/firn-local-`);
  try {
    await run(root, new LocalObjectStore({ root }));
  } finally {
    await rm(root, { recursive: true });
  }
}

describe('LocalObjectStore and its folder', () => {
  for (const path of ['/../outside', '/a/../../outside', '/a/./b', '/a//b', '/nul\0']) {
    it(`refuses the path ${JSON.stringify(path)}, which has another spelling`, () =>
      withRoot(async (root, store) => {
        const location = `file:${root}${path}`;

        await rejectsWith(store.write(location, patternBytes(1)), 'invalid-data', location);
        await rejectsWith(store.read(location, 1), 'invalid-data', location);
        await rejectsWith(Array.fromAsync(store.list(location)), 'invalid-data', location);
        await rejectsWith(store.delete([location]), 'invalid-data', location);
      }));
  }

  it('refuses paths outside, also one whose name starts like the folder', () =>
    withRoot(async (root, store) => {
      for (const location of ['/etc/hostname', `${root}-other/a`, 'file:///']) {
        await rejectsWith(store.head(location).then(), 'access-denied', location);
        await rejectsWith(Array.fromAsync(store.list(location)), 'access-denied', location);
      }
    }));

  for (const location of ['file:relative/path', 'file://host/path']) {
    it(`refuses ${location}, which is no absolute path`, () =>
      withRoot(async (_root, store) => {
        await rejectsWith(store.head(location), 'invalid-data', location);
      }));
  }

  it('knows one file under three spellings, and lists it in the one it is asked in', () =>
    withRoot(async (root, store) => {
      await store.write(`${root}/a`, patternBytes(5));

      for (const spelling of ['', 'file:', 'file://']) {
        const location = `${spelling}${root}/a`;
        assert.equal((await store.head(location)).location, location);
        const listed = await Array.fromAsync(store.list(`${spelling}${root}/`));
        assert.deepEqual(
          listed.map((entry) => entry.location),
          [location],
        );
      }
    }));

  it('lists only its own content when told to list the folder itself', () =>
    withRoot(async (root, store) => {
      await store.write(`${root}/a/b`, patternBytes(1));

      const listed = await Array.fromAsync(store.list(root));

      assert.deepEqual(
        listed.map(({ location }) => location),
        [`${root}/a/b`],
      );
    }));

  it('leaves no temporary file behind, neither written nor refused nor aborted', () =>
    withRoot(async (root, store) => {
      await store.write(`${root}/a`, patternBytes(1));
      await assert.rejects(store.write(`${root}/a`, patternBytes(1), { mustBeNew: true }));
      const writer = store.openWriter(`${root}/b`);
      await writer.write(patternBytes(1));
      await writer.abort();

      assert.deepEqual(await readdir(root), ['a']);
    }));

  it('leaves a temporary file of a crashed writer out of listings', () =>
    withRoot(async (root, store) => {
      const writer = store.openWriter(`${root}/b`);
      await writer.write(patternBytes(1));

      assert.deepEqual(await Array.fromAsync(store.list(`${root}/`)), []);
      await writer.abort();
    }));

  it('says unsupported when a folder has the name of an object, or the reverse', () =>
    withRoot(async (root, store) => {
      await store.write(`${root}/a/b`, patternBytes(1));

      await rejectsWith(store.write(`${root}/a`, patternBytes(1)), 'unsupported', `${root}/a`);
      const below = `${root}/a/b/c`;
      await rejectsWith(store.write(below, patternBytes(1)), 'unsupported', below);
      const long = `${root}/${'x'.repeat(300)}`;
      await rejectsWith(store.write(long, patternBytes(1)), 'unsupported', long);
    }));

  it('says not-found for a folder, and for what is below a file', () =>
    withRoot(async (root, store) => {
      await store.write(`${root}/a/b`, patternBytes(1));

      await rejectsWith(store.head(`${root}/a`), 'not-found', `${root}/a`);
      await rejectsWith(store.read(`${root}/a`, 10), 'not-found', `${root}/a`);
      await rejectsWith(store.read(`${root}/a/b/c`, 10), 'not-found', `${root}/a/b/c`);
    }));

  it('does not delete a folder', () =>
    withRoot(async (root, store) => {
      await store.write(`${root}/a/b`, patternBytes(1));

      const outcome = await store.delete([`${root}/a`]);

      assert.equal((await store.head(`${root}/a/b`)).fileSizeBytes, 1);
      assert.deepEqual(outcome.deleted.length + outcome.failed.length, 1);
    }));

  it('follows no symbolic link when it lists', () =>
    withRoot(async (root, store) => {
      await mkdir(`${root}/real`);
      await writeFile(`${root}/real/a`, patternBytes(1));
      await symlink(`${root}/real`, `${root}/link`);

      const listed = await Array.fromAsync(store.list(`${root}/`));

      assert.deepEqual(
        listed.map(({ location }) => location),
        [`${root}/real/a`],
      );
    }));
});
