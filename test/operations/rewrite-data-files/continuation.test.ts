import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Logger, seededRandom, silentLogger } from '../../../shared/base/index.ts';
import { createLedger, MemoryItemStore } from '../../../shared/ledger/index.ts';
import type {
  Continuation,
  RewriteDataFilesOutcome,
} from '../../../shared/operations/rewrite-data-files/index.ts';
import { createWarehouse, rewrite, smallFiles, type Warehouse } from './rewrite-fixture.ts';

/** More manifests than a table may have that is planned as a whole each time. */
const APPEND_COUNT = 16;

type Planned = Extract<RewriteDataFilesOutcome, { readonly plan: unknown }>;

function planned(outcome: RewriteDataFilesOutcome): Planned {
  assert.ok('plan' in outcome, outcome.outcome);
  return outcome;
}

function goingOnFrom({ planStateLocation }: Planned): Continuation {
  assert.ok(planStateLocation !== undefined, 'nothing was remembered');
  return { stateLocation: planStateLocation };
}

async function newWarehouse(): Promise<Warehouse> {
  return createWarehouse({ appendCount: APPEND_COUNT, properties: {} });
}

/** A ledger whose state lies below the prefix in the warehouse's own store. */
function ledgerAt(prefix: string, { store, clock }: Warehouse) {
  const state = { store, prefix };
  return createLedger({ items: new MemoryItemStore(), state, clock, random: seededRandom(23) });
}

describe('runs that go on from each other', () => {
  it('commit what was only observed before, and look at their own outputs once', async () => {
    const warehouse = await newWarehouse();
    const observed = planned(await rewrite(warehouse, {}, { mode: 'observe', continuation: {} }));
    const committed = planned(
      await rewrite(warehouse, {}, { continuation: goingOnFrom(observed) }),
    );
    const after = planned(await rewrite(warehouse, {}, { continuation: goingOnFrom(committed) }));
    await warehouse.builder.append(smallFiles(9_000).slice(0, 1));
    const last = planned(await rewrite(warehouse, {}, { continuation: goingOnFrom(committed) }));

    assert.deepEqual(observed.plan.scope, { kind: 'full', reason: 'first-plan' });
    assert.equal(committed.outcome, 'committed');
    assert.equal(committed.plan.scope.kind, 'incremental');
    assert.deepEqual(committed.plan.groups, observed.plan.groups);
    assert.deepEqual(committed.before, observed.before);
    assert.equal(after.outcome, 'nothing-planned');
    // Everything is in one manifest now.
    assert.deepEqual(after.plan.scope, { kind: 'full', reason: 'few-manifests' });
    assert.equal(after.planStateLocation, undefined);
    assert.equal(last.before.fileCount, after.before.fileCount + 1);
  });

  it('write over what the run before has kept', async () => {
    const warehouse = await newWarehouse();
    const first = planned(await rewrite(warehouse, {}, { mode: 'observe', continuation: {} }));
    const second = planned(
      await rewrite(warehouse, {}, { mode: 'observe', continuation: goingOnFrom(first) }),
    );

    assert.equal(first.planStateLocation, second.planStateLocation);
    assert.match(
      first.planStateLocation ?? '',
      /^s3:\/\/firn-state\/ledger\/tables\/[0-9a-f]{64}\/rewrite-data-files\.plan$/,
    );
  });

  it('plan as a whole where what was kept is gone', async () => {
    const warehouse = await newWarehouse();
    const stateLocation = 's3://firn-state/ledger/tables/none/rewrite-data-files.plan';

    const { plan } = planned(
      await rewrite(warehouse, {}, { mode: 'observe', continuation: { stateLocation } }),
    );

    assert.deepEqual(plan.scope, { kind: 'full', reason: 'state-unreadable' });
  });

  it('keep nothing unless they are asked to', async () => {
    const warehouse = await newWarehouse();

    const { plan, planStateLocation } = planned(await rewrite(warehouse, {}, { mode: 'observe' }));

    assert.equal(planStateLocation, undefined);
    assert.deepEqual(plan.scope, { kind: 'full', reason: 'requested' });
  });

  it('go on working where nothing can be kept, and say so', async () => {
    const warehouse = await newWarehouse();
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (event) => warnings.push(event) };

    // The prefix lies in the table, where nothing may be written that its metadata does not name.
    const inside = ledgerAt('s3://bucket/db/orders/state/', warehouse);
    const outcome = planned(
      await rewrite(
        warehouse,
        {},
        { mode: 'observe', continuation: {}, ports: { ledger: inside, logger } },
      ),
    );

    assert.equal(outcome.outcome, 'observed');
    assert.equal(outcome.planStateLocation, undefined);
    assert.deepEqual(warnings, ['plan-state.unwritten']);
  });
});
