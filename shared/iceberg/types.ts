import type { JsonObject, JsonValue } from '../base/index.ts';

/** Primitive types that take no parameter. `unknown` holds only nulls (v3). */
export type SimplePrimitiveKind =
  | 'unknown'
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'string'
  | 'uuid'
  | 'binary';

/** @see Iceberg spec, "Primitive Types" */
export type PrimitiveType =
  | { readonly kind: SimplePrimitiveKind }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'fixed'; readonly lengthBytes: number }
  | { readonly kind: 'geometry'; readonly crs: string }
  | { readonly kind: 'geography'; readonly crs: string; readonly algorithm: string };

export interface StructType {
  readonly kind: 'struct';
  readonly fields: readonly NestedField[];
}

export interface ListType {
  readonly kind: 'list';
  readonly elementId: number;
  readonly isElementRequired: boolean;
  readonly elementType: IcebergType;
}

export interface MapType {
  readonly kind: 'map';
  readonly keyId: number;
  readonly keyType: IcebergType;
  readonly valueId: number;
  readonly isValueRequired: boolean;
  readonly valueType: IcebergType;
}

export type IcebergType =
  | PrimitiveType
  | { readonly kind: 'variant' }
  | StructType
  | ListType
  | MapType;

export interface NestedField {
  readonly fieldId: number;
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: IcebergType;
  readonly doc?: string;
  /** Default of rows written before the field was added, in the spec's JSON single-value form. */
  readonly initialDefault?: JsonValue;
  /** Default a writer uses when it supplies no value, in the same form. */
  readonly writeDefault?: JsonValue;
}

/** @see Iceberg spec, "Schemas and Data Types" */
export interface Schema {
  readonly schemaId: number;
  readonly fields: readonly NestedField[];
  readonly identifierFieldIds: readonly number[];
  /** The JSON this schema was parsed from; written back as it stands, so unknown keys survive. */
  readonly source: JsonObject;
}

/**
 * A non-null value of a primitive type, as partitions and bounds hold it:
 * boolean → boolean; int, date (days) → number; float, double → number; long, time, timestamps
 * (micro- or nanoseconds) and decimals (unscaled) → bigint; string → string;
 * uuid (16 bytes), fixed, binary → Uint8Array.
 */
export type SingleValue = boolean | number | bigint | string | Uint8Array;

/** One value for each field of the partition spec, in spec order; `null` for null. */
export type Partition = readonly (SingleValue | null)[];

/** A transform that Firn knows, or one it does not and must leave alone. */
export type Transform =
  | { readonly kind: 'identity' | 'year' | 'month' | 'day' | 'hour' | 'void' }
  | { readonly kind: 'bucket'; readonly bucketCount: number }
  | { readonly kind: 'truncate'; readonly width: number }
  | { readonly kind: 'unrecognized'; readonly text: string };

export interface PartitionField {
  /** One id, or several for a multi-argument transform (v3). */
  readonly sourceIds: readonly number[];
  readonly fieldId: number;
  readonly name: string;
  readonly transform: Transform;
}

/** @see Iceberg spec, "Partitioning" */
export interface PartitionSpec {
  readonly specId: number;
  readonly fields: readonly PartitionField[];
  readonly source: JsonObject;
}

export interface SortField {
  readonly sourceIds: readonly number[];
  readonly transform: Transform;
  readonly direction: 'asc' | 'desc';
  readonly nullOrder: 'nulls-first' | 'nulls-last';
}

/** @see Iceberg spec, "Sorting" */
export interface SortOrder {
  readonly orderId: number;
  readonly fields: readonly SortField[];
  readonly source: JsonObject;
}
