import fc from 'fast-check';
import type { LeafShape } from '../../shared/parquet/leaf-shape.ts';
import {
  type LeafValues,
  type PhysicalValues,
  physicalValueAt,
} from '../../shared/parquet/leaf-values.ts';
import type { PhysicalType, SchemaElement } from '../../shared/parquet/metadata-types.ts';

/** A leaf of any physical type and some nesting, with rows of values for it. */
export interface LeafExample {
  readonly leaf: LeafShape;
  readonly batches: readonly LeafValues[];
}

const PHYSICAL_TYPES: readonly PhysicalType[] = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
];

const WIDTHS: Partial<Record<PhysicalType, number>> = {
  BOOLEAN: 1,
  INT32: 4,
  INT64: 8,
  INT96: 12,
  FLOAT: 4,
  DOUBLE: 8,
  FIXED_LEN_BYTE_ARRAY: 5,
};

/** Few distinct values half of the time, so that dictionaries and runs get their turn. */
export function leafExamples(): fc.Arbitrary<LeafExample> {
  return fc
    .record({
      type: fc.constantFrom(...PHYSICAL_TYPES),
      maxRepetitionLevel: fc.constantFrom(0, 0, 1, 3),
      extraDefinitionLevels: fc.constantFrom(0, 1, 4),
      isRepetitive: fc.boolean(),
    })
    .chain((shape) => {
      const leaf: LeafShape = {
        element: elementOf(shape.type),
        maxRepetitionLevel: shape.maxRepetitionLevel,
        maxDefinitionLevel: shape.maxRepetitionLevel + shape.extraDefinitionLevels,
      };
      const entry = fc.record({
        repetition: fc.nat(leaf.maxRepetitionLevel),
        definition: fc.oneof(fc.constant(leaf.maxDefinitionLevel), fc.nat(leaf.maxDefinitionLevel)),
        value: valueBytes(shape.type, shape.isRepetitive),
      });
      return fc
        .array(fc.array(entry, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 4 })
        .map((batches) => ({
          leaf,
          batches: batches.map((entries, index) => leafValuesOf(leaf, entries, index === 0)),
        }));
    });
}

export function elementOf(type: PhysicalType): SchemaElement {
  return {
    name: 'leaf',
    type,
    repetitionType: 'OPTIONAL',
    ...(type === 'FIXED_LEN_BYTE_ARRAY' ? { typeLength: 5 } : {}),
  };
}

interface Entry {
  readonly repetition: number;
  readonly definition: number;
  readonly value: Uint8Array;
}

function leafValuesOf(leaf: LeafShape, entries: readonly Entry[], isFirst: boolean): LeafValues {
  const repetition = Uint8Array.from(entries, (entry) => entry.repetition);
  if (isFirst) repetition[0] = 0;
  const values = entries
    .filter(
      (entry) => leaf.maxDefinitionLevel === 0 || entry.definition === leaf.maxDefinitionLevel,
    )
    .map((entry) => entry.value);
  return {
    valueCount: entries.length,
    ...(leaf.maxRepetitionLevel > 0 ? { repetitionLevels: repetition } : {}),
    ...(leaf.maxDefinitionLevel > 0
      ? { definitionLevels: Uint8Array.from(entries, (entry) => entry.definition) }
      : {}),
    values: physicalValuesOf(leaf.element, values),
  };
}

export function physicalValuesOf(
  element: SchemaElement,
  values: readonly Uint8Array[],
): PhysicalValues {
  const count = values.length;
  const heap = new Uint8Array(values.reduce((sum, value) => sum + value.length, 0));
  const starts = new Uint32Array(count);
  let offset = 0;
  values.forEach((value, index) => {
    heap.set(value, offset);
    starts[index] = offset;
    offset += value.length;
  });
  const widthBytes = element.type === undefined ? undefined : WIDTHS[element.type];
  if (widthBytes !== undefined) return { kind: 'fixed-width', widthBytes, count, bytes: heap };
  const lengths = Uint32Array.from(values, (value) => value.length);
  return { kind: 'byte-array', count, heap, starts, lengths };
}

function valueBytes(type: PhysicalType, isRepetitive: boolean): fc.Arbitrary<Uint8Array> {
  const widthBytes = WIDTHS[type];
  if (type === 'BOOLEAN') return fc.nat(1).map((bit) => Uint8Array.of(bit));
  const lengths =
    widthBytes === undefined ? { maxLength: 80 } : { minLength: widthBytes, maxLength: widthBytes };
  if (!isRepetitive) return fc.uint8Array(lengths);
  return fc.nat(3).map((seed) => new Uint8Array(widthBytes ?? seed * 30).fill(seed * 0x55));
}

/** The batch as plain arrays, for comparison: however its values share bytes. */
export function plainOf({ valueCount, repetitionLevels, definitionLevels, values }: LeafValues) {
  return {
    valueCount,
    repetitionLevels,
    definitionLevels,
    values: Array.from({ length: values.count }, (_, index) =>
      Uint8Array.from(physicalValueAt(values, index)),
    ),
  };
}
