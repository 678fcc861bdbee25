import { type FileHandle, link, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ErrorKind, IcebergError, isIcebergError, type Random } from '../base/index.ts';
import { toHex } from '../bytes/index.ts';
import { alreadyThere, noSuchObject } from './store-errors.ts';

/** Names of files under way; a listing leaves them out. A crash may leave one behind. */
export const TEMPORARY_PREFIX = '.firn-tmp-';

/** A file being written under a temporary name in the folder where it will appear. */
export interface TemporaryFile {
  readonly path: string;
  readonly handle: FileHandle;
}

/** Creates the folder of `path` where it is missing, and a temporary file in it. */
export async function createTemporary(path: string, random: Random): Promise<TemporaryFile> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const temporaryPath = `${folder}/${TEMPORARY_PREFIX}${toHex(random.bytes(12))}`;
  return { path: temporaryPath, handle: await open(temporaryPath, 'wx') };
}

/**
 * Makes a temporary file appear under its final path in one step, once its bytes are on disk.
 *
 * @throws commit-conflict — with `mustBeNew`, when something is there
 */
export async function publishTemporary(
  temporary: TemporaryFile,
  target: { readonly location: string; readonly path: string; readonly mustBeNew: boolean },
): Promise<void> {
  await temporary.handle.sync();
  await temporary.handle.close();
  if (target.mustBeNew) await linkAsNew(temporary, target);
  else await rename(temporary.path, target.path);
  const folder = await open(dirname(target.path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function linkAsNew(
  temporary: TemporaryFile,
  { location, path }: { readonly location: string; readonly path: string },
): Promise<void> {
  try {
    await link(temporary.path, path);
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? alreadyThere(location, error) : error;
  }
  await unlink(temporary.path);
}

/** Removes a temporary file, in whatever state it is. Never throws. */
export async function discardTemporary(temporary: TemporaryFile): Promise<void> {
  try {
    await temporary.handle.close();
    await unlink(temporary.path);
  } catch {
    // What is left carries a temporary name: no listing shows it and nobody reads it.
  }
}

/** What a request does with the file system. */
export type FileAction = 'file:head' | 'file:read' | 'file:write' | 'file:list' | 'file:delete';

const KIND_BY_CODE: Readonly<Record<string, ErrorKind>> = {
  EACCES: 'access-denied',
  EPERM: 'access-denied',
  EROFS: 'access-denied',
  ENAMETOOLONG: 'unsupported',
};

/** A file stands where a folder is needed, or the reverse: a key that is also the folder of other keys. */
const KIND_BY_WRITE_CODE: Readonly<Record<string, ErrorKind>> = {
  EEXIST: 'unsupported',
  EISDIR: 'unsupported',
  ENOTDIR: 'unsupported',
};

/** Runs file-system calls and turns what they throw into kinds that name `action` and `location`. */
export async function translateFileErrors<Result>(
  action: FileAction,
  location: string,
  fn: () => Promise<Result>,
): Promise<Result> {
  try {
    return await fn();
  } catch (error) {
    throw toIcebergError(action, location, error);
  }
}

function toIcebergError(action: FileAction, location: string, error: unknown): unknown {
  if (isIcebergError(error)) return error;
  const code = errorCode(error);
  if (code === undefined) return error;
  const writeKind = action === 'file:write' ? KIND_BY_WRITE_CODE[code] : undefined;
  if (writeKind === undefined && (isMissing(error) || code === 'EISDIR')) {
    return noSuchObject(location, error);
  }
  const kind = writeKind ?? KIND_BY_CODE[code] ?? 'unavailable';
  return new IcebergError(kind, `${action} ${location}: ${code}`, { location, code }, error);
}

/** Whether a call failed since there is nothing under that name. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
