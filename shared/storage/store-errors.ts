import { IcebergError } from '../base/index.ts';

/** The object, or what should hold it, is not there. */
export function noSuchObject(location: string, cause?: unknown): IcebergError {
  return new IcebergError('not-found', `${location}: no such object`, { location }, cause);
}

/** A conditional write met an object. */
export function alreadyThere(location: string, cause?: unknown): IcebergError {
  const message = `${location}: object already exists`;
  return new IcebergError('commit-conflict', message, { location }, cause);
}

/**
 * Refuses an object that is longer than the caller is ready to hold.
 *
 * @throws unsupported
 */
export function validateSize(object: {
  readonly location: string;
  readonly fileSizeBytes: number;
  readonly fileSizeBytesMax: number;
}): void {
  const { location, fileSizeBytes, fileSizeBytesMax } = object;
  if (fileSizeBytes <= fileSizeBytesMax) return;
  throw new IcebergError(
    'unsupported',
    `${location}: object of ${fileSizeBytes} bytes exceeds the limit of ${fileSizeBytesMax}`,
    { location, fileSizeBytes, fileSizeBytesMax },
  );
}
