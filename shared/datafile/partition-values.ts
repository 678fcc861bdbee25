import { assert } from '../base/index.ts';
import type {
  Partition,
  PartitionSpec,
  PrimitiveType,
  Schema,
  SingleValue,
} from '../iceberg/index.ts';
import { fieldById, isPrimitiveType } from '../iceberg/index.ts';

/**
 * Values of identity-partitioned fields by field id. Data files may leave such columns out (those taken over
 * from Hive do): their rows hold the partition's value.
 *
 * @see Iceberg spec, "Column Projection"
 */
export function identityPartitionValues(
  schema: Schema,
  spec: PartitionSpec,
  partition: Partition,
): ReadonlyMap<number, SingleValue | null> {
  const values = new Map<number, SingleValue | null>();
  for (const [index, { transform, sourceIds }] of spec.fields.entries()) {
    const [sourceId] = sourceIds;
    if (transform.kind !== 'identity' || sourceId === undefined) continue;
    const type = fieldById(schema, sourceId)?.field.type;
    if (type === undefined || !isPrimitiveType(type)) continue;
    const value = partition[index];
    assert(value !== undefined, `partition: ${partition.length} values, value ${index} is missing`);
    values.set(sourceId, value === null ? null : promoted(value, type));
  }
  return values;
}

/** Manifests written before an int column became long hold its partition values as ints. */
function promoted(value: SingleValue, type: PrimitiveType): SingleValue {
  return type.kind === 'long' && typeof value === 'number' ? BigInt(value) : value;
}
