import type { FormatVersion, PrimitiveType } from '../iceberg/index.ts';
import type { SchemaElement, SchemaLeaf } from '../parquet/index.ts';
import {
  convertDecimal,
  type DecimalForm,
  floatToDouble,
  int32ToInt64,
  int96ToMicros,
  scaleInt64,
  type ValueConversion,
} from './convert-values.ts';
import { primitiveElement } from './parquet-schema.ts';

/** Whether the values of a file's column may be copied as they are, must be converted, or cannot be used. */
export type TypeMatch =
  | { readonly kind: 'same' | 'none'; readonly convert?: undefined }
  | { readonly kind: 'convert'; readonly convert: ValueConversion };

const SAME: TypeMatch = { kind: 'same' };
const NONE: TypeMatch = { kind: 'none' };

const MICROS_PER_MILLI = 1000n;
const MICROS_PER_DAY = 86_400_000_000n;
const NANOS_PER_DAY = 86_400_000_000_000n;

/**
 * How a column of a file serves a column of the table: the physical form and meaning that Iceberg readers give
 * it, and the promotions that the format version allows.
 *
 * @see Iceberg spec, "Appendix A: Format-specific Requirements", Parquet, and "Schema Evolution"
 */
export function matchType(
  leaf: SchemaLeaf,
  type: PrimitiveType,
  formatVersion: FormatVersion,
): TypeMatch {
  const { element } = leaf;
  switch (type.kind) {
    case 'boolean':
      return element.type === 'BOOLEAN' ? SAME : NONE;
    case 'int':
      return isInt32(element) ? SAME : NONE;
    case 'long':
      if (isInt32(element)) return converted(int32ToInt64(1n));
      return isPlain(element, 'INT64', ['INT_64']) ? SAME : NONE;
    case 'float':
      return element.type === 'FLOAT' ? SAME : NONE;
    case 'double':
      if (element.type === 'FLOAT') return converted(floatToDouble);
      return element.type === 'DOUBLE' ? SAME : NONE;
    case 'date':
      return isDate(element) ? SAME : NONE;
    case 'time':
      return matchTime(element);
    case 'timestamp':
    case 'timestamptz':
      if (isDate(element) && type.kind === 'timestamp' && formatVersion >= 3) {
        return converted(int32ToInt64(MICROS_PER_DAY));
      }
      return matchMicros(element);
    case 'timestamp_ns':
    case 'timestamptz_ns':
      if (isDate(element) && type.kind === 'timestamp_ns' && formatVersion >= 3) {
        return converted(int32ToInt64(NANOS_PER_DAY));
      }
      return timestampUnit(element) === 'NANOS' ? SAME : NONE;
    case 'string':
      return isText(element) ? SAME : NONE;
    case 'binary':
      return isPlain(element, 'BYTE_ARRAY', ['BSON']) ? SAME : NONE;
    case 'uuid':
    case 'fixed':
      return matchFixed(leaf, type, type.kind === 'uuid');
    case 'decimal':
      return matchDecimal(leaf, type);
    case 'geometry':
    case 'geography':
      return matchGeo(element);
    default:
      return NONE;
  }
}

function converted(convert: ValueConversion): TypeMatch {
  return { kind: 'convert', convert };
}

/** A type without annotation, or with one of the converted types named or its logical type. */
function isPlain(element: SchemaElement, type: string, convertedTypes: readonly string[]): boolean {
  if (element.type !== type) return false;
  const { logicalType, convertedType } = element;
  if (logicalType === undefined) {
    return convertedType === undefined || convertedTypes.includes(convertedType);
  }
  if (logicalType.type === 'INTEGER') {
    const name = `${logicalType.isSigned ? '' : 'U'}INT_${logicalType.bitWidth}`;
    return convertedTypes.includes(name);
  }
  return convertedTypes.includes(logicalType.type);
}

function isInt32(element: SchemaElement): boolean {
  return isPlain(element, 'INT32', ['INT_8', 'INT_16', 'INT_32', 'UINT_8', 'UINT_16']);
}

