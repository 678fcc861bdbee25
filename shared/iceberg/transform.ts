import { assertNever, IcebergError } from '../base/index.ts';
import { isPrimitiveType } from './type-text.ts';
import type { IcebergType, PrimitiveType, Transform } from './types.ts';

const WITH_PARAMETER = /^(bucket|truncate)\[(\d{1,10})\]$/i;
const INT32_MAX = 2 ** 31 - 1;
const PLAIN = ['identity', 'year', 'month', 'day', 'hour', 'void'] as const;

const BUCKET_SOURCES: readonly string[] = [
  'int',
  'long',
  'decimal',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
  'string',
  'uuid',
  'fixed',
  'binary',
];
const TRUNCATE_SOURCES: readonly string[] = ['int', 'long', 'decimal', 'string', 'binary'];
const TIMESTAMP_SOURCES: readonly string[] = [
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
];

/**
 * Parses a transform of one source column. A name that the spec does not define becomes `unrecognized` with
 * its text, and is left alone. Names are compared without case, as Iceberg Java does.
 *
 * @throws invalid-data — when a bucket count or width is 0 or does not fit 32 bits
 * @see Iceberg spec, "Partition Transforms"
 */
export function parseTransform(text: string, subject: string): Transform {
  const name = text.toLowerCase();
  const plain = PLAIN.find((kind) => kind === name);
  if (plain !== undefined) return { kind: plain };
  const match = WITH_PARAMETER.exec(text);
  if (match === null) return { kind: 'unrecognized', text };
  const parameter = Number(match[2]);
  if (parameter < 1 || parameter > INT32_MAX) {
    throw new IcebergError(
      'invalid-data',
      `${subject}: transform parameter ${parameter} lies outside 1 to ${INT32_MAX}`,
    );
  }
  return name.startsWith('bucket')
    ? { kind: 'bucket', bucketCount: parameter }
    : { kind: 'truncate', width: parameter };
}

/** The spec's text of a transform. */
export function transformText(transform: Transform): string {
  switch (transform.kind) {
    case 'bucket':
      return `bucket[${transform.bucketCount}]`;
    case 'truncate':
      return `truncate[${transform.width}]`;
    case 'unrecognized':
      return transform.text;
    default:
      return transform.kind;
  }
}

/** Whether the spec lets the transform take values of the type. Nothing is known of unrecognized ones. */
export function canTransform(transform: Transform, sourceType: IcebergType): boolean {
  switch (transform.kind) {
    case 'void':
      return true;
    case 'identity':
      return (
        isPrimitiveType(sourceType) &&
        sourceType.kind !== 'geometry' &&
        sourceType.kind !== 'geography'
      );
    case 'bucket':
      return BUCKET_SOURCES.includes(sourceType.kind);
    case 'truncate':
      return TRUNCATE_SOURCES.includes(sourceType.kind);
    case 'year':
    case 'month':
    case 'day':
      return sourceType.kind === 'date' || TIMESTAMP_SOURCES.includes(sourceType.kind);
    case 'hour':
      return TIMESTAMP_SOURCES.includes(sourceType.kind);
    case 'unrecognized':
      return false;
    default:
      return assertNever(transform, 'transform');
  }
}

/**
 * The type of what a transform produces. An unrecognized transform counts as string, as in Iceberg Java.
 *
 * @throws invalid-data — when identity or truncate has a nested or variant source
 */
export function transformResultType(
  transform: Transform,
  sourceType: IcebergType,
  subject: string,
): PrimitiveType {
  switch (transform.kind) {
    case 'bucket':
    case 'year':
    case 'month':
    case 'hour':
      return { kind: 'int' };
    case 'day':
      return { kind: 'date' };
    case 'unrecognized':
      return { kind: 'string' };
    case 'void':
      return isPrimitiveType(sourceType) ? sourceType : { kind: 'int' };
    case 'identity':
    case 'truncate':
      if (isPrimitiveType(sourceType)) return sourceType;
      throw new IcebergError(
        'invalid-data',
        `${subject}: transform ${transform.kind} has a source of type ${sourceType.kind}`,
      );
    default:
      return assertNever(transform, 'transform');
  }
}
