import { assertNever, IcebergError } from '../base/index.ts';
import type { IcebergType, NestedField, PrimitiveType, Schema } from '../iceberg/index.ts';
import type { SchemaElement } from '../parquet/index.ts';

/** @see Iceberg spec, "Reserved Field IDs" */
export const ROW_ID_FIELD_ID = 2_147_483_540;
export const LAST_UPDATED_SEQUENCE_NUMBER_FIELD_ID = 2_147_483_539;

/** The name Iceberg Java gives the root. */
const ROOT_NAME = 'table';

const DECIMAL_INT32_PRECISION_MAX = 9;
const DECIMAL_INT64_PRECISION_MAX = 18;
const UUID_BYTES = 16;

/** CRS and algorithm that need not be written. @see Parquet format, "Geospatial Definitions" */
const CRS_DEFAULT = 'OGC:CRS84';

/**
 * The Parquet schema of new data files, depth first: names, field ids, physical and logical types as Iceberg
 * Java writes them. Columns of type unknown are left out: they hold only nulls.
 *
 * @param withLineage adds `_row_id` and `_last_updated_sequence_number`, optional, at the end (v3)
 * @throws unsupported — for a struct without columns, which Parquet cannot express
 * @see Iceberg spec, "Appendix A: Format-specific Requirements", Parquet
 */
export function parquetSchemaFor(
  schema: Schema,
  { withLineage }: { readonly withLineage: boolean },
): readonly SchemaElement[] {
  const fields = withLineage ? [...schema.fields, ...LINEAGE_FIELDS] : schema.fields;
  const children = fields.filter(isStored);
  if (children.length === 0) {
    throw new IcebergError('unsupported', 'schema: no column is stored in data files');
  }
  const root = { name: ROOT_NAME, numChildren: children.length };
  return [root, ...children.flatMap((field) => fieldElements(field))];
}

/** The columns that hold row lineage in v3 data files, as fields. */
export const LINEAGE_FIELDS: readonly NestedField[] = [
  lineageField(ROW_ID_FIELD_ID, '_row_id'),
  lineageField(LAST_UPDATED_SEQUENCE_NUMBER_FIELD_ID, '_last_updated_sequence_number'),
];

function lineageField(fieldId: number, name: string): NestedField {
  return { fieldId, name, isRequired: false, type: { kind: 'long' } };
}

/** Whether a field has a column in data files. */
export function isStored(field: NestedField): boolean {
  return field.type.kind !== 'unknown';
}

function fieldElements(field: NestedField): SchemaElement[] {
  const { type } = field;
  const node = {
    name: parquetName(field.name),
    repetitionType: field.isRequired ? 'REQUIRED' : 'OPTIONAL',
    fieldId: field.fieldId,
  } as const;
  switch (type.kind) {
    case 'struct': {
      const children = type.fields.filter(isStored);
      if (children.length === 0) {
        throw new IcebergError('unsupported', `column ${field.name}: a struct without columns`);
      }
      return [{ ...node, numChildren: children.length }, ...children.flatMap(fieldElements)];
    }
    case 'list':
      return [
        { ...node, numChildren: 1, ...LIST },
        { name: 'list', repetitionType: 'REPEATED', numChildren: 1 },
        ...memberElements(field, memberField(type, 'element')),
      ];
    case 'map':
      return [
        { ...node, numChildren: 1, ...MAP },
        { name: 'key_value', repetitionType: 'REPEATED', numChildren: 2 },
        ...memberElements(field, memberField(type, 'key')),
        ...memberElements(field, memberField(type, 'value')),
      ];
    case 'variant':
      return [
        { ...node, numChildren: 2, logicalType: { type: 'VARIANT', specificationVersion: 1 } },
        { name: 'metadata', repetitionType: 'REQUIRED', type: 'BYTE_ARRAY' },
        { name: 'value', repetitionType: 'REQUIRED', type: 'BYTE_ARRAY' },
      ];
    default:
      return [{ ...node, ...primitiveElement(type) }];
  }
}

const LIST = { convertedType: 'LIST', logicalType: { type: 'LIST' } } as const;
const MAP = { convertedType: 'MAP', logicalType: { type: 'MAP' } } as const;

function memberElements(parent: NestedField, member: NestedField): SchemaElement[] {
  if (isStored(member)) return fieldElements(member);
  throw new IcebergError(
    'unsupported',
    `column ${parent.name}: ${member.name} is of type unknown, which cannot be stored`,
  );
}

/** The `element` of a list, or the `key` or `value` of a map, as a field. */
export function memberField(
  type: IcebergType & { readonly kind: 'list' | 'map' },
  name: 'element' | 'key' | 'value',
): NestedField {
  if (type.kind === 'list') {
    const { elementId, isElementRequired, elementType } = type;
    return { fieldId: elementId, name, isRequired: isElementRequired, type: elementType };
  }
  if (name === 'key') return { fieldId: type.keyId, name, isRequired: true, type: type.keyType };
  const { valueId, isValueRequired, valueType } = type;
  return { fieldId: valueId, name, isRequired: isValueRequired, type: valueType };
}