function isDate({ type, logicalType, convertedType }: SchemaElement): boolean {
  return type === 'INT32' && (logicalType?.type === 'DATE' || convertedType === 'DATE');
}

function isText(element: SchemaElement): boolean {
  return isPlain(element, 'BYTE_ARRAY', ['UTF8', 'STRING', 'ENUM', 'JSON']);
}

function matchTime(element: SchemaElement): TypeMatch {
  const unit = timeUnit(element);
  if (unit === 'MICROS' && element.type === 'INT64') return SAME;
  if (unit === 'MILLIS' && element.type === 'INT32') {
    return converted(int32ToInt64(MICROS_PER_MILLI));
  }
  return NONE;
}

function timeUnit({ logicalType, convertedType }: SchemaElement): string | undefined {
  if (logicalType !== undefined) return logicalType.type === 'TIME' ? logicalType.unit : undefined;
  if (convertedType === 'TIME_MICROS') return 'MICROS';
  return convertedType === 'TIME_MILLIS' ? 'MILLIS' : undefined;
}

function matchMicros(element: SchemaElement): TypeMatch {
  if (element.type === 'INT96') return converted(int96ToMicros);
  switch (timestampUnit(element)) {
    case 'MICROS':
      return SAME;
    case 'MILLIS':
      return converted(scaleInt64(MICROS_PER_MILLI));
    default:
      return NONE;
  }
}

function timestampUnit({ type, logicalType, convertedType }: SchemaElement): string | undefined {
  if (type !== 'INT64') return undefined;
  if (logicalType !== undefined) {
    return logicalType.type === 'TIMESTAMP' ? logicalType.unit : undefined;
  }
  if (convertedType === 'TIMESTAMP_MICROS') return 'MICROS';
  return convertedType === 'TIMESTAMP_MILLIS' ? 'MILLIS' : undefined;
}

/** A fixed-length column of the type's own length. */
function matchFixed(leaf: SchemaLeaf, type: PrimitiveType, isUuid: boolean): TypeMatch {
  const isAllowed = leaf.logicalType === undefined || (isUuid && leaf.logicalType.type === 'UUID');
  const hasLength = leaf.typeLength === primitiveElement(type).typeLength;
  return isAllowed && leaf.convertedType === undefined && hasLength ? SAME : NONE;
}

function matchGeo({ type, logicalType, convertedType }: SchemaElement): TypeMatch {
  const isAllowed =
    logicalType === undefined ||
    logicalType.type === 'GEOMETRY' ||
    logicalType.type === 'GEOGRAPHY';
  return type === 'BYTE_ARRAY' && convertedType === undefined && isAllowed ? SAME : NONE;
}

function matchDecimal(
  { element }: SchemaLeaf,
  type: PrimitiveType & { readonly kind: 'decimal' },
): TypeMatch {
  const annotation =
    element.logicalType?.type === 'DECIMAL'
      ? element.logicalType
      : element.convertedType === 'DECIMAL'
        ? { precision: element.precision ?? 0, scale: element.scale ?? 0 }
        : undefined;
  if (annotation === undefined || annotation.scale !== type.scale) return NONE;
  if (annotation.precision > type.precision) return NONE;
  const source = decimalForm(element);
  const target = decimalForm(primitiveElement(type));
  if (source === undefined || target === undefined || target.kind === 'byte-array') return NONE;
  return isSameForm(source, target) ? SAME : converted(convertDecimal(source, target));
}

function decimalForm(element: Pick<SchemaElement, 'type' | 'typeLength'>): DecimalForm | undefined {
  switch (element.type) {
    case 'INT32':
      return { kind: 'int32' };
    case 'INT64':
      return { kind: 'int64' };
    case 'BYTE_ARRAY':
      return { kind: 'byte-array' };
    case 'FIXED_LEN_BYTE_ARRAY':
      return { kind: 'fixed', lengthBytes: element.typeLength ?? 0 };
    default:
      return undefined;
  }
}

function isSameForm(one: DecimalForm, other: DecimalForm): boolean {
  if (one.kind !== 'fixed' || other.kind !== 'fixed') return one.kind === other.kind;
  return one.lengthBytes === other.lengthBytes;
}
