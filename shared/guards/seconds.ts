/** A duration in sentences. */
export function seconds(durationMs: number): string {
  return `${Math.round(durationMs / 1000)} s`;
}
