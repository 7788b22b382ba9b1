/**
 * An HTTP proxy in front of a real S3 server. It makes requests of one kind fail: before the server sees the request,
 * or after the server has performed it.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeHttp } from './close-http.ts';

export type StorageOperation =
  | 'put'
  | 'head'
  | 'get'
  | 'delete'
  | 'list'
  | 'createMultipart'
  | 'completeMultipart'
  | 'abortMultipart'
  | 'listMultiparts';

/**
 * The kinds up to `request_cut` act before the server has the whole request; with `request_cut` it
 * receives half of the body. The others act after the server has performed it. With the slow kinds,
 * the headers are late or the body arrives in pieces, but the response is complete. `begun` sends
 * the status before the outcome is known, as S3 does for long operations.
 */
export type StorageFaultKind =
  | 'reset'
  | 'status_500'
  | 'status_403'
  | 'status_404'
  | 'status_302'
  | 'silence'
  | 'request_cut'
  | 'reply_dropped'
  | 'body_cut'
  | 'slow_headers'
  | 'slow_body'
  | 'begun';

/**
 * `times` limits the number of affected requests, `bucket` selects their bucket. Both default to
 * all.
 */
export type StorageFault = {
  operation: StorageOperation;
  kind: StorageFaultKind;
  times?: number;
  bucket?: string;
};

export type StorageFaultProxy = {
  endpoint: string;
  set(fault: StorageFault | undefined): void;
  /** The number of affected requests since `set`. */
  hits(): number;
  close(): Promise<void>;
};

export async function startStorageFaultProxy(target: string): Promise<StorageFaultProxy> {
  const state = { fault: undefined as StorageFault | undefined, hits: 0 };
  const next = (incoming: IncomingMessage): StorageFaultKind | undefined => {
    const { fault } = state;
    if (fault?.operation !== operationOf(incoming) || state.hits >= (fault.times ?? Infinity))
      return undefined;
    if (fault.bucket !== undefined && fault.bucket !== bucketOf(incoming)) return undefined;
    state.hits += 1;
    return fault.kind;
  };
  const server = createServer((incoming, answer) => {
    const work = async () => {
      const body = await buffer(incoming);
      await respond({ target, incoming, body, answer, fault: next(incoming) });
    };
    work().catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (fault) => Object.assign(state, { fault, hits: 0 }),
    hits: () => state.hits,
    close: () => closeHttp(server),
  };
}

type Exchange = {
  target: string;
  incoming: IncomingMessage;
  body: Buffer;
  answer: ServerResponse;
  fault: StorageFaultKind | undefined;
};

/** Longer than any response of the server, but shorter than the deadlines of the tests. */
export const SLOW_MS = 700;
const SLOW_PIECES = 7;
/** The response of an ingress that has lost its backend. */
const TEXT = { 'content-type': 'text/plain' };

async function respond({ target, incoming, body, answer, fault }: Exchange): Promise<void> {
  if (fault === 'silence') return;
  if (fault === 'reset') return void answer.socket?.resetAndDestroy();
  if (fault === 'status_500') return void answer.writeHead(500).end();
  if (fault === 'status_403') return void answer.writeHead(403).end();
  if (fault === 'status_404') return void answer.writeHead(404, TEXT).end('default backend - 404');
  if (fault === 'status_302') return void answer.writeHead(302, { location: '/login' }).end();
  const { method, url, headers } = incoming;
  delete headers.expect;
  if (fault === 'request_cut') {
    await sendHalf({ target, incoming, body });
    return void answer.socket?.resetAndDestroy();
  }
  const sent = request(new URL(url ?? '/', target), { method, headers });
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end(body);
  });
  const bytes = await buffer(reply);
  if (fault === 'reply_dropped') return void answer.socket?.resetAndDestroy();
  if (fault === 'slow_headers') await sleep(SLOW_MS);
  answer.writeHead(fault === 'begun' ? 200 : (reply.statusCode ?? 0), reply.headers);
  if (fault === 'slow_body') return void Readable.from(inPieces(bytes)).pipe(answer);
  if (fault !== 'body_cut') return void answer.end(bytes);
  answer.write(bytes.subarray(0, bytes.length / 2), () => answer.socket?.destroySoon());
}

/** Disconnects from the server in the middle of the body. */
async function sendHalf({
  target,
  incoming,
  body,
}: Pick<Exchange, 'target' | 'incoming' | 'body'>) {
  const { method, url, headers } = incoming;
  const sent = request(new URL(url ?? '/', target), { method, headers });
  sent.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    sent.write(body.subarray(0, body.length / 2), () => resolve());
  });
  sent.destroy();
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  const length = Math.max(1, Math.ceil(bytes.length / SLOW_PIECES));
  for (let at = 0; at < bytes.length; at += length) {
    await sleep(SLOW_MS / SLOW_PIECES);
    yield bytes.subarray(at, at + length);
  }
}

function bucketOf({ url = '/' }: IncomingMessage): string | undefined {
  return new URL(url, 'http://storage').pathname.split('/')[1];
}

function operationOf({ method, url = '/' }: IncomingMessage): StorageOperation {
  const { searchParams, pathname } = new URL(url, 'http://storage');
  const isOfUploads = searchParams.has('uploads');
  const isOfOneUpload = searchParams.has('uploadId');
  const isOfBucket = pathname.split('/').filter((part) => part !== '').length < 2;
  switch (method) {
    case 'HEAD':
      return 'head';
    case 'PUT':
      return 'put';
    case 'POST':
      return isOfUploads ? 'createMultipart' : 'completeMultipart';
    case 'DELETE':
      return isOfOneUpload ? 'abortMultipart' : 'delete';
    default:
      if (isOfUploads) return 'listMultiparts';
      return isOfBucket ? 'list' : 'get';
  }
}
