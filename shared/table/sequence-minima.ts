/** Least data sequence numbers of some data files: of each partition that counts, and of all of them. */
export class SequenceMinima {
  readonly #byPartition = new Map<string, bigint>();
  #overall: bigint | undefined;

  /** @param partition see `partitionKey`; absent where only the least of all counts */
  add(dataSequenceNumber: bigint, partition?: string): void {
    this.#overall = least(this.#overall, dataSequenceNumber);
    if (partition === undefined) return;
    const before = this.#byPartition.get(partition);
    this.#byPartition.set(partition, least(before, dataSequenceNumber));
  }

  addAll(other: SequenceMinima): void {
    if (other.#overall !== undefined) this.#overall = least(this.#overall, other.#overall);
    for (const [partition, dataSequenceNumber] of other.#byPartition) {
      this.add(dataSequenceNumber, partition);
    }
  }

  /** Undefined where there is no data file. */
  ofPartition(partition: string): bigint | undefined {
    return this.#byPartition.get(partition);
  }

  get overall(): bigint | undefined {
    return this.#overall;
  }
}

function least(one: bigint | undefined, other: bigint): bigint {
  return one !== undefined && one < other ? one : other;
}
