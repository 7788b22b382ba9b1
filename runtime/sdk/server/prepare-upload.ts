/**
 * The first action of the upload helper: checks the file, calls the middleware and creates the session. Spec: Upload
 * helper codes.
 */
import { createHash } from 'node:crypto';
import {
  HELPER_PART_BYTES_DEFAULT,
  HELPER_PART_BYTES_MIN,
  HELPER_SINGLE_PUT_BYTES_MAX,
} from '../../core/limits.ts';
import { signHelperToken } from '../../core/signing/helper-token.ts';
import type { PrepareAnswer, PrepareRequest } from '../protocol.ts';
import type { Operations, Upload } from './api-types.ts';
import type { HelperContext } from './upload-handler.ts';
import { helperRefusal } from './upload-refusal.ts';
import type { UploadRoute, UploadRouter } from './upload-route.ts';

export async function prepareUpload(
  context: HelperContext,
  request: Request,
  asked: PrepareRequest,
): Promise<PrepareAnswer> {
  const { file, input } = asked;
  const [name, route] = findRoute(context.router, asked.route);
  route.check(file);
  const { metadata, place } = await route.admit({ request, input, file });
  const { content_type, size_bytes } = file;
  const body = { content_type, size_bytes, ...place, ...wayFor(context, asked) };
  const state = { route: name, metadata };
  return answer(context, await createOnce(context, body, keyFor(asked, state, body)), state);
}

/**
 * If the answer was lost for so long that its session has expired, creates a new one. Our clock may
 * be wrong, so the service decides.
 */
async function createOnce(
  { api, project: slug }: HelperContext,
  body: Operations['POST /v1/projects/{slug}/uploads']['body'],
  key: { idempotencyKey?: string },
): Promise<Upload> {
  const create = (once: typeof key) =>
    api.call('POST /v1/projects/{slug}/uploads', { path: { slug }, body, ...once });
  const upload = await create(key);
  if (Date.parse(upload.expires_at) > Date.now()) return upload;
  const path = { slug, id: upload.upload_id };
  const { status } = await api.call('GET /v1/projects/{slug}/uploads/{id}', { path });
  return status === 'expired' ? create({}) : upload;
}

/**
 * Hashes the terms into the key: repeating somebody else's key, or one's own key for something
 * else, finds no existing session.
 */
function keyFor({ idempotency_key: key }: PrepareRequest, ...terms: readonly unknown[]) {
  if (key === undefined) return {};
  const text = JSON.stringify([key, ...terms]);
  return { idempotencyKey: createHash('sha256').update(text).digest('base64url') };
}

function findRoute(router: UploadRouter, name: string | undefined): [string, UploadRoute] {
  const entries = Object.entries(router);
  const only = name === undefined && entries.length === 1 ? entries[0] : undefined;
  const found = only ?? entries.find(([each]) => each === name);
  if (found === undefined) throw helperRefusal('unknown_route');
  return found;
}

/** One PUT up to 16 MiB, parts above; through the service if browsers cannot reach the storage. */
function wayFor({ mode }: HelperContext, { file, part_size }: PrepareRequest) {
  if (mode === 'proxy') return { mode };
  if (file.size_bytes <= HELPER_SINGLE_PUT_BYTES_MAX) return {};
  return { parts: countParts(file.size_bytes, part_size) };
}

/** Parts of the requested size, or slightly larger if equal parts would be too small. */
function countParts(bytes: number, asked: number = HELPER_PART_BYTES_DEFAULT): number {
  const size = Math.max(asked, HELPER_PART_BYTES_MIN);
  const count = Math.ceil(bytes / size);
  const fits = Math.ceil(bytes / count) >= HELPER_PART_BYTES_MIN;
  return Math.max(2, fits ? count : Math.floor(bytes / size));
}

function answer(
  { apiKey }: HelperContext,
  upload: Upload,
  state: { route: string; metadata: unknown },
): PrepareAnswer {
  const { upload_id, expires_at, direct, proxy, multipart, content_type } = upload;
  const exp = Math.floor(Date.parse(expires_at) / 1000);
  const token = signHelperToken({ api_key: apiKey, upload_id, exp, state });
  const prepared = { token, upload_id, expires_at };
  if (multipart !== undefined) {
    const { part_size, parts } = multipart;
    return { ...prepared, multipart: { part_size, parts } };
  }
  const url = direct?.put_url ?? proxy?.put_url;
  if (url === undefined) throw new TypeError('the service answered an upload without a way in');
  // A browser sets Content-Length itself and lets nobody else set it.
  return { ...prepared, put: { url, headers: { 'content-type': content_type } } };
}
