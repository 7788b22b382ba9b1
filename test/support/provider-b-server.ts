/**
 * The API of payment provider B on a free port, as documented: it cancels at the end of the paid period, checks its
 * key, and performs each idempotency key only once.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { closeHttp } from './close-http.ts';

export const PROVIDER_B_KEY = 'key_of_provider_b';

export type ProviderBServer = {
  url: string;
  /** The status of each subscription. */
  subscriptions: Map<string, string>;
  /** The cancellations that were performed, without retries. */
  canceled: string[];
  /** All calls: method, path and idempotency key. */
  calls: string[];
  /** How the server behaves from now on. */
  behavior:
    | 'well'
    | 'failing'
    | 'silent'
    | 'talking nonsense'
    | 'redirecting'
    | 'losing answers'
    | 'talking too much';
  close(): Promise<void>;
};

export async function startProviderBServer(): Promise<ProviderBServer> {
  const state: Omit<ProviderBServer, 'url' | 'close'> = {
    subscriptions: new Map(),
    canceled: [],
    calls: [],
    behavior: 'well',
  };
  const answers = new Map<string, object>();
  const server = createServer((request, response) => {
    void text(request).then(() => answer(shared, answers, { request, response }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const shared: ProviderBServer = Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    close: () => closeHttp(server),
  });
  return shared;
}

type Exchange = { request: IncomingMessage; response: ServerResponse };

function answer(
  server: ProviderBServer,
  answers: Map<string, object>,
  { request, response }: Exchange,
): void {
  const key = String(request.headers['idempotency-key'] ?? '');
  const url = new URL(request.url ?? '', 'http://provider');
  server.calls.push(`${request.method} ${url.pathname} ${key}`);
  const say = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (server.behavior === 'silent') return;
  if (server.behavior === 'failing') return void say(500, { error: 'internal' });
  if (server.behavior === 'talking nonsense') return void response.writeHead(200).end('<html>');
  if (request.headers['x-api-key'] !== PROVIDER_B_KEY) return void say(403, { error: 'forbidden' });
  if (server.behavior === 'redirecting') {
    if (url.pathname === '/elsewhere') return void say(200, { status: 'scheduled_cancel' });
    return void response.writeHead(307, { location: '/elsewhere' }).end();
  }
  const known = answers.get(key);
  if (known !== undefined) return void say(200, known);
  const canceled = /^\/v1\/subscriptions\/([^/]+)\/cancel$/.exec(url.pathname)?.[1];
  const id = canceled ?? url.searchParams.get('subscription_id') ?? '';
  const status = server.subscriptions.get(id);
  if (status === undefined) return void say(404, { error: 'not found' });
  if (canceled === undefined) return void say(200, { id, status });
  if (status !== 'active') return void say(400, { error: 'cannot be canceled' });
  server.subscriptions.set(id, 'scheduled_cancel');
  server.canceled.push(id);
  const body = { id, status: 'scheduled_cancel' };
  answers.set(key, body);
  if (server.behavior === 'losing answers') return void response.destroy();
  if (server.behavior === 'talking too much')
    return void response.end(JSON.stringify(body).padEnd(MUCH));
  say(200, body);
}

const MUCH = 300_000;
