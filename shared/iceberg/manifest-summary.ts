import { compareBytes, equalBytes } from '../bytes/index.ts';
import { compareSingleValues } from './compare-values.ts';
import { present } from './manifest-struct.ts';
import type { FieldSummary } from './manifest-types.ts';
import type { PartitionType, PartitionTypeField } from './partition-spec.ts';
import { encodeSingleValue } from './single-value.ts';
import type { Partition, SingleValue } from './types.ts';

type Compare = (one: SingleValue, other: SingleValue) => number;

/** Collects the partition tuples of a manifest into the field summaries of the manifest list. */
export class PartitionSummary {
  readonly #fields: readonly PartitionTypeField[];
  readonly #ranges: readonly FieldRange[];
  /** The same ranges in the order of Iceberg Java, where that is another one. */
  readonly #javaRanges: readonly (FieldRange | undefined)[];

  constructor(type: PartitionType) {
    this.#fields = type.fields;
    this.#ranges = type.fields.map(() => new FieldRange(compareSingleValues));
    this.#javaRanges = type.fields.map((field) =>
      field.type.kind === 'uuid' ? new FieldRange(compareUuidsAsJava) : undefined,
    );
  }

  add(partition: Partition): void {
    for (let index = 0; index < this.#ranges.length; index++) {
      const value = partition[index] ?? null;
      this.#ranges[index]?.add(value);
      this.#javaRanges[index]?.add(value);
    }
  }

  /**
   * One summary for each partition field; or nothing where no bounds are right for every reader. Iceberg Java
   * orders uuids as two signed longs, others by unsigned bytes: bounds of either would make the other skip
   * manifests that it must read. Without summaries both read the manifest.
   */
  finish(): readonly FieldSummary[] | undefined {
    const areBoundsCommon = this.#ranges.every(
      (range, index) => this.#javaRanges[index]?.hasBoundsOf(range) ?? true,
    );
    if (!areBoundsCommon) return undefined;
    return this.#ranges.flatMap((range, index) => {
      const field = this.#fields[index];
      return field === undefined ? [] : [range.toSummary(field)];
    });
  }
}

class FieldRange {
  readonly #compare: Compare;
  #containsNull = false;
  #containsNan = false;
  #lower: SingleValue | undefined;
  #upper: SingleValue | undefined;

  constructor(compare: Compare) {
    this.#compare = compare;
  }

  add(value: SingleValue | null): void {
    if (value === null) {
      this.#containsNull = true;
    } else if (typeof value === 'number' && Number.isNaN(value)) {
      this.#containsNan = true;
    } else {
      if (this.#lower === undefined || this.#compare(value, this.#lower) < 0) this.#lower = value;
      if (this.#upper === undefined || this.#compare(value, this.#upper) > 0) this.#upper = value;
    }
  }

  hasBoundsOf(other: FieldRange): boolean {
    return isSame(this.#lower, other.#lower) && isSame(this.#upper, other.#upper);
  }

  toSummary({ type }: PartitionTypeField): FieldSummary {
    const encode = (value: SingleValue | undefined) =>
      value === undefined ? undefined : encodeSingleValue(type, value);
    return {
      containsNull: this.#containsNull,
      containsNan: this.#containsNan,
      ...present('lowerBound', encode(this.#lower)),
      ...present('upperBound', encode(this.#upper)),
    };
  }
}

function isSame(one: SingleValue | undefined, other: SingleValue | undefined): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return equalBytes(one, other);
  return one === other;
}

function compareUuidsAsJava(one: SingleValue, other: SingleValue): number {
  return compareBytes(withFlippedSigns(one), withFlippedSigns(other));
}

/** Signed order of both longs becomes unsigned order of bytes when their sign bits are flipped. */
function withFlippedSigns(value: SingleValue): Uint8Array {
  const bytes = Uint8Array.from(value instanceof Uint8Array ? value : []);
  for (const offset of [0, 8]) bytes[offset] = (bytes[offset] ?? 0) ^ 0x80;
  return bytes;
}
