/**
 * A decoded value: null, boolean; int, float, double → number; long → bigint; bytes, fixed → Uint8Array (a view
 * of the uncompressed block, or of the file where the codec is null: a small array of its own would cost more
 * memory than the block); string, enum → string; array → array; record and map → object by name (a map's has
 * no prototype).
 */
export type AvroValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly AvroValue[]
  | AvroRecord;

export interface AvroRecord {
  readonly [name: string]: AvroValue;
}
