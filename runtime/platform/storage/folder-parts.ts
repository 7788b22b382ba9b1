/**
 * Objects of folder storage that are uploaded in parts: each part is a file in a hidden folder of the upload, and the
 * object is written from them at once, so that its key never shows half of it.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { MULTIPART_PART_BYTES_MIN } from '../../core/limits.ts';
import { MultipartRefused, type ObjectHead, type OpenMultipart, type PartList } from './bucket.ts';
import { ignore, readObjectHead, writeObjectFile } from './object-file.ts';

/** Below the bucket's folder. Keys never begin with a dot. */
const MULTIPART_FOLDER = '.multipart';
const UPLOAD_FACTS = 'upload.json';
const UPLOAD_ID = /^[0-9a-f]{32}$/;

type UploadFacts = { key: string; content_type: string; started_at: string };

export async function createFolderMultipart(
  folder: string,
  facts: { key: string; content_type: string; now: Date },
): Promise<string> {
  const uploadId = randomBytes(16).toString('hex');
  // Not recursive: a missing bucket folder may be an unmounted disk.
  await mkdir(join(folder, MULTIPART_FOLDER), { mode: 0o700 }).catch(ignore('EEXIST'));
  await mkdir(uploadFolder(folder, uploadId), { mode: 0o700 });
  const { key, content_type, now } = facts;
  const text = JSON.stringify({ key, content_type, started_at: now.toISOString() });
  await writeFile(join(uploadFolder(folder, uploadId), UPLOAD_FACTS), text);
  return uploadId;
}

export type PartPlace = { key: string; upload_id: string; part_number: number };

/** Undefined when the upload does not exist (any more): it was completed or aborted. */
export async function writeFolderPart(
  folder: string,
  { key, upload_id, part_number }: PartPlace,
  body: { bytes: Readable; size_bytes: number },
): Promise<ObjectHead | undefined> {
  if ((await readUpload(folder, { key, upload_id })) === undefined) return undefined;
  const path = join(uploadFolder(folder, upload_id), partName(part_number));
  const { size_bytes } = body;
  const head = await writeObjectFile({ folder, path }, body.bytes, {
    content_type: '',
    size_bytes,
  });
  // The rename creates missing folders: an upload that ended meanwhile must not come back as a
  // stray part.
  if ((await readUpload(folder, { key, upload_id })) !== undefined) return head;
  await removeUpload(folder, upload_id);
  return undefined;
}

export async function completeFolderMultipart(
  folder: string,
  { key, path, list }: { key: string; path: string; list: PartList },
): Promise<void> {
  const upload = await readUpload(folder, { key, upload_id: list.upload_id });
  if (upload === undefined) throw noSuchUpload();
  try {
    await joinUpload({ folder, path }, list, upload);
  } catch (error) {
    // An abort removes the upload's facts first, and may be removing the parts that are being read.
    throw (await readUpload(folder, { key, upload_id: list.upload_id })) === undefined
      ? noSuchUpload(error)
      : error;
  }
  await removeUpload(folder, list.upload_id);
}

function noSuchUpload(cause?: unknown): MultipartRefused {
  const message = 'the storage knows no such multipart upload: it was completed or aborted';
  return new MultipartRefused('multipart_complete_failed', message, { cause });
}

async function joinUpload(
  { folder, path }: { folder: string; path: string },
  list: PartList,
  { content_type }: UploadFacts,
): Promise<void> {
  const place = uploadFolder(folder, list.upload_id);
  const parts = await Promise.all(
    list.parts.map(async ({ part_number, etag }) => {
      const part = join(place, partName(part_number));
      return { part_number, etag, path: part, head: await readPartHead(part) };
    }),
  );
  parts.forEach((part, index) => {
    refusePart(part, { isLast: index === parts.length - 1 });
  });
  const bytes = Readable.from(joinParts(parts), { objectMode: false });
  const size_bytes = parts.reduce((sum, { head }) => sum + (head?.size_bytes ?? 0), 0);
  await writeObjectFile({ folder, path }, bytes, { content_type, size_bytes });
}

export async function abortFolderMultipart(
  folder: string,
  upload: { key: string; upload_id: string },
): Promise<void> {
  if ((await readUpload(folder, upload)) !== undefined)
    await removeUpload(folder, upload.upload_id);
}

