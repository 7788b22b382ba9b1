/**
 * Serves the signed PUT URLs of folder storage like an S3 server: exactly the signed content type and length, 403 for
 * anything altered or expired, CORS for every origin with a readable ETag.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ApiErrorCode } from '../../core/errors.ts';
import type { Clock } from '../clock.ts';
import { createFailureLog, type FailureLog } from '../failure-log.ts';
import { drainRequest } from '../http/drain-request.ts';
import { letContinue } from '../http/let-continue.ts';
import type { Log } from '../log.ts';
import { type ObjectHead, ObjectSizeMismatch, StorageUnavailable } from './bucket.ts';
import type { FolderBucket } from './folder.ts';
import { FOLDER_STORAGE_PATH, type FolderPut, verifyFolderPut } from './folder-url.ts';

export type FolderServerOptions = {
  buckets: Readonly<Record<string, FolderBucket>>;
  secret: Uint8Array;
  clock: Clock;
  log?: Log;
  /** Called after an object arrived, like a storage's event notification. */
  onObject?: (bucket: string, key: string) => void;
};

/** Returns whether the request was for folder storage and is being answered. */
export function folderStorageHandler(options: FolderServerOptions) {
  const failures = options.log && createFailureLog(options.log);
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!request.url?.startsWith(FOLDER_STORAGE_PATH)) return false;
    for (const [name, value] of Object.entries(openToEveryOrigin)) response.setHeader(name, value);
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return true;
    }
    const put = admit(options, request);
    if ('status' in put) refuse(request, response, put);
    else void receive({ ...options, failures }, { request, response, put });
    return true;
  };
}

const openToEveryOrigin = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'PUT, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': 'ETag',
  'access-control-max-age': '86400',
  'cache-control': 'no-store',
};

/**
 * Uses the API's error codes, so that each has its help page; the statuses are those of an S3
 * server.
 */
type Refusal = { status: number; code: ApiErrorCode; message: string };
type Admitted = FolderPut & { target: FolderBucket };

const refusals = {
  other_method: { status: 405, code: 'not_found', message: 'Only PUT is answered here.' },
  altered: {
    status: 403,
    code: 'invalid_signature',
    message: 'The URL was altered: use it exactly as returned.',
  },
  no_length: {
    status: 411,
    code: 'length_required',
    message: 'Send the Content-Length header.',
  },
  other_length: {
    status: 403,
    code: 'invalid_signature',
    message: 'Content-Length is signed: it must be the size that the upload declared.',
  },
  other_type: {
    status: 403,
    code: 'content_type_mismatch',
    message: 'Content-Type must be the type that the upload declared.',
  },
  over: {
    status: 404,
    code: 'upload_not_found',
    message: 'The multipart upload is over: it was completed or aborted. Start a new upload.',
  },
  down: {
    status: 503,
    code: 'storage_unavailable',
    message: 'The storage cannot accept the object now.',
  },
  failed: { status: 500, code: 'internal', message: 'The object could not be stored.' },
} as const satisfies Record<string, Refusal>;

/** The advice for a part differs, because an upload outlives the URLs of its parts. */
function expired({ part_number }: FolderPut): Refusal {
  const advice =
    part_number === undefined ? 'start a new upload' : 'request a new one with POST …/parts';
  return { status: 403, code: 'signature_expired', message: `The URL has expired: ${advice}.` };
}

/** The object that this request may write, or the refusal. */
function admit(options: FolderServerOptions, request: IncomingMessage): Admitted | Refusal {
  if (request.method !== 'PUT') return refusals.other_method;
  const put = verifyFolderPut(options.secret, request.url ?? '');
  const target = put === undefined ? undefined : options.buckets[put.bucket];
  if (put === undefined || target === undefined) return refusals.altered;
  if (put.exp * 1000 <= options.clock.now().getTime()) return expired(put);
  const { 'content-length': length, 'content-type': type } = request.headers;
  if (length === undefined) return refusals.no_length;
  if (length !== String(put.size_bytes)) return refusals.other_length;
  if (put.part_number === undefined && type !== put.content_type) return refusals.other_type;
  return { ...put, target };
}

type Exchange = { request: IncomingMessage; response: ServerResponse; put: Admitted };

const SILENCE_MS_MAX = 30_000;

/**
 * Streams to the disk as fast as the disk accepts the bytes; a client that leaves or falls silent
 * leaves nothing behind.
 */
async function receive(
  { failures, onObject }: FolderServerOptions & { failures: FailureLog | undefined },
  { request, response, put }: Exchange,
): Promise<void> {
  request.setTimeout(SILENCE_MS_MAX, () => request.destroy());
  try {
    letContinue(request, response);
    // A failing disk must not destroy the connection: the client still gets an answer.
    const body = Readable.from(request.iterator({ destroyOnReturn: false }), { objectMode: false });
    const head = await store(put, body);
    if (head === undefined) return refuse(request, response, refusals.over);
    if (put.part_number === undefined) onObject?.(put.bucket, put.key);
    response.writeHead(200, { etag: head.etag, 'content-length': '0' }).end();
  } catch (error) {
    if (request.destroyed && !request.complete) return;
    if (!(error instanceof ObjectSizeMismatch)) {
      failures?.failed('an object could not be stored', { bucket: put.bucket, error });
    }
    const isDown = error instanceof StorageUnavailable;
    refuse(request, response, isDown ? refusals.down : refusals.failed);
  }
}

function store({ target, ...put }: Admitted, bytes: Readable): Promise<ObjectHead | undefined> {
  const { key, content_type, size_bytes, upload_id, part_number } = put;
  if (upload_id === undefined || part_number === undefined) {
    return target.write(key, bytes, { content_type, size_bytes });
  }
  return target.writePart({ key, upload_id, part_number }, { bytes, size_bytes });
}

function refuse(request: IncomingMessage, response: ServerResponse, why: Refusal): void {
  const body = JSON.stringify({ error: { code: why.code, message: why.message } });
  response.writeHead(why.status, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  });
  response.end(body);
  drainRequest(request);
}
