import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FirnRun } from './actors/firn.ts';
import { copyingCompactor } from './copying-compactor.ts';
import { commitsScript } from './scenarios/commits-script.ts';
import { OBSERVE } from './scenarios/observe.ts';
import type { ActorKind, Script } from './script.ts';
import { shrink } from './shrink.ts';
import { type SimulationOutcome, simulate } from './simulate.ts';

/** A v2 table with two runs of Firn and writers of the given kinds. */
function scriptWith(seed: number, kinds: readonly ActorKind[]): Script {
  const actors = ['firn' as const, 'firn' as const, ...kinds].map((kind, index) => ({
    name: `${kind}-${index}`,
    kind,
    taskCount: 2,
    delayMs: 0,
    skewMs: 0,
  }));
  return { ...commitsScript(seed), formatVersion: 2, actors, faults: [], crashes: [] };
}

const SEEDS_MAX = 16;

/** The first seed that fails with a job in Firn's place. */
async function firstFailure(
  firn: FirnRun,
  kinds: readonly ActorKind[],
): Promise<{ readonly script: Script; readonly outcome: SimulationOutcome } | undefined> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const script = scriptWith(seed, kinds);
    const outcome = await simulate(script, { firn });
    if (outcome.failure !== undefined) return { script, outcome };
  }
  return undefined;
}

const ROW_WRITERS: readonly ActorKind[] = ['appender', 'overwriter', 'deleter'];

describe('simulate', () => {
  it('does the same again for the same seed', async () => {
    const first = await simulate(commitsScript(7));

    const second = await simulate(commitsScript(7));

    assert.equal(second.log.join('\n'), first.log.join('\n'));
    assert.ok(first.log.length > 100);
  });

  it('does something else for another seed', async () => {
    const first = await simulate(commitsScript(7));

    const second = await simulate(commitsScript(8));

    assert.notEqual(second.log.join('\n'), first.log.join('\n'));
  });

  it('finds nothing wrong with a simple job that makes no mistakes', async () => {
    assert.equal(await firstFailure(copyingCompactor({}), ROW_WRITERS), undefined);
  });

  it('catches a job that loses rows', async () => {
    const found = await firstFailure(copyingCompactor({ losesFile: true }), ['appender']);

    assert.equal(found?.outcome.failure?.claim, 'Firn changes no row');
  });

  it('catches a job that does not look whether its inputs are still there', async () => {
    const found = await firstFailure(copyingCompactor({ forgetsRevalidation: true }), ROW_WRITERS);

    assert.equal(found?.outcome.failure?.claim, 'Firn changes no row');
  });

  it('catches a job that says of its files what is not so', async () => {
    const found = await firstFailure(copyingCompactor({ liesAboutBounds: true }), ['appender']);

    assert.equal(found?.outcome.failure?.claim, 'what files are skipped by is true');
  });

  it('catches a job that denies a commit that landed', async () => {
    const found = await firstFailure(copyingCompactor({ deniesCommit: true }), ['appender']);

    assert.equal(found?.outcome.failure?.claim, 'what Firn says of its commits is true');
  });
});

describe('observe', () => {
  it('catches a job that changes a table that nobody has enabled', async () => {
    const outcome = await simulate(OBSERVE.scriptOf(1), {
      scenario: OBSERVE,
      firn: copyingCompactor({}),
    });

    assert.equal(outcome.failure?.claim, 'Firn sends no pointer write');
  });

  it('catches a job that never says what it would do', async () => {
    const outcome = await simulate(OBSERVE.scriptOf(1), {
      scenario: OBSERVE,
      firn: async () => ({ ended: 'well', outcome: 'nothing-planned', snapshotIds: [] }),
    });

    assert.equal(outcome.failure?.claim, 'reports say what would have been done');
  });
});

describe('weather', () => {
  it('changes nothing about who Firn is, nor about its guests of one format version', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { actors, formatVersion, faults, crashes } = commitsScript(seed);
      const names = actors.map(({ name }) => name);

      assert.equal(new Set(names).size, names.length);
      assert.ok(actors.some(({ kind }) => kind === 'firn'));
      assert.ok(formatVersion === 2 || names.every((name) => !name.startsWith('position-deleter')));
      for (const { actor } of [...faults, ...crashes]) assert.match(actor, /^[a-z-]+-g?\d+$/);
    }
  });
});

describe('shrink', () => {
  it('leaves the actors that a failure needs', async () => {
    const firn = copyingCompactor({ forgetsRevalidation: true });
    const kinds: readonly ActorKind[] = [...ROW_WRITERS, 'property-setter', 'ref-writer'];
    const found = await firstFailure(firn, kinds);
    assert.ok(found !== undefined);

    const { turns } = found.outcome;
    const smallest = await shrink({ ...found, turns }, { firn, triesMax: 60 });

    assert.equal(smallest.outcome.failure?.claim, found.outcome.failure?.claim);
    assert.ok(smallest.script.actors.length <= 2);
    assert.ok(smallest.turns.length < turns.length);
  });
});
