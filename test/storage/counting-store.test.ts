import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countingStore, MemoryObjectStore } from '../../shared/storage/index.ts';
import { patternBytes } from './object-store.conformance.ts';

describe('countingStore', () => {
  it('counts calls by kind and bytes in both directions, failed calls too', async () => {
    const store = countingStore(new MemoryObjectStore());

    await store.write('s3://bucket/a', patternBytes(100));
    const writer = store.openWriter('s3://bucket/b');
    await writer.write(patternBytes(50));
    await writer.close();
    await store.head('s3://bucket/a');
    await assert.rejects(store.head('s3://bucket/missing'));
    await store.read('s3://bucket/a', 100);
    await store.readRange('s3://bucket/a', 0, 10);
    await store.openRanged('s3://bucket/a', 100).read(5, 7);
    await Array.fromAsync(store.list('s3://bucket/'));
    await store.delete(['s3://bucket/a', 's3://bucket/b']);

    assert.deepEqual(store.requestCounts, {
      head: 2,
      read: 1,
      readRange: 2,
      write: 1,
      openWriter: 1,
      list: 1,
      delete: 1,
      deletedCount: 2,
      bytesRead: 117,
      bytesWritten: 150,
    });
  });
});
