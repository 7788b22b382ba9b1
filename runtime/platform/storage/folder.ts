/**
 * Object storage in a folder of this machine, behind the same interface as S3: for standalone and tests. An object is
 * one file, written beside its path and renamed; folder-server.ts answers the signed PUT URLs.
 */
import { open, readdir, rmdir, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ByteRange } from '../../core/delivery/byte-range.ts';
import { DAY_MS } from '../../core/durations.ts';
import type { Clock } from '../clock.ts';
import { type Bucket, isObjectKey, type ObjectHead, StorageUnavailable } from './bucket.ts';
import { listFolder } from './folder-list.ts';
import {
  abortFolderMultipart,
  completeFolderMultipart,
  createFolderMultipart,
  listFolderMultiparts,
  type PartPlace,
  removeLostParts,
  writeFolderPart,
} from './folder-parts.ts';
import { printFolderPut } from './folder-url.ts';
import { mapStreamErrors } from './map-stream-errors.ts';
import {
  hasCode,
  INCOMING_FOLDER,
  ignore,
  openIncoming,
  readObjectHead,
  writeObjectFile,
} from './object-file.ts';

export type FolderBucketOptions = {
  /** The bucket's name in its URLs. */
  name: string;
  /** An existing folder. */
  folder: string;
  /** The origin at which folder-server.ts answers. */
  publicUrl: string;
  secret: Uint8Array;
  clock: Clock;
};

/** The bytes of parts come only through folder-server.ts. */
export type FolderBucket = Bucket & {
  /** Undefined when the multipart upload does not exist (any more). */
  writePart(
    part: PartPlace,
    body: { bytes: Readable; size_bytes: number },
  ): Promise<ObjectHead | undefined>;
};

export function createFolderBucket(options: FolderBucketOptions): FolderBucket {
  const { folder } = options;
  const guarded = async <T>(work: () => Promise<T>) => {
    try {
      return await work();
    } catch (error) {
      throw unavailable(folder, error);
    }
  };
  const place = (key: string): Place => ({ folder, path: pathOf(folder, key) });
  return {
    head: (key) => guarded(() => withObject(place(key), readObjectHead)),
    open: (key, range) => guarded(() => openObject(place(key), range)),
    read: (key, into) => guarded(() => readObject(place(key), into)),
    write: (key, body, facts) => guarded(() => writeObjectFile(place(key), body, facts)),
    delete: (key) => guarded(() => deleteObject(folder, pathOf(folder, key))),
    list: (range) => guarded(() => listFolder(folder, range)),
    presignPut: async (key, terms) => {
      pathOf(folder, key);
      return printFolderPut(options, { bucket: options.name, key, ...terms });
    },
    createMultipart: (key, { content_type }) => {
      pathOf(folder, key);
      const now = options.clock.now();
      return guarded(() => createFolderMultipart(folder, { key, content_type, now }));
    },
    presignPart: async (key, terms) => {
      pathOf(folder, key);
      return printFolderPut(options, { bucket: options.name, key, content_type: '', ...terms });
    },
    writePart: (part, body) => guarded(() => writeFolderPart(folder, part, body)),
    completeMultipart: (key, list) =>
      guarded(() => completeFolderMultipart(folder, { key, path: pathOf(folder, key), list })),
    abortMultipart: (key, upload_id) =>
      guarded(() => abortFolderMultipart(folder, { key, upload_id })),
    listMultiparts: (range) => guarded(() => listFolderMultiparts(folder, range)),
    check: () => guarded(() => checkFolder(folder, options.clock.now())),
  };
}

function pathOf(folder: string, key: string): string {
  if (!isObjectKey(key)) throw new TypeError(`not an object key: ${JSON.stringify(key)}`);
  return join(folder, ...key.split('/'));
}

/** The path of an object's file, existing or not. */
type Place = { folder: string; path: string };

type OpenFile = Awaited<ReturnType<typeof open>>;

