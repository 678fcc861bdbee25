import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import {
  LocalObjectStore,
  MemoryObjectStore,
  RoutingObjectStore,
} from '../../shared/storage/index.ts';
import { patternBytes } from './object-store.conformance.ts';

describe('RoutingObjectStore', () => {
  it('keeps S3 and files apart, and gathers the outcomes of one delete', async () => {
    const root = await mkdtemp(`${tmpdir()}/firn-routing-`);
    const local = new LocalObjectStore({ root });
    const memory = new MemoryObjectStore();
    const store = new RoutingObjectStore({ s3: memory, s3a: memory, file: local });
    const locations = [`file:${root}/a`, 's3://bucket/b', `${root}/c`, 's3a://bucket/d'];
    for (const location of locations) await store.write(location, patternBytes(1));

    assert.equal((await memory.head('s3://bucket/d')).fileSizeBytes, 1);
    assert.equal((await local.head(`${root}/a`)).fileSizeBytes, 1);
    const outcome = await store.delete(locations);

    assert.deepEqual(outcome.deleted.toSorted(), locations.toSorted());
    await rm(root, { recursive: true });
  });

  it('refuses a location without a scheme, naming it', async () => {
    const store = new RoutingObjectStore({ s3: new MemoryObjectStore() });

    await assert.rejects(store.head('relative/path'), {
      kind: 'invalid-config',
      message: 'relative/path: location has no scheme',
    });
  });
});
