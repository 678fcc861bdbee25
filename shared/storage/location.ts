import { IcebergError } from '../base/index.ts';

/** A location in S3, split but otherwise as written. */
export interface S3Location {
  /** `s3://bucket/`, with the scheme of the location, so that listed keys can be told in the same spelling. */
  readonly root: string;
  readonly bucket: string;
  readonly key: string;
}

const S3_LOCATION = /^(s3[an]?):\/\/([^/]+)(?:\/([\s\S]*))?$/;

/** S3 allows no longer key. */
const KEY_BYTES_MAX = 1024;

/**
 * The scheme of a location in lower case, such as `s3a`; `file` for a plain absolute path.
 *
 * @throws invalid-config — when there is neither a scheme nor a leading slash
 */
export function locationScheme(location: string): string {
  if (location.startsWith('/')) return 'file';
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(location)?.[1];
  if (scheme === undefined) {
    throw new IcebergError('invalid-config', `${location}: location has no scheme`, { location });
  }
  return scheme.toLowerCase();
}

/**
 * Splits the location of an object.
 *
 * @throws invalid-config — for any scheme but s3, s3a and s3n
 * @throws invalid-data — when bucket or key is missing, or the key cannot exist
 */
export function parseS3Object(location: string): S3Location {
  const parsed = parseS3Prefix(location);
  if (parsed.key === '') {
    throw new IcebergError('invalid-data', `${location}: location has no key`, { location });
  }
  return parsed;
}

/** As `parseS3Object`, for a prefix to list: the key may be empty. */
export function parseS3Prefix(location: string): S3Location {
  const match = S3_LOCATION.exec(location);
  if (match === null) throw notServed(location);
  const key = match[3] ?? '';
  if (!key.isWellFormed()) {
    throw new IcebergError('invalid-data', `${location}: key is not valid Unicode`, { location });
  }
  const keyBytes = Buffer.byteLength(key);
  if (keyBytes > KEY_BYTES_MAX) {
    throw new IcebergError(
      'invalid-data',
      `${location}: key of ${keyBytes} bytes exceeds ${KEY_BYTES_MAX}`,
      { location },
    );
  }
  return { root: `${match[1]}://${match[2]}/`, bucket: match[2]!, key };
}

function notServed(location: string): IcebergError {
  if (/^s3[an]?:/.test(location)) {
    return new IcebergError('invalid-data', `${location}: location has no bucket`, { location });
  }
  const scheme = locationScheme(location);
  return new IcebergError(
    'invalid-config',
    `${location}: scheme ${scheme} is not served, expected s3, s3a or s3n`,
    { location },
  );
}
