import { assert } from '../base/index.ts';
import type { PrimitiveType } from '../iceberg/index.ts';
import { convertDecimal } from './convert-values.ts';
import { primitiveElement } from './parquet-schema.ts';

/** A value's single-value serialization in the form that data pages hold. */
export function plainForm(type: PrimitiveType, bytes: Uint8Array): Uint8Array {
  if (type.kind !== 'decimal') return bytes;
  const element = primitiveElement(type);
  const target =
    element.type === 'FIXED_LEN_BYTE_ARRAY'
      ? ({ kind: 'fixed', lengthBytes: element.typeLength ?? 0 } as const)
      : ({ kind: element.type === 'INT32' ? 'int32' : 'int64' } as const);
  const values = {
    kind: 'byte-array',
    count: 1,
    heap: bytes,
    starts: Uint32Array.of(0),
    lengths: Uint32Array.of(bytes.length),
  } as const;
  const plain = convertDecimal({ kind: 'byte-array' }, target)(values, 'default');
  assert(plain.kind === 'fixed-width', 'datafile: a decimal has a fixed width');
  return plain.bytes;
}