export async function listFolderMultiparts(
  folder: string,
  { prefix, after = '', limit }: { prefix: string; after?: string; limit: number },
): Promise<OpenMultipart[]> {
  const names = (await readdir(join(folder, MULTIPART_FOLDER)).catch(ignore('ENOENT'))) ?? [];
  const found = await Promise.all(
    names
      .filter((name) => UPLOAD_ID.test(name))
      .map(async (upload_id) => ({
        upload_id,
        facts: await readFacts(folder, upload_id),
      })),
  );
  return found
    .flatMap(({ upload_id, facts }) =>
      facts === undefined
        ? []
        : [{ key: facts.key, upload_id, started_at: new Date(facts.started_at) }],
    )
    .filter(({ key }) => key.startsWith(prefix) && key > after)
    .sort((left, right) => (left.key < right.key ? -1 : 1))
    .slice(0, limit);
}

/**
 * Removes what a crash left of uploads at their beginning or end, from before the given time: an
 * upload without its facts is gone, and no list shows it.
 */
export async function removeLostParts(folder: string, before: Date): Promise<void> {
  const names = (await readdir(join(folder, MULTIPART_FOLDER)).catch(ignore('ENOENT'))) ?? [];
  for (const uploadId of names.filter((name) => UPLOAD_ID.test(name))) {
    const seen = await stat(uploadFolder(folder, uploadId)).catch(ignore('ENOENT'));
    if (seen === undefined || seen.mtime >= before) continue;
    if ((await readFacts(folder, uploadId)) === undefined) await removeUpload(folder, uploadId);
  }
}

type StoredPart = {
  part_number: number;
  etag: string;
  path: string;
  head: ObjectHead | undefined;
};

function refusePart({ part_number, etag, head }: StoredPart, { isLast }: { isLast: boolean }) {
  if (head === undefined) {
    throw new MultipartRefused('invalid_parts', `part ${part_number} has not arrived`);
  }
  if (unquoted(head.etag) !== unquoted(etag)) {
    throw new MultipartRefused('invalid_parts', `part ${part_number} has another ETag`);
  }
  if (!isLast && head.size_bytes < MULTIPART_PART_BYTES_MIN) {
    throw new MultipartRefused('invalid_parts', `part ${part_number} is too small`);
  }
}

function unquoted(etag: string): string {
  return etag.replace(/^"(.*)"$/, '$1');
}

async function* joinParts(parts: readonly StoredPart[]): AsyncGenerator<Buffer> {
  for (const { path, head } of parts) {
    const end = (head?.size_bytes ?? 0) - 1;
    if (end < 0) continue;
    const file = await open(path, 'r');
    yield* file.createReadStream({ start: 0, end });
  }
}

async function readPartHead(path: string): Promise<ObjectHead | undefined> {
  const file = await open(path, 'r').catch(ignore('ENOENT'));
  if (file === undefined) return undefined;
  try {
    return await readObjectHead(file);
  } finally {
    await file.close();
  }
}

/** The facts of an upload under its own key; undefined for any other pair. */
async function readUpload(
  folder: string,
  { key, upload_id }: { key: string; upload_id: string },
): Promise<UploadFacts | undefined> {
  if (!UPLOAD_ID.test(upload_id)) return undefined;
  const facts = await readFacts(folder, upload_id);
  return facts?.key === key ? facts : undefined;
}

async function readFacts(folder: string, uploadId: string): Promise<UploadFacts | undefined> {
  const path = join(uploadFolder(folder, uploadId), UPLOAD_FACTS);
  const text = await readFile(path, 'utf8').catch(ignore('ENOENT', 'ENOTDIR'));
  return text === undefined ? undefined : parseFacts(text);
}

/** Undefined for a file that a crash left half written. */
function parseFacts(text: string): UploadFacts | undefined {
  try {
    return JSON.parse(text) as UploadFacts;
  } catch {
    return undefined;
  }
}

/** Removes the facts first: without them the upload is gone, even if some of its parts remain. */
async function removeUpload(folder: string, uploadId: string): Promise<void> {
  const place = uploadFolder(folder, uploadId);
  await rm(join(place, UPLOAD_FACTS), { force: true });
  await rm(place, { recursive: true, force: true });
}

function uploadFolder(folder: string, uploadId: string): string {
  return join(folder, MULTIPART_FOLDER, uploadId);
}

function partName(partNumber: number): string {
  return String(partNumber).padStart(5, '0');
}
