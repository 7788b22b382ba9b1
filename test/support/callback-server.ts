/** A tenant's webhook endpoint on a free port. It records every request, and the test decides the responses. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeHttp } from './close-http.ts';

export type CallbackSeen = {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Unix milliseconds. */
  at: number;
};

/** Ends the response, or leaves it open. */
export type CallbackAnswer = (response: ServerResponse, seen: CallbackSeen) => void;

export type CallbackServer = {
  url: string;
  seen: CallbackSeen[];
  /** The number of connections opened so far. */
  connections(): number;
  answer(next: CallbackAnswer): void;
  close(): Promise<void>;
};

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): CallbackAnswer =>
  (response) =>
    response.writeHead(code, headers).end(body);

export async function startCallbackServer(): Promise<CallbackServer> {
  const seen: CallbackSeen[] = [];
  let answer = status(204);
  let connections = 0;
  const server = createServer((request, response) => {
    void receive(request).then((one) => {
      seen.push(one);
      answer(response, one);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    connections: () => connections,
    answer: (next) => {
      answer = next;
    },
    close: () => closeHttp(server),
  };
}

async function receive(request: IncomingMessage): Promise<CallbackSeen> {
  const body = (await buffer(request)).toString();
  return { path: request.url ?? '', headers: request.headers, body, at: Date.now() };
}
