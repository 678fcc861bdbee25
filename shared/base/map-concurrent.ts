import { assert } from './assert.ts';

/**
 * Applies `fn` to every item, at most `concurrencyMax` at a time, and returns the results in item order.
 * After the first failure no new item is started; the call waits for those under way, then rejects with
 * that first failure.
 */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  { concurrencyMax }: { readonly concurrencyMax: number },
  fn: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  assert(concurrencyMax >= 1, `concurrencyMax: ${concurrencyMax} is below 1`);
  const results = new Array<Result>(items.length);
  let indexNext = 0;
  let failure: { readonly error: unknown } | undefined;

  const work = async (): Promise<void> => {
    while (failure === undefined && indexNext < items.length) {
      const index = indexNext++;
      try {
        results[index] = await fn(items[index]!, index);
      } catch (error) {
        failure ??= { error };
      }
    }
  };

  await Promise.all(Array.from({ length: Math.min(concurrencyMax, items.length) }, work));
  if (failure !== undefined) throw failure.error;
  return results;
}
