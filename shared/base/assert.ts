/** A broken promise between our own functions. Only the outermost handler catches it, to report it. */
class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}

/**
 * Stops the program when a condition that our own code guarantees does not hold.
 * For bytes, metadata and configuration from outside, throw an `IcebergError` instead.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}

/** The `default` of a `switch` over a discriminant: fails to compile when a case is missing. */
export function assertNever(value: never, subject: string): never {
  throw new AssertionFailed(`${subject}: unexpected value ${String(value)}`);
}
