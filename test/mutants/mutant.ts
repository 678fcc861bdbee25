import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A patch that switches one rule off. */
export interface Mutant {
  readonly name: string;
  readonly patchPath: string;
  /** Which rule, for people. */
  readonly switchesOff: string;
  /** Other patches without which nothing would come of it, such as one that keeps a second rule from helping. */
  readonly onTopOf: readonly string[];
  /** What of the simulation has to notice: a scenario within so many seeds, or all cases of one kind. */
  readonly noticedBy:
    | { readonly scenario: string; readonly seedCountMax: number }
    | { readonly cases: string };
}

const SCENARIO_DEFAULT = 'commits';

/** What CI runs with each change. */
const SEED_COUNT_DEFAULT = 200;

/**
 * The patches of this folder, by name. Each begins with lines that `git apply` passes over: `Switches off: TEXT`, and
 * where it applies `On top of: NAME, ...`, `Scenario: NAME` and `Seeds: N`, or `Cases: fault-everywhere`.
 */
export function readMutants(folder = import.meta.dirname): readonly Mutant[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.patch'))
    .sort()
    .map((name) => {
      const patchPath = join(folder, name);
      const [head = ''] = readFileSync(patchPath, 'utf8').split(/^diff --git /m);
      return {
        name: basename(name, '.patch'),
        patchPath,
        switchesOff: field(head, 'Switches off') ?? '',
        onTopOf: (field(head, 'On top of') ?? '').split(/,\s*/).filter((other) => other !== ''),
        noticedBy: noticedBy(head),
      };
    });
}

function noticedBy(head: string): Mutant['noticedBy'] {
  const cases = field(head, 'Cases');
  if (cases !== undefined) return { cases };
  return {
    scenario: field(head, 'Scenario') ?? SCENARIO_DEFAULT,
    seedCountMax: Number(field(head, 'Seeds') ?? SEED_COUNT_DEFAULT),
  };
}

function field(head: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.+(?:\\n  .+)*)`, 'm').exec(head)?.[1]?.replace(/\n\s+/g, ' ');
}

/** The patches to apply, those below first. */
export function patchesOf(mutant: Mutant, all: readonly Mutant[]): readonly string[] {
  const below = mutant.onTopOf.map((name) => {
    const other = all.find((each) => each.name === name);
    if (other === undefined) throw new TypeError(`${mutant.name}: there is no ${name}.patch`);
    return other.patchPath;
  });
  return [...below, mutant.patchPath];
}

/** Runs git and returns what it printed. */
export async function git(args: readonly string[], folder: string): Promise<string> {
  const { stdout } = await run('git', args, { cwd: folder });
  return stdout.trim();
}
