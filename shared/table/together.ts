/**
 * Waits for all of them, then gives their results, or throws the first failure in their order: nothing goes on
 * behind the back of whoever handles the failure.
 */
export async function together<Results extends readonly unknown[]>(
  promises: readonly [...{ [Index in keyof Results]: Promise<Results[Index]> }],
): Promise<Results> {
  const settled = await Promise.allSettled(promises);
  const results: unknown[] = settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
  return results as readonly unknown[] as Results;
}
