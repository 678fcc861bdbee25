import { assertNever, IcebergError } from '../base/index.ts';
import type { IcebergType, PrimitiveType, SimplePrimitiveKind } from './types.ts';

/** Coordinate reference system of a geometry or geography that names none. */
const CRS_DEFAULT = 'OGC:CRS84';
const ALGORITHM_DEFAULT = 'spherical';
const ALGORITHMS = ['spherical', 'vincenty', 'thomas', 'andoyer', 'karney'];
const DECIMAL_PRECISION_MAX = 38;
/** Far beyond any real fixed type, far below what an allocation could hurt. */
const FIXED_LENGTH_BYTES_MAX = 2 ** 31 - 1;

const SIMPLE_KINDS: ReadonlySet<string> = new Set<SimplePrimitiveKind>([
  'unknown',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
  'string',
  'uuid',
  'binary',
]);

const DECIMAL = /^decimal\(\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)$/i;
const FIXED = /^fixed\[\s*(\d{1,10})\s*\]$/i;
const GEOMETRY = /^geometry\s*(?:\(([^)]*)\))?$/i;
const GEOGRAPHY = /^geography\s*(?:\(([^,)]*)(?:,([^,)]*))?\))?$/i;

/**
 * Parses the JSON string form of a type that has no nested fields; white space around parameters is allowed
 * and names are compared without case, as Iceberg Java does.
 *
 * @throws unsupported — when the name is of no known type
 * @throws invalid-data — when a parameter is out of range
 * @see Iceberg spec, "Appendix C: JSON serialization", Schemas
 */
export function parseTypeText(
  text: string,
  subject: string,
): PrimitiveType | { readonly kind: 'variant' } {
  const name = text.toLowerCase();
  if (SIMPLE_KINDS.has(name)) return { kind: name as SimplePrimitiveKind };
  if (name === 'variant') return { kind: 'variant' };
  const decimal = DECIMAL.exec(text);
  if (decimal) return decimalType(Number(decimal[1]), Number(decimal[2]), subject);
  const fixed = FIXED.exec(text);
  if (fixed) return fixedType(Number(fixed[1]), subject);
  const geometry = GEOMETRY.exec(text);
  if (geometry) return { kind: 'geometry', crs: crsOf(geometry[1], subject) };
  const geography = GEOGRAPHY.exec(text);
  if (geography) return geographyType(geography[1], geography[2], subject);
  throw new IcebergError('unsupported', `${subject}: type ${text.slice(0, 100)} is not known`);
}

/** The canonical text of a type; nested types in the form `struct<1: a: int, …>` that people read. */
export function typeText(type: IcebergType): string {
  switch (type.kind) {
    case 'decimal':
      return `decimal(${type.precision}, ${type.scale})`;
    case 'fixed':
      return `fixed[${type.lengthBytes}]`;
    case 'geometry':
      return `geometry(${type.crs})`;
    case 'geography':
      return `geography(${type.crs}, ${type.algorithm})`;
    case 'struct':
      return `struct<${type.fields.map(fieldText).join(', ')}>`;
    case 'list':
      return `list<${typeText(type.elementType)}>`;
    case 'map':
      return `map<${typeText(type.keyType)}, ${typeText(type.valueType)}>`;
    default:
      return simpleText(type);
  }
}

/** Whether a type holds single values: neither nested nor variant. */
export function isPrimitiveType(type: IcebergType): type is PrimitiveType {
  switch (type.kind) {
    case 'struct':
    case 'list':
    case 'map':
    case 'variant':
      return false;
    default:
      return true;
  }
}

/** Whether two primitive types are the same; reference systems are compared without case. */
export function isSamePrimitiveType(one: PrimitiveType, other: PrimitiveType): boolean {
  return typeText(one).toLowerCase() === typeText(other).toLowerCase();
}

function simpleText(type: { readonly kind: SimplePrimitiveKind | 'variant' }): string {
  if (type.kind !== 'variant' && !SIMPLE_KINDS.has(type.kind)) {
    return assertNever(type as never, 'type kind');
  }
  return type.kind;
}

function fieldText(field: {
  fieldId: number;
  name: string;
  isRequired: boolean;
  type: IcebergType;
}) {
  const presence = field.isRequired ? 'required' : 'optional';
  return `${field.fieldId}: ${field.name}: ${presence} ${typeText(field.type)}`;
}

function decimalType(precision: number, scale: number, subject: string): PrimitiveType {
  if (precision < 1 || precision > DECIMAL_PRECISION_MAX || scale > precision) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: decimal(${precision}, ${scale}) exceeds precision ${DECIMAL_PRECISION_MAX} or its own precision`,
    );
  }
  return { kind: 'decimal', precision, scale };
}

function fixedType(lengthBytes: number, subject: string): PrimitiveType {
  if (lengthBytes > FIXED_LENGTH_BYTES_MAX) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: fixed length ${lengthBytes} exceeds ${FIXED_LENGTH_BYTES_MAX}`,
    );
  }
  return { kind: 'fixed', lengthBytes };
}

function geographyType(
  crs: string | undefined,
  algorithm: string | undefined,
  subject: string,
): PrimitiveType {
  const name = algorithm?.trim().toLowerCase() ?? ALGORITHM_DEFAULT;
  if (!ALGORITHMS.includes(name)) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: edge-interpolation algorithm ${name.slice(0, 40)} is none of ${ALGORITHMS.join(', ')}`,
    );
  }
  return { kind: 'geography', crs: crsOf(crs, subject), algorithm: name };
}

function crsOf(text: string | undefined, subject: string): string {
  if (text === undefined) return CRS_DEFAULT;
  const crs = text.trim();
  if (crs === '') {
    throw new IcebergError('invalid-data', `${subject}: coordinate reference system is empty`);
  }
  return crs;
}
