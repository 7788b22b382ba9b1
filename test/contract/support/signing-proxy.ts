/**
 * Stands before the API for a client that cannot sign: sends each request on as it is, with the credential that its
 * operation takes. What the client sends of credentials itself is thrown away.
 */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, request as requestHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

type Credentials = {
  /** Of a dashboard session, with its user id. */
  session: Readonly<Record<string, string>>;
  requestSigningSecret: string;
  storageEventSecret: string;
  apiKey: string;
};

export type SigningProxy = { url: string; close(): Promise<void> };

export async function startSigningProxy(
  apiUrl: string,
  credentials: Credentials,
): Promise<SigningProxy> {
  const server = createServer((request, response) => {
    void forward(apiUrl, credentials, request).then(
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
      () => response.writeHead(502).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function forward(
  apiUrl: string,
  credentials: Credentials,
  request: IncomingMessage,
): Promise<IncomingMessage> {
  const { method = 'GET', url: target = '/' } = request;
  const body = await buffer(request);
  const { hostname, port } = new URL(apiUrl);
  const headers = {
    ...withoutCredentials(request.headers),
    ...credentialOf(credentials, { method, target, body }),
    'content-length': String(body.length),
  };
  return new Promise((resolve, reject) => {
    const sent = requestHttp({ hostname, port, method, path: target, headers }, resolve);
    sent.on('error', reject).end(body);
  });
}

const DROPPED = new Set([
  'authorization',
  'x-api-key',
  'x-identity-user-id',
  'x-request-signature',
  'x-storage-event-notification-signature',
  'connection',
  'transfer-encoding',
]);

function withoutCredentials(headers: IncomingMessage['headers']) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !DROPPED.has(name)));
}

type Call = { method: string; target: string; body: Buffer };

function credentialOf(credentials: Credentials, { method, target, body }: Call) {
  const pathname = target.split('?', 1)[0] ?? '';
  if (pathname === '/v1/key') return { 'x-api-key': credentials.apiKey };
  if (pathname === '/v1/internal/storage-events') {
    const signature = hmac(credentials.storageEventSecret, body);
    return { 'x-storage-event-notification-signature': signature };
  }
  const signed = Buffer.concat([Buffer.from(`${method}\n${pathname}\n`), body]);
  return {
    ...credentials.session,
    'x-request-signature': hmac(credentials.requestSigningSecret, signed),
  };
}

function hmac(secret: string, bytes: Buffer): string {
  return createHmac('sha256', secret).update(bytes).digest('hex');
}
