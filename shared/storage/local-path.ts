import { IcebergError } from '../base/index.ts';
import { locationScheme } from './location.ts';

/** A location in the file system: `spelling + path` is the location as written. */
export interface LocalPath {
  /** `file:`, `file://` or nothing. */
  readonly spelling: string;
  /** Absolute, and already in its only form: no empty, `.` or `..` segment. */
  readonly path: string;
}

/**
 * Splits a location, and keeps it inside `root`. A path that the file system would take for another one (by
 * `//`, `.` or `..`) is refused: locations are compared as text, and two texts must not mean one file.
 * Percent signs are characters of the name, as they are for Hadoop. Symbolic links are followed.
 *
 * @throws invalid-config — for any scheme but file
 * @throws invalid-data — for a path that has another spelling
 * @throws access-denied — for a path outside `root`
 */
export function parseLocalPath(location: string, root: string): LocalPath {
  const match = /^(file:\/\/(?=\/)|file:(?=\/(?!\/))|(?=\/))(\/[\s\S]*)$/.exec(location);
  if (match === null) throw notServed(location);
  const [, spelling, path] = match;
  const segments = path!.slice(1).split('/');
  const isCanonical = segments.every(
    (segment, index) =>
      segment !== '.' && segment !== '..' && (segment !== '' || index === segments.length - 1),
  );
  if (!isCanonical || path!.includes('\0') || !path!.isWellFormed()) {
    throw new IcebergError('invalid-data', `${location}: path is not in its only spelling`, {
      location,
    });
  }
  if (path !== root && !path!.startsWith(`${root}/`)) {
    throw new IcebergError('access-denied', `${location}: path is outside of the folder ${root}`, {
      location,
      root,
    });
  }
  return { spelling: spelling!, path: path! };
}

function notServed(location: string): IcebergError {
  const scheme = locationScheme(location);
  if (scheme === 'file') {
    return new IcebergError('invalid-data', `${location}: path is not absolute`, { location });
  }
  return new IcebergError(
    'invalid-config',
    `${location}: scheme ${scheme} is not served, expected file or an absolute path`,
    { location },
  );
}
