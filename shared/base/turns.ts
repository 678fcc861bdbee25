/** Runs one step after the other, in the order of the calls, whether or not earlier ones failed. */
export type Turns = <Result>(step: () => Promise<Result>) => Promise<Result>;

/** For an object whose next step builds on what its last one left. */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (step) => {
    const next = last.then(step);
    // Its caller hears of the failure; the next step starts from what is stored.
    last = next.catch(() => {});
    return next;
  };
}
