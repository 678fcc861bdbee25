import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryObjectStore } from '../../shared/storage/index.ts';
import { BASE_TABLES } from './base-tables.ts';
import { OverlayStore } from './overlay-store.ts';
import { runCase } from './run-case.ts';

describe('runCase', () => {
  test('commits a sound table with equal rows', async () => {
    const base = await BASE_TABLES.get('java-v2-gzip')!();

    const { outcome } = await runCase(base, new Map(), { expects: 'commit' });

    assert.equal(outcome, 'committed, equal');
  });

  test('fails a commit that had to be refused', async () => {
    const base = await BASE_TABLES.get('java-v2-gzip')!();

    const { outcome } = await runCase(base, new Map(), { expects: 'refusal' });

    assert.equal(outcome, 'FAILED');
  });

  test('fails a sound table that is not committed', async () => {
    const base = await BASE_TABLES.get('java-v2-gzip')!();
    const corruption = new Map([[base.metadataLocation, new Uint8Array(3)]]);

    const { outcome } = await runCase(base, corruption, { expects: 'commit' });

    assert.equal(outcome, 'FAILED');
  });

  test('names the kind of a refusal', async () => {
    const base = await BASE_TABLES.get('java-v2-gzip')!();
    const corruption = new Map([[base.metadataLocation, new Uint8Array(3)]]);

    const { outcome } = await runCase(base, corruption, { expects: 'anything' });

    assert.equal(outcome, 'refused: invalid-data');
  });

  test('leaves the base as it was', async () => {
    const base = await BASE_TABLES.get('partitioned-v1')!();
    const before = await base.store.read(base.metadataLocation, 1e6);

    await runCase(base, new Map(), { expects: 'commit' });

    assert.deepEqual(await base.store.read(base.metadataLocation, 1e6), before);
    for await (const { location } of base.store.list('s3://bucket/')) {
      assert.ok(base.locations.has(location), location);
    }
  });
});

describe('OverlayStore', () => {
  test('notes a deletion and a write over what was there', async () => {
    const base = new MemoryObjectStore();
    await base.write('s3://bucket/a', Uint8Array.of(1));
    const overlay = new OverlayStore(base);

    await overlay.write('s3://bucket/a', Uint8Array.of(2));
    await overlay.delete(['s3://bucket/b']);

    assert.deepEqual(overlay.violations, ['wrote over s3://bucket/a', 'deleted s3://bucket/b']);
    assert.deepEqual(await overlay.read('s3://bucket/a', 10), Uint8Array.of(2));
    assert.deepEqual(await base.read('s3://bucket/a', 10), Uint8Array.of(1));
  });

  test('notes nothing of a corruption and of new objects', async () => {
    const overlay = new OverlayStore(new MemoryObjectStore());

    await overlay.corrupt('s3://bucket/a', Uint8Array.of(2));
    const writer = overlay.openWriter('s3://bucket/c');
    await writer.write(Uint8Array.of(3));
    await writer.close();

    assert.deepEqual(overlay.violations, []);
    assert.deepEqual(await overlay.read('s3://bucket/c', 10), Uint8Array.of(3));
  });
});
