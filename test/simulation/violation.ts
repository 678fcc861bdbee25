/** A claim of the simulation that does not hold: what a seed fails with. */
export class Violation extends Error {
  override readonly name = 'Violation';
  /** Short and stable, so that a smaller schedule can be seen to fail in the same way. */
  readonly claim: string;

  constructor(claim: string, detail: string) {
    super(`${claim}: ${detail}`);
    this.claim = claim;
  }
}

/** @throws Violation */
export function claim(holds: boolean, text: string, detail: () => string): asserts holds {
  if (!holds) throw new Violation(text, detail());
}
