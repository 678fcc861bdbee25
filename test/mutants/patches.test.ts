import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SCENARIOS } from '../simulation/scenarios.ts';
import { git, patchesOf, readMutants } from './mutant.ts';

const ROOT = join(import.meta.dirname, '../..');

const RULES = [
  'closed-run',
  'equality-scope',
  'existing-vector',
  'fence',
  'intent',
  'log-pruned',
  'minimum-sequence',
  'observe',
  'removed-input',
  'revalidation',
  'starting-sequence',
  'superset',
  'unknown-kept',
  'verify',
];

const mutants = readMutants();

describe('patches that switch a rule off', () => {
  it('are there for each rule that commits stand on', () => {
    const names = mutants.map(({ name }) => name);

    for (const rule of RULES) assert.ok(names.includes(rule), rule);
  });

  for (const mutant of mutants) {
    it(`${mutant.name}: says what it switches off, and applies to the source as it is`, async () => {
      assert.notEqual(mutant.switchesOff, '');
      const { noticedBy } = mutant;
      if ('scenario' in noticedBy) assert.ok(noticedBy.scenario in SCENARIOS, noticedBy.scenario);

      for (const patch of patchesOf(mutant, mutants)) {
        await git(['apply', '--check', patch], ROOT);
      }
    });
  }
});
