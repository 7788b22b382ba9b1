/**
 * An HTTP proxy in front of a real S3 server that knows what is asked of it, and misbehaves on purpose in one kind of
 * request: before the server saw it, or after its effect.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

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

/** The first three happen before the server sees the request; of the others it has taken the effect. */
export type StorageFaultKind = 'reset' | 'status_500' | 'silence' | 'reply_dropped' | 'body_cut';

/** `times`: how many requests it hits, all where it is left out. */
export type StorageFault = { operation: StorageOperation; kind: StorageFaultKind; times?: number };

export type StorageFaultProxy = {
  endpoint: string;
  set(fault: StorageFault | undefined): void;
  /** How many requests were hit since `set`. */
  hits(): number;
  close(): Promise<void>;
};

export async function startStorageFaultProxy(target: string): Promise<StorageFaultProxy> {
  const state = { fault: undefined as StorageFault | undefined, hits: 0 };
  const next = (operation: StorageOperation): StorageFaultKind | undefined => {
    const { fault } = state;
    if (fault?.operation !== operation || state.hits >= (fault.times ?? Infinity)) return undefined;
    state.hits += 1;
    return fault.kind;
  };
  const server = createServer((incoming, answer) => {
    const work = async () => {
      const body = await buffer(incoming);
      await respond({ target, incoming, body, answer, fault: next(operationOf(incoming)) });
    };
    work().catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (fault) => Object.assign(state, { fault, hits: 0 }),
    hits: () => state.hits,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Exchange = {
  target: string;
  incoming: IncomingMessage;
  body: Buffer;
  answer: ServerResponse;
  fault: StorageFaultKind | undefined;
};

async function respond({ target, incoming, body, answer, fault }: Exchange): Promise<void> {
  if (fault === 'silence') return;
  if (fault === 'reset') return void answer.socket?.resetAndDestroy();
  if (fault === 'status_500') return void answer.writeHead(500).end();
  const { method, url, headers } = incoming;
  delete headers.expect;
  const sent = request(new URL(url ?? '/', target), { method, headers });
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end(body);
  });
  const bytes = await buffer(reply);
  if (fault === 'reply_dropped') return void answer.socket?.resetAndDestroy();
  answer.writeHead(reply.statusCode ?? 0, reply.headers);
  if (fault !== 'body_cut') return void answer.end(bytes);
  answer.write(bytes.subarray(0, bytes.length / 2), () => answer.socket?.destroySoon());
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
