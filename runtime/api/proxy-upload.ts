/**
 * PUT of an upload's bytes through the service: the signed URL is the credential, the bytes are streamed to storage as
 * they arrive, and the session then completes by itself. Open to every origin. Spec: Uploads; Authentication, Rules.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { NextFunction, Request, Response } from 'express';
import { completeUpload } from '../actions/complete-upload.ts';
import { ServiceError } from '../core/errors.ts';
import { isId } from '../core/ids.ts';
import { verifyUploadUrl } from '../core/signing/upload-url.ts';
import { findProject } from '../db/projects.ts';
import { updateUploadPutBegan } from '../db/upload-puts.ts';
import { findUpload, type UploadRow } from '../db/uploads.ts';
import { letContinue } from '../platform/http/let-continue.ts';
import { ObjectSizeMismatch } from '../platform/storage/bucket.ts';
import type { ApiDeps } from './deps.ts';
import { enforceMinimumRate, UploadTooSlow } from './upload-rate.ts';

const openToEveryOrigin = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'PUT, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': 'x-request-id',
  'access-control-max-age': '86400',
};

export function allowProxyUpload(_request: Request, response: Response): void {
  response.set(openToEveryOrigin).status(204).end();
}

export function proxyUpload(deps: ApiDeps) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    response.set(openToEveryOrigin);
    try {
      const upload = await admit(deps, request);
      letContinue(request, response);
      await receive(deps, request, upload);
      response.status(204).end();
    } catch (error) {
      if (request.destroyed && !request.complete) return;
      // Node then resets the connection, which is the intended signal to a slow sender.
      if (error instanceof UploadTooSlow) response.set('connection', 'close');
      next(error);
    }
  };
}

/** The upload to fill. Checks in this order: URL, session, expiry, state, project, headers. */
async function admit(deps: ApiDeps, request: Request): Promise<UploadRow> {
  const upload_id = String(request.params['id'] ?? '');
  verifyUrl(deps, upload_id, request);
  const upload = isId('upl', upload_id) ? await findUpload(deps.db, upload_id) : undefined;
  if (upload === undefined || upload.mode !== 'proxy') throw new ServiceError('upload_not_found');
  if (upload.is_expired || upload.status !== 'created') throw ended(upload);
  const project = await findProject(deps.db, upload.project_id);
  if (project?.status !== 'active') throw new ServiceError('project_suspended');
  checkHeaders(request, upload);
  const begun = await updateUploadPutBegan(deps.db, upload_id);
  if (begun === undefined) throw ended((await findUpload(deps.db, upload_id)) ?? upload);
  return begun;
}

function ended({ is_expired, status }: UploadRow): ServiceError {
  if (is_expired) return new ServiceError('signature_expired');
  return new ServiceError('upload_not_pending', { details: { status } });
}

const RETURNED = /^[^?]*\?exp=(\d+)&sig=([\w-]+)$/;

/**
 * Accepts exactly one exp and one sig, in the order and spelling in which they were returned, and
 * nothing else. Decided without the database, so that forged URLs cost it nothing. `exp` is the end
 * of the session, which the database's clock judges.
 */
function verifyUrl({ addresses }: ApiDeps, upload_id: string, request: Request): void {
  const [, exp, sig] = RETURNED.exec(request.originalUrl) ?? [];
  const keys = addresses.uploadUrlKeys;
  const isSigned =
    exp !== undefined && sig !== undefined && verifyUploadUrl({ keys, upload_id, exp, sig });
  if (!isSigned) throw new ServiceError('invalid_signature');
}

const GOT_LENGTH_MAX = 100;

function checkHeaders({ headers }: IncomingMessage, upload: UploadRow): void {
  const { 'content-length': length, 'content-type': type } = headers;
  const { size_bytes } = upload;
  if (length === undefined) {
    throw new ServiceError('length_required', {
      message: `Send Content-Length: ${size_bytes}, as the session declared.`,
      details: { size_bytes },
    });
  }
  const bytes = Number(length);
  if (bytes > size_bytes) {
    throw new ServiceError('payload_too_large', { details: { max_bytes: size_bytes } });
  }
  if (bytes !== size_bytes) throw wrongSize(upload, bytes);
  if (type?.toLowerCase() === upload.content_type) return;
  throw new ServiceError('content_type_mismatch', {
    message: `Send Content-Type: ${upload.content_type}, as the session declared.`,
    details: { expected: upload.content_type, got: type?.slice(0, GOT_LENGTH_MAX) ?? null },
  });
}

function wrongSize({ size_bytes }: UploadRow, stored_bytes: number): ServiceError {
  return new ServiceError('ingest_size_mismatch', { details: { size_bytes, stored_bytes } });
}

/** Streams at the speed of the storage, with at most one buffer in memory. */
async function receive(deps: ApiDeps, request: Request, upload: UploadRow): Promise<void> {
  const { content_type, size_bytes, ingest_key } = upload;
  const arriving = request.iterator({ destroyOnReturn: false });
  const body = Readable.from(enforceMinimumRate(arriving, deps.uploadRate), { objectMode: false });
  try {
    await deps.buckets.ingest.write(ingest_key, body, { content_type, size_bytes });
  } catch (error) {
    if (error instanceof ObjectSizeMismatch) throw wrongSize(upload, error.actual);
    throw error;
  }
  await completeUpload(deps, upload);
}
