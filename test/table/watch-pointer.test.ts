import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countingCatalog } from '../../shared/catalog/index.ts';
import { watchPointer } from '../../shared/table/watch-pointer.ts';
import { createWarehouse, IDENTIFIER } from './replace-fixture.ts';

describe('watchPointer', () => {
  it('returns the pointer as soon as another commit has moved it', async () => {
    const { catalog, clock, builder } = await createWarehouse();
    const sleepMs = clock.sleepMs.bind(clock);
    let sleepCount = 0;
    clock.sleepMs = async (durationMs) => {
      if (++sleepCount === 3) await builder.setProperties({ owner: 'somebody' });
      return sleepMs(durationMs);
    };

    const pointer = await watchPointer(IDENTIFIER, { catalog, clock });

    assert.equal(sleepCount, 3);
    assert.equal(pointer.metadataLocation, (await builder.load()).metadataLocation);
  });

  it('waits half a second for a pointer that stands still, looking every 10 ms', async () => {
    const { catalog, clock, builder } = await createWarehouse();
    const { pointer } = await builder.load();
    const counted = countingCatalog(catalog);
    const startMs = clock.nowMs();

    assert.deepEqual(await watchPointer(IDENTIFIER, { catalog: counted, clock }), pointer);

    assert.equal(clock.nowMs() - startMs, 500);
    assert.equal(counted.requestCounts.readCount, 51);
  });
});