/** Physical and logical type of a primitive column. */
export function primitiveElement(
  type: PrimitiveType,
): Pick<
  SchemaElement,
  'type' | 'typeLength' | 'logicalType' | 'convertedType' | 'scale' | 'precision'
> {
  switch (type.kind) {
    case 'boolean':
      return { type: 'BOOLEAN' };
    case 'int':
      return { type: 'INT32' };
    case 'long':
      return { type: 'INT64' };
    case 'float':
      return { type: 'FLOAT' };
    case 'double':
      return { type: 'DOUBLE' };
    case 'date':
      return { type: 'INT32', logicalType: { type: 'DATE' }, convertedType: 'DATE' };
    case 'time':
      return {
        type: 'INT64',
        logicalType: { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' },
        convertedType: 'TIME_MICROS',
      };
    case 'timestamp':
    case 'timestamptz':
      return {
        type: 'INT64',
        logicalType: timestampType(type.kind === 'timestamptz', 'MICROS'),
        convertedType: 'TIMESTAMP_MICROS',
      };
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return { type: 'INT64', logicalType: timestampType(type.kind === 'timestamptz_ns', 'NANOS') };
    case 'string':
      return { type: 'BYTE_ARRAY', logicalType: { type: 'STRING' }, convertedType: 'UTF8' };
    case 'uuid':
      return {
        type: 'FIXED_LEN_BYTE_ARRAY',
        typeLength: UUID_BYTES,
        logicalType: { type: 'UUID' },
      };
    case 'fixed':
      return { type: 'FIXED_LEN_BYTE_ARRAY', typeLength: type.lengthBytes };
    case 'binary':
      return { type: 'BYTE_ARRAY' };
    case 'decimal':
      return decimalElement(type.precision, type.scale);
    case 'geometry':
      return { type: 'BYTE_ARRAY', logicalType: { type: 'GEOMETRY', ...crsOf(type.crs) } };
    case 'geography':
      return {
        type: 'BYTE_ARRAY',
        logicalType: { type: 'GEOGRAPHY', ...crsOf(type.crs), ...algorithmOf(type.algorithm) },
      };
    case 'unknown':
      throw new IcebergError('unsupported', 'type unknown: it has no form in Parquet');
    default:
      return assertNever(type, 'type');
  }
}

function timestampType(isAdjustedToUTC: boolean, unit: 'MICROS' | 'NANOS') {
  return { type: 'TIMESTAMP', isAdjustedToUTC, unit } as const;
}

function decimalElement(precision: number, scale: number) {
  const annotation = {
    logicalType: { type: 'DECIMAL', precision, scale },
    convertedType: 'DECIMAL',
    precision,
    scale,
  } as const;
  if (precision <= DECIMAL_INT32_PRECISION_MAX) return { type: 'INT32', ...annotation } as const;
  if (precision <= DECIMAL_INT64_PRECISION_MAX) return { type: 'INT64', ...annotation } as const;
  const typeLength = decimalBytes(precision);
  return { type: 'FIXED_LEN_BYTE_ARRAY', typeLength, ...annotation } as const;
}

/** Bytes of two's complement that hold any value of the precision: its bits and one for the sign. */
function decimalBytes(precision: number): number {
  return Math.ceil((precision * Math.log2(10) + 1) / 8);
}

function crsOf(crs: string): { readonly crs?: string } {
  return crs === CRS_DEFAULT ? {} : { crs };
}

function algorithmOf(algorithm: string) {
  switch (algorithm.toLowerCase()) {
    case 'spherical':
      return { algorithm: 'SPHERICAL' } as const;
    case 'vincenty':
      return { algorithm: 'VINCENTY' } as const;
    case 'thomas':
      return { algorithm: 'THOMAS' } as const;
    case 'andoyer':
      return { algorithm: 'ANDOYER' } as const;
    case 'karney':
      return { algorithm: 'KARNEY' } as const;
    default:
      throw new IcebergError('unsupported', `geography: edge algorithm ${algorithm} is not known`);
  }
}

/**
 * The column name as Iceberg Java writes it into data files: characters that Avro names cannot have become
 * `_x` and their hexadecimal code, a leading digit gets an underscore. Readers go by field id.
 *
 * @see Iceberg Java, `AvroSchemaUtil.makeCompatibleName`
 */
export function parquetName(name: string): string {
  // UTF-16 units, as in Java: a character beyond U+FFFF becomes two codes.
  return name
    .split('')
    .map((unit, index) => {
      if (unit === '_' || LETTER.test(unit)) return unit;
      if (DIGIT.test(unit)) return index === 0 ? `_${unit}` : unit;
      return `_x${unit.charCodeAt(0).toString(16).toUpperCase()}`;
    })
    .join('');
}

const LETTER = /^\p{L}$/u;
const DIGIT = /^\p{Nd}$/u;
