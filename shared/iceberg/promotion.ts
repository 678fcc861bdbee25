import type { FormatVersion } from './metadata-types.ts';
import { isPrimitiveType, isSamePrimitiveType } from './type-text.ts';
import type { IcebergType, PrimitiveType } from './types.ts';

/**
 * Whether a column of type `from` may be read, or may become, a column of type `to`: the same primitive
 * type, or a promotion that the format version allows.
 *
 * @see Iceberg spec, "Schema Evolution"
 */
export function isPromotionAllowed(
  from: IcebergType,
  to: IcebergType,
  formatVersion: FormatVersion,
): boolean {
  if (from.kind === 'unknown' && formatVersion >= 3) return true;
  if (!isPrimitiveType(from) || !isPrimitiveType(to)) return false;
  return isSamePrimitiveType(from, to) || isWidening(from, to, formatVersion);
}

function isWidening(from: PrimitiveType, to: PrimitiveType, formatVersion: FormatVersion): boolean {
  switch (from.kind) {
    case 'int':
      return to.kind === 'long';
    case 'float':
      return to.kind === 'double';
    case 'date':
      return formatVersion >= 3 && (to.kind === 'timestamp' || to.kind === 'timestamp_ns');
    case 'decimal':
      return to.kind === 'decimal' && to.scale === from.scale && to.precision > from.precision;
    default:
      return false;
  }
}
