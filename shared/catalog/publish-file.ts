import { link, open, unlink } from 'node:fs/promises';
import { type ErrorKind, IcebergError } from '../base/index.ts';

/** The two calls on which everything hangs; tests replace them to make them fail. */
export interface PublishCalls {
  readonly link: (existingPath: string, newPath: string) => Promise<void>;
  /** Makes the entries of a folder durable. */
  readonly syncFolder: (folder: string) => Promise<void>;
}

const NODE_CALLS: PublishCalls = { link, syncFolder };

export interface PublishOptions {
  readonly folder: string;
  readonly fileName: string;
  /** A name in the same folder that nobody else uses. */
  readonly temporaryName: string;
  readonly text: string;
  readonly calls?: PublishCalls;
}

const KINDS: Readonly<Record<string, ErrorKind>> = {
  EACCES: 'access-denied',
  EPERM: 'access-denied',
  EROFS: 'access-denied',
  ENOENT: 'not-found',
  ENAMETOOLONG: 'invalid-config',
  ENOTDIR: 'invalid-config',
  // No hard links, as on FAT and some network file systems.
  ENOTSUP: 'unsupported',
  EOPNOTSUPP: 'unsupported',
  EMFILE: 'unavailable',
  ENFILE: 'unavailable',
  ENOSPC: 'unavailable',
  EDQUOT: 'unavailable',
};

/**
 * Makes a file appear under a name that was free, whole and durable, or not at all; of any number of
 * processes on this machine that publish one name, exactly one succeeds. A hard link does it: unlike a lock
 * file it has no owner who could die, and unlike a rename it refuses a name that is taken.
 *
 * @returns `taken` when the name is in use, `folder-gone` when the folder is not there
 * @throws access-denied, invalid-config, unsupported, unavailable — nothing was published
 * @throws commit-state-unknown — the file may have appeared, or may not survive a power failure
 */
export async function publishFile(
  options: PublishOptions,
): Promise<'published' | 'taken' | 'folder-gone'> {
  const { folder, fileName, calls = NODE_CALLS } = options;
  const temporaryPath = `${folder}/${options.temporaryName}`;
  const path = `${folder}/${fileName}`;
  try {
    await writeDurably(temporaryPath, options.text);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return 'folder-gone';
    throw translateFileError(cause, 'write', path, 'unavailable');
  }
  try {
    await calls.link(temporaryPath, path);
  } catch (cause) {
    const code = errorCode(cause);
    if (code === 'EEXIST') return 'taken';
    if (code === 'ENOENT') return 'folder-gone';
    throw translateFileError(cause, 'link', path, 'commit-state-unknown');
  } finally {
    await removeQuietly(temporaryPath);
  }
  try {
    await calls.syncFolder(folder);
  } catch (cause) {
    throw new IcebergError('commit-state-unknown', `${path}: may not be durable`, {}, cause);
  }
  return 'published';
}

/** Makes the entries of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The operating error for a failed file operation; `otherwise` is the kind of causes not known here. */
export function translateFileError(
  cause: unknown,
  action: 'read' | 'write' | 'link' | 'list',
  path: string,
  otherwise: ErrorKind,
): IcebergError {
  const code = errorCode(cause);
  const kind = KINDS[code] ?? otherwise;
  const problem = code === 'ENOENT' ? 'no such file or folder to' : 'no success in';
  return new IcebergError(kind, `${path}: ${problem} ${action} (${code})`, { action }, cause);
}

/** The system's code of an error, such as `ENOENT`; empty for other errors. */
export function errorCode(cause: unknown): string {
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : '';
}

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeQuietly(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch {
    // A left-over temporary file is not a record: nobody reads it.
  }
}
