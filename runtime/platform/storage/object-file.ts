/**
 * Stores one object of folder storage as one file: the bytes unchanged, followed by a trailer of fixed length with the
 * object's facts. As one file, a single rename makes both appear at once; with the facts at the end, any viewer can
 * open the image, and the digest is computed while the bytes pass.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type ObjectFacts, type ObjectHead, ObjectSizeMismatch } from './bucket.ts';

export const TRAILER_BYTES = 512;
/** Below the bucket's folder: objects being written. Keys never begin with a dot. */
export const INCOMING_FOLDER = '.incoming';
const MAGIC = 'tintype object 1 ';
const CONTENT_TYPE_CHARACTERS_MAX = 200;

/**
 * Writes to a temporary file, flushes, then renames: a crash leaves the old object or the new one.
 */
export async function writeObjectFile(
  place: { folder: string; path: string },
  body: Buffer | Readable,
  facts: ObjectFacts,
): Promise<ObjectHead> {
  const { file, path: incoming } = await openIncoming(place.folder);
  try {
    const head = await fill(file, body, facts);
    await moveInto(incoming, place.path);
    return head;
  } catch (error) {
    await unlink(incoming).catch(() => undefined);
    throw error;
  }
}

/** The facts in the trailer; undefined for a file that is not an object. */
export async function readObjectHead(file: FileHandle): Promise<ObjectHead | undefined> {
  const { size } = await file.stat();
  if (size < TRAILER_BYTES) return undefined;
  const trailer = Buffer.alloc(TRAILER_BYTES);
  await file.read(trailer, 0, TRAILER_BYTES, size - TRAILER_BYTES);
  const head = parseTrailer(trailer);
  return head?.size_bytes === size - TRAILER_BYTES ? head : undefined;
}

export async function openIncoming(folder: string): Promise<{ file: FileHandle; path: string }> {
  const path = join(folder, INCOMING_FOLDER, `${process.pid}-${randomBytes(12).toString('hex')}`);
  const create = () => open(path, 'wx', 0o600);
  const file = await create().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    // Not recursive: a missing bucket folder may be an unmounted disk.
    await mkdir(join(folder, INCOMING_FOLDER)).catch(ignore('EEXIST'));
    return create();
  });
  return { file, path };
}

async function fill(
  file: FileHandle,
  body: Buffer | Readable,
  facts: ObjectFacts,
): Promise<ObjectHead> {
  let head: ObjectHead | undefined;
  const source = Buffer.isBuffer(body) ? Readable.from([body]) : body;
  try {
    await file.writeFile(
      (async function* () {
        head = yield* passAndDescribe(source, facts);
        yield printTrailer(head);
      })(),
    );
    await file.sync();
  } finally {
    await file.close();
  }
  if (head === undefined) throw new Error('the object was not written');
  return head;
}

async function* passAndDescribe(
  chunks: AsyncIterable<Buffer>,
  { content_type, size_bytes: expected }: ObjectFacts,
): AsyncGenerator<Buffer, ObjectHead> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (expected !== undefined && size > expected) throw new ObjectSizeMismatch(expected, size);
    hash.update(chunk);
    yield chunk;
  }
  if (expected !== undefined && size !== expected) throw new ObjectSizeMismatch(expected, size);
  return { size_bytes: size, content_type, etag: `"${hash.digest('hex')}"` };
}

const MOVE_ATTEMPTS_MAX = 8;

/**
 * Retries, because a delete may remove the empty parent folder between its creation and the rename.
 */
async function moveInto(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(dirname(to), { recursive: true });
      await rename(from, to);
      return await syncFolder(dirname(to));
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || attempt === MOVE_ATTEMPTS_MAX) throw error;
    }
  }
}

/**
 * Flushes the rename to the disk. If the folder has disappeared again, there is nothing to flush.
 */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(ignore('ENOENT'));
  if (folder === undefined) return;
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function printTrailer(head: ObjectHead): Buffer {
  if ((head.content_type ?? '').length > CONTENT_TYPE_CHARACTERS_MAX) {
    throw new TypeError('the content type of an object is too long');
  }
  return Buffer.alloc(TRAILER_BYTES, `${MAGIC}${JSON.stringify(head)}`.padEnd(TRAILER_BYTES));
}

function parseTrailer(trailer: Buffer): ObjectHead | undefined {
  const text = trailer.toString();
  if (!text.startsWith(MAGIC)) return undefined;
  try {
    return JSON.parse(text.slice(MAGIC.length)) as ObjectHead;
  } catch {
    return undefined;
  }
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** A catch handler that ignores these error codes and nothing else. */
export function ignore(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (!hasCode(error, ...codes)) throw error;
    return undefined;
  };
}
