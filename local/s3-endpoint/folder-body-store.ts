import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { assert } from '../../shared/base/index.ts';
import { refusal } from './answers.ts';
import type { BodyStore, ObjectRecord, StoredBody, StoredObject } from './body-store.ts';

/** Names beside the buckets, whose own names cannot start with a dot. */
const STAGING = '.staging';
const RECORDS = '.records';

/**
 * Keeps each object as the file `<root>/<bucket>/<key>`, with each segment of the key percent-encoded where a
 * file name could not hold it, and what else S3 knows of it as JSON below `<root>/.records`. Files put
 * there by hand before the start become objects too. A key that is also the folder of other keys is refused.
 */
export async function folderBodyStore(root: string): Promise<BodyStore> {
  const staging = `${root}/${STAGING}`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  const pathByBody = new WeakMap<StoredBody, string>();
  let stagedCount = 0;

  const fileBody = (path: string, lengthBytes: number): StoredBody => {
    const body: StoredBody = {
      lengthBytes,
      open: (start, end) => {
        if (start === end) return Readable.from([]);
        const openPath = pathByBody.get(body);
        assert(openPath !== undefined, `${path}: body has no file`);
        // Opened at once: a replacement takes the name away from this file, not its bytes.
        const fd = openSync(openPath, 'r');
        return createReadStream(openPath, { fd, start, end: end - 1 });
      },
    };
    pathByBody.set(body, path);
    return body;
  };

  return {
    load: () => loadBuckets(root, fileBody),
    receive: async (source) => {
      const path = `${staging}/${++stagedCount}`;
      const file = createWriteStream(path);
      try {
        await pipeline(source, file);
      } catch (error) {
        rmSync(path, { force: true });
        throw error;
      }
      return fileBody(path, file.bytesWritten);
    },
    discard: (body) => {
      const path = pathByBody.get(body);
      if (path?.startsWith(`${staging}/`)) rmSync(path, { force: true });
    },
    publish: (bucket, key, body, record) => {
      const path = `${root}/${bucket}/${pathOfKey(key)}`;
      const stagedPath = pathByBody.get(body);
      assert(stagedPath !== undefined, `${path}: body has no file`);
      refuseImpossiblePath(key, () => {
        mkdirSync(dirname(path), { recursive: true });
        renameSync(stagedPath, path);
      });
      pathByBody.set(body, path);
      writeRecord(recordPath(root, bucket, key), record);
      return { ...record, body };
    },
    remove: (bucket, key) => {
      rmSync(`${root}/${bucket}/${pathOfKey(key)}`, { force: true });
      rmSync(recordPath(root, bucket, key), { force: true });
      removeEmptyFolders(`${root}/${bucket}`, pathOfKey(key));
    },
    createBucket: (bucket) => mkdirSync(`${root}/${bucket}`, { recursive: true }),
    deleteBucket: (bucket) => {
      rmSync(`${root}/${bucket}`, { recursive: true, force: true });
      rmSync(`${root}/${RECORDS}/${bucket}`, { recursive: true, force: true });
    },
  };
}

/** The path below the bucket's folder; no two keys share one. */
export function pathOfKey(key: string): string {
  return key.split('/').map(encodeSegment).join('/');
}

function encodeSegment(segment: string): string {
  if (segment === '') return '%-';
  if (segment === '.' || segment === '..') return segment.replaceAll('.', '%2E');
  return encodeURIComponent(segment).replaceAll('%3D', '=');
}

function keyOfPath(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment === '%-' ? '' : decodeURIComponent(segment)))
    .join('/');
}

/** The suffix has a percent sign that no encoded segment has, so no other key's folder is in its way. */
function recordPath(root: string, bucket: string, key: string): string {
  return `${root}/${RECORDS}/${bucket}/${pathOfKey(key)}%.json`;
}

function writeRecord(path: string, record: ObjectRecord): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(record));
}

/** Without this a deleted `a/b` would keep `a` from becoming an object. */
function removeEmptyFolders(bucketPath: string, keyPath: string): void {
  for (let folder = dirname(keyPath); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(`${bucketPath}/${folder}`);
    } catch {
      // Not empty: it is still needed, and so are those above it.
      return;
    }
  }
}

function refuseImpossiblePath(key: string, fn: () => void): void {
  try {
    fn();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!['EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'ENAMETOOLONG'].includes(code)) throw error;
    throw refusal(501, 'NotImplemented', `${key}: no file can have this key (${code})`);
  }
}

type FileBody = (path: string, lengthBytes: number) => StoredBody;

async function loadBuckets(
  root: string,
  fileBody: FileBody,
): Promise<Map<string, Map<string, StoredObject>>> {
  const buckets = new Map<string, Map<string, StoredObject>>();
  for (const entry of await readdir(root, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const objects = new Map<string, StoredObject>();
    const bucketPath = `${root}/${entry.name}`;
    for (const file of await readdir(bucketPath, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const path = `${file.parentPath}/${file.name}`;
      const key = keyOfPath(path.slice(bucketPath.length + 1));
      const record = await loadRecord(path, recordPath(root, entry.name, key));
      objects.set(key, { ...record, body: fileBody(path, record.lengthBytes) });
    }
    buckets.set(entry.name, objects);
  }
  return buckets;
}

/** The record of a file, or one made up from the file when there is none that fits. */
async function loadRecord(path: string, pathOfRecord: string): Promise<ObjectRecord> {
  const { size, mtimeMs } = await stat(path);
  try {
    const record = JSON.parse(await readFile(pathOfRecord, 'utf8')) as ObjectRecord;
    if (record.lengthBytes === size) return record;
  } catch {
    // A file put there by hand has no record.
  }
  const lastModifiedMs = Math.floor(mtimeMs);
  const etag = `"${size.toString(16)}-${lastModifiedMs.toString(16)}"`;
  return { lengthBytes: size, etag, lastModifiedMs, headers: {}, checksums: {} };
}
