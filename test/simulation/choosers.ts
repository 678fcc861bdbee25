import { chanceOf } from './chance.ts';
import type { TurnChooser } from './scheduler.ts';

/** How a schedule went: for each turn who went on, or that time was let pass. */
export type Turns = readonly string[];

export const TIME = 'time';

export interface RecordingChooser extends TurnChooser {
  readonly turns: Turns;
}

/**
 * Chooses by chance, staying with the one who went last as often as `stickiness` says: low values mix calls finely,
 * high ones let whole commits of one actor pass between two calls of another.
 */
export function chanceChooser(seed: number, stickiness: number): RecordingChooser {
  const chance = chanceOf(seed, 'turns');
  const turns: string[] = [];
  let last = '';
  return {
    turns,
    choose(names) {
      if (!names.includes(last) || !chance.is(stickiness)) last = chance.pick(names);
      turns.push(last);
      return last;
    },
    skipsTime() {
      const skips = chance.is(SKIP_PROBABILITY);
      if (skips) turns.push(TIME);
      return skips;
    },
  };
}

/** Follows a schedule as far as it can be followed; then everybody goes to the end one after the other. */
export function scriptedChooser(script: Turns): TurnChooser {
  let next = 0;
  return {
    choose(names) {
      while (next < script.length) {
        const name = script[next++]!;
        if (names.includes(name)) return name;
      }
      return names[0]!;
    },
    skipsTime() {
      if (script[next] !== TIME) return false;
      next++;
      return true;
    },
  };
}

const SKIP_PROBABILITY = 0.05;
