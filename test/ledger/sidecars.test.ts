import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorOfKind } from '../support/error-of-kind.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const PLAN = { table: 'db.orders', name: 'rewrite-data-files.plan' };

describe('sidecars', () => {
  it('are one object for each table and name, below the prefix, whose later bytes count', async () => {
    const { sidecars, statePrefix } = memoryLedger();

    const first = await sidecars.write(PLAN, Uint8Array.of(1));
    const other = await sidecars.write({ ...PLAN, table: 'db.orders/../x' }, Uint8Array.of(2));
    const second = await sidecars.write(PLAN, Uint8Array.of(3));

    assert.equal(first, second);
    assert.notEqual(first, other);
    assert.match(
      other.slice(statePrefix.length),
      /^tables\/[0-9a-f]{64}\/rewrite-data-files\.plan$/,
    );
    assert.deepEqual(await sidecars.read(first), Uint8Array.of(3));
    assert.deepEqual(await sidecars.read(other), Uint8Array.of(2));
  });

  it('are not found where nobody wrote them', async () => {
    const { sidecars } = memoryLedger();

    await assert.rejects(
      sidecars.read('s3://firn-state/ledger/tables/x'),
      errorOfKind('not-found'),
    );
  });
});
