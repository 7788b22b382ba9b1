/**
 * A proxy before the API for clients that cannot sign requests: it replaces the header value `to-be-signed` with the
 * signature of the request. Spec: Authentication, Credentials.
 */
import { createHmac } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeHttp } from '../../support/close-http.ts';

/** The secrets in the instance file of a running `tintype up`. */
type Secrets = {
  request_signing_secret: string;
  storage_event_secret: string;
  provider_a_secret: string;
  provider_b_secret: string;
};

/** The placeholder for a signature. */
export const UNSIGNED = 'to-be-signed';

export type SigningProxy = { url: string; close(): Promise<void> };

export async function startSigningProxy(apiUrl: string, secrets: Secrets): Promise<SigningProxy> {
  const server = createServer((request, response) => {
    void forward(apiUrl, secrets, request).then(
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
      () => response.writeHead(502).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closeHttp(server) };
}

async function forward(
  apiUrl: string,
  secrets: Secrets,
  request: IncomingMessage,
): Promise<IncomingMessage> {
  const { method = 'GET', url: target = '/' } = request;
  const body = await buffer(request);
  const { hostname, port } = new URL(apiUrl);
  const { connection: _, 'transfer-encoding': __, ...sent } = request.headers;
  const headers = {
    ...sent,
    ...signatures(secrets, { method, target, body, headers: sent }),
    'content-length': String(body.length),
  };
  return new Promise((resolve, reject) => {
    const passedOn = requestHttp({ hostname, port, method, path: target, headers }, resolve);
    passedOn.on('error', reject).end(body);
  });
}

type Call = { method: string; target: string; body: Buffer; headers: IncomingHttpHeaders };

const signers: Readonly<Record<string, (secrets: Secrets, call: Call) => string>> = {
  'x-request-signature': (secrets, { method, target, body }) => {
    const pathname = target.split('?', 1)[0] ?? '';
    const signed = Buffer.concat([Buffer.from(`${method}\n${pathname}\n`), body]);
    return hmac(secrets.request_signing_secret, signed);
  },
  'x-storage-event-notification-signature': (secrets, { body }) =>
    hmac(secrets.storage_event_secret, body),
  'provider-a-signature': (secrets, { body }) => {
    const seconds = Math.floor(Date.now() / 1000);
    const signed = Buffer.concat([Buffer.from(`${seconds}.`), body]);
    return `t=${seconds},v1=${hmac(secrets.provider_a_secret, signed)}`;
  },
  'provider-b-signature': (secrets, { body }) => hmac(secrets.provider_b_secret, body),
};

function signatures(secrets: Secrets, call: Call): Record<string, string> {
  const unsigned = Object.entries(signers).filter(([name]) => call.headers[name] === UNSIGNED);
  return Object.fromEntries(unsigned.map(([name, sign]) => [name, sign(secrets, call)]));
}

function hmac(secret: string, bytes: Buffer): string {
  return createHmac('sha256', secret).update(bytes).digest('hex');
}
