/**
 * A raw download: the sanitized image with its saved metadata restored, as an attachment, never cached. An image that
 * came in another color space is sent with its own pixels and its own profile. Spec: Output rules 7.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ByteRange } from '../../core/delivery/byte-range.ts';
import type { ServedImage } from '../../core/delivery/headers.ts';
import type { DeliveryFileRow } from '../../db/delivery-lookups.ts';
import { answerRangeNotSatisfiable, answerStream, resolveBodyRange } from '../answer.ts';
import type { DeliveryResult } from '../exchange.ts';
import type { Originals } from '../originals.ts';
import { meterOf, type ServedRequest, type ServingDeps } from '../serve-image.ts';
import { HEAD_BYTES, type MetadataBlocks, type Splice, splices } from './splice.ts';

export async function serveRaw(deps: ServingDeps, served: ServedRequest): Promise<DeliveryResult> {
  const { file, project, request } = served;
  const raw = await composeRaw(deps.originals, file);
  const { size_bytes } = raw;
  const portion = resolveBodyRange(served, { size_bytes, etag: null });
  if (portion === 'beyond') return answerRangeNotSatisfiable(served, size_bytes);
  const isHead = request.method === 'HEAD';
  const range = portion === 'whole' ? { start: 0, end: size_bytes - 1 } : portion;
  const stream = isHead ? null : Readable.from(bytesOf(deps.originals, raw, range));
  const meter = meterOf(deps, served, { kind: 'raw', is_watermarked: false });
  return answerStream(served, () => describe(project.project_id, file), {
    stream,
    size_bytes,
    portion,
    meter,
  });
}

function describe(project_id: string, file: DeliveryFileRow): ServedImage {
  const { content_type, revision, file_id, file_slug, original_filename } = file;
  const image = { content_type, revision, project_id, file_id, file_slug, original_filename };
  return { kind: 'raw', ...image };
}

type Raw = Splice & { object_key: string; object_bytes: number; size_bytes: number };

async function composeRaw(originals: Originals, file: DeliveryFileRow): Promise<Raw> {
  const object_key = file.raw_object_key ?? file.object_key;
  const object_bytes =
    file.raw_object_key === null ? file.size_bytes : await originals.check(object_key);
  const head = await buffer(await originals.open(object_key, { start: 0, end: HEAD_BYTES - 1 }));
  const splice = splices[file.content_type];
  if (splice === undefined) throw new Error(`no metadata fits into ${file.content_type}`);
  const image = { ...file, head, size_bytes: object_bytes };
  const made = await splice(image, await readBlocks(originals, file.metadata));
  const size_bytes = made.before.length + (object_bytes - made.from) + made.behind.length;
  return { ...made, object_key, object_bytes, size_bytes };
}

async function readBlocks(
  originals: Originals,
  keys: DeliveryFileRow['metadata'],
): Promise<MetadataBlocks> {
  const read = Object.entries(keys).map(
    async ([kind, key]) => [kind, await buffer(await originals.open(key))] as const,
  );
  return Object.fromEntries(await Promise.all(read));
}

/** Yields what the range needs of the three pieces; opens the object when its turn comes. */
async function* bytesOf(
  originals: Originals,
  raw: Raw,
  { start, end }: ByteRange,
): AsyncGenerator<Buffer> {
  const { before, from, behind, object_key, object_bytes } = raw;
  if (start < before.length) yield before.subarray(start, end + 1);
  const shift = from - before.length;
  const part = {
    start: Math.max(start + shift, from),
    end: Math.min(end + shift, object_bytes - 1),
  };
  if (part.start <= part.end) yield* await originals.open(object_key, part);
  const behindAt = before.length + object_bytes - from;
  if (end >= behindAt) yield behind.subarray(Math.max(0, start - behindAt), end + 1 - behindAt);
}
