import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../shared/base/index.ts';
import {
  type FaultInjector,
  MemoryObjectStore,
  type StoreFault,
  type StoreOperation,
} from '../../shared/storage/index.ts';
import { patternBytes } from './object-store.conformance.ts';

const location = 's3://bucket/key';

/** Gives each fault once, to the next request of its operation. */
function faultsOf(...script: readonly (readonly [StoreOperation, StoreFault])[]): FaultInjector {
  const pending = [...script];
  return {
    next: (operation) => {
      const index = pending.findIndex(([of]) => of === operation);
      return Promise.resolve(index < 0 ? undefined : pending.splice(index, 1)[0]?.[1]);
    },
  };
}

describe('MemoryObjectStore with faults', () => {
  for (const failure of ['unavailable-before', 'throttled'] as const) {
    it(`has done nothing when a write is ${failure}`, async () => {
      const store = new MemoryObjectStore({ faults: faultsOf(['write', { failure }]) });

      await assert.rejects(store.write(location, patternBytes(1)), { kind: 'unavailable' });

      await assert.rejects(store.head(location), { kind: 'not-found' });
    });
  }

  for (const failure of ['unavailable-after', 'answer-lost'] as const) {
    it(`has written although the write is ${failure}`, async () => {
      const store = new MemoryObjectStore({ faults: faultsOf(['write', { failure }]) });

      await assert.rejects(store.write(location, patternBytes(1), { mustBeNew: true }), {
        kind: 'unavailable',
      });

      assert.equal((await store.head(location)).fileSizeBytes, 1);
    });
  }

  it('hides from a writer whose answer is lost that it was refused', async () => {
    const faults = faultsOf(['write', {}], ['write', { failure: 'answer-lost' }]);
    const store = new MemoryObjectStore({ faults });
    await store.write(location, patternBytes(1));

    await assert.rejects(store.write(location, patternBytes(2), { mustBeNew: true }), {
      kind: 'unavailable',
    });

    assert.equal((await store.head(location)).fileSizeBytes, 1);
  });

  it('shows the object of a writer whose close lost its answer', async () => {
    const store = new MemoryObjectStore({
      faults: faultsOf(['write', { failure: 'answer-lost' }]),
    });
    const writer = store.openWriter(location);
    await writer.write(patternBytes(3));

    await assert.rejects(writer.close(), { kind: 'unavailable' });

    assert.equal((await store.head(location)).fileSizeBytes, 3);
  });

  for (const operation of ['head', 'read', 'readRange', 'list'] as const) {
    it(`says access-denied when the right for ${operation} is missing`, async () => {
      const faults = faultsOf([operation, { failure: 'access-denied' }]);
      const store = new MemoryObjectStore({ faults });
      await store.write(location, patternBytes(10));
      const calls = {
        head: () => store.head(location),
        read: () => store.read(location, 10),
        readRange: () => store.readRange(location, 0, 1),
        list: () => Array.fromAsync(store.list(location)),
      };

      await assert.rejects(calls[operation](), {
        kind: 'access-denied',
        message: `${operation} ${location}: access-denied`,
      });
    });
  }

  it('lets latency pass on its clock before a request takes effect', async () => {
    const clock = new ManualClock(1000);
    const faults = faultsOf(['write', { latencyMs: 50 }]);
    const store = new MemoryObjectStore({ clock, faults });

    await store.write(location, patternBytes(1));

    assert.equal((await store.head(location)).lastModifiedMs, 1050);
  });

  it('shows each page of a slow listing as things are when it comes', async () => {
    const store = new MemoryObjectStore({ pageCountMax: 2 });
    for (const key of ['a', 'b', 'c', 'd'])
      await store.write(`s3://bucket/${key}`, patternBytes(1));
    const listing = store.list('s3://bucket/')[Symbol.asyncIterator]();
    await listing.next();

    await store.delete(['s3://bucket/b', 's3://bucket/c']);
    await store.write('s3://bucket/e', patternBytes(1));

    const rest: string[] = [];
    for (let next = await listing.next(); next.done !== true; next = await listing.next()) {
      rest.push(next.value.location);
    }
    assert.deepEqual(rest, ['s3://bucket/b', 's3://bucket/d', 's3://bucket/e']);
  });

  it('fails some locations of a delete and not the others', async () => {
    const faults = faultsOf(
      ['delete', {}],
      ['delete', { failure: 'answer-lost' }],
      ['delete', { failure: 'access-denied' }],
    );
    const store = new MemoryObjectStore({ faults });
    const locations = ['a', 'b', 'c'].map((key) => `s3://bucket/${key}`);
    for (const one of locations) await store.write(one, patternBytes(1));

    const outcome = await store.delete(locations);

    assert.deepEqual(outcome.deleted, ['s3://bucket/a']);
    assert.deepEqual(
      outcome.failed.map(({ kind }) => kind),
      ['unavailable', 'access-denied'],
    );
    const left = await Array.fromAsync(store.list('s3://bucket/'));
    assert.deepEqual(
      left.map((entry) => entry.location),
      ['s3://bucket/c'],
    );
  });

  it('holds one object under the three schemes of S3', async () => {
    const store = new MemoryObjectStore();
    await store.write('s3://bucket/key', patternBytes(1));

    assert.equal((await store.head('s3a://bucket/key')).location, 's3a://bucket/key');
    const listed = await Array.fromAsync(store.list('s3n://bucket/'));
    assert.deepEqual(
      listed.map((entry) => entry.location),
      ['s3n://bucket/key'],
    );
  });

  it('keeps bytes of its own, whatever the writer does to its array', async () => {
    const store = new MemoryObjectStore();
    const bytes = patternBytes(10);
    await store.write(location, bytes);

    bytes.fill(0);

    assert.deepEqual(await store.read(location, 10), patternBytes(10));
  });
});