/** Opens an object's file; undefined when there is none (nor when the path is a folder). */
async function openFile({ folder, path }: Place): Promise<OpenFile | undefined> {
  const file = await open(path, 'r').catch(ignore('ENOENT', 'ENOTDIR'));
  if (file !== undefined && (await orClose(file, file.stat())).isFile()) return file;
  await file?.close();
  // Throws if the bucket itself is missing (such as an unmounted disk): its objects are not lost.
  await stat(`${folder}/.`);
  return undefined;
}

/** Awaits a query of a file; closes the file if the query fails. */
async function orClose<T>(file: OpenFile, asked: Promise<T>): Promise<T> {
  return asked.catch(async (error: unknown) => {
    await file.close();
    throw error;
  });
}

async function withObject<T>(
  place: Place,
  use: (file: OpenFile) => Promise<T>,
): Promise<T | undefined> {
  const file = await openFile(place);
  if (file === undefined) return undefined;
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function openObject(place: Place, range?: ByteRange): Promise<Readable | undefined> {
  const { folder } = place;
  const file = await openFile(place);
  if (file === undefined) return undefined;
  const head = await orClose(file, readObjectHead(file));
  const end = Math.min(range?.end ?? Number.POSITIVE_INFINITY, (head?.size_bytes ?? 0) - 1);
  const start = range?.start ?? 0;
  if (head !== undefined && start <= end) {
    const body = file.createReadStream({ start, end });
    return mapStreamErrors(body, (error) => unavailable(folder, error));
  }
  await file.close();
  return head === undefined ? undefined : Readable.from([]);
}

async function readObject(
  place: Place,
  into: (sizeBytes: number) => Buffer = Buffer.allocUnsafeSlow,
): Promise<Buffer | undefined> {
  return withObject(place, async (file) => {
    const head = await readObjectHead(file);
    if (head === undefined) return undefined;
    const bytes = into(head.size_bytes);
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, at);
      if (bytesRead === 0) throw new Error(`${place.path} became shorter while it was read`);
      at += bytesRead;
    }
    return bytes;
  });
}

async function deleteObject(folder: string, path: string): Promise<void> {
  await unlink(path).catch(ignore('ENOENT', 'ENOTDIR'));
  for (let parent = dirname(path); parent.length > folder.length; parent = dirname(parent)) {
    const isGone = await rmdir(parent).then(
      () => true,
      (error) => hasCode(error, 'ENOENT'),
    );
    if (!isGone) return;
  }
}

const LEFT_BEHIND_MS = DAY_MS;

/** Writes and removes a file where objects are written, and removes what a crash left there. */
async function checkFolder(folder: string, now: Date): Promise<void> {
  const { file, path } = await openIncoming(folder);
  try {
    await file.sync();
  } finally {
    await file.close();
    await unlink(path).catch(ignore('ENOENT'));
  }
  for (const name of await readdir(join(folder, INCOMING_FOLDER))) {
    const left = join(folder, INCOMING_FOLDER, name);
    const age = now.getTime() - ((await stat(left).catch(ignore('ENOENT')))?.mtimeMs ?? Infinity);
    if (age > LEFT_BEHIND_MS) await unlink(left).catch(ignore('ENOENT'));
  }
  await removeLostParts(folder, new Date(now.getTime() - LEFT_BEHIND_MS));
}

const faults: Record<string, string> = {
  ENOENT: 'does not exist: create it, or name another one',
  ENOTDIR: 'is not a folder: name another one',
  EACCES: 'cannot be used: make it readable and writable for the user who runs this',
  EPERM: 'cannot be used: make it readable and writable for the user who runs this',
  EROFS: 'cannot be written: it is on a read-only file system; name another one',
  ENOSPC: 'cannot be written: its disk is full; free some space',
  EDQUOT: 'cannot be written: the quota of its disk is used up; free some space',
  EFBIG: 'cannot be written: files of this size are not allowed; raise the limit (ulimit -f)',
  EIO: 'cannot be used: its disk fails; see the system log',
  EMFILE: 'cannot be used: too many files are open; raise the limit (ulimit -n)',
  ENFILE: 'cannot be used: too many files are open on this machine',
};

/** The disk fault behind an error, or the error itself. */
function unavailable(folder: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const fault = faults[code];
  if (fault === undefined) return error;
  return new StorageUnavailable(`The storage folder ${folder} ${fault}.`, error);
}
