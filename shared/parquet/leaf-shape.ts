import { IcebergError } from '../base/index.ts';
import type { SchemaElement } from './metadata-types.ts';

const INT96_BYTES = 12;

/** What decoding a page needs to know of its column. */
export interface LeafShape {
  readonly element: SchemaElement;
  readonly maxRepetitionLevel: number;
  readonly maxDefinitionLevel: number;
}

/** Bytes of one value of a fixed-width type in PLAIN form; 1 for a BOOLEAN; `undefined` for BYTE_ARRAY. */
export function physicalWidthBytes(element: SchemaElement, subject: string): number | undefined {
  switch (element.type) {
    case 'BOOLEAN':
      return 1;
    case 'INT32':
    case 'FLOAT':
      return 4;
    case 'INT64':
    case 'DOUBLE':
      return 8;
    case 'INT96':
      return INT96_BYTES;
    case 'BYTE_ARRAY':
      return undefined;
    case 'FIXED_LEN_BYTE_ARRAY':
      if (element.typeLength !== undefined && element.typeLength > 0) return element.typeLength;
      throw new IcebergError('invalid-data', `${subject}: fixed-length type without a length`);
    default:
      throw new IcebergError('invalid-data', `${subject}: leaf without a physical type`);
  }
}
