/**
 * A minimal load balancer: servers take turns over kept-alive connections, and a request goes to the next server if the
 * connection is refused. A request that fails after it was sent gets a 502, because it must not be sent twice.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeHttp } from '../../support/close-http.ts';

export type RoundRobin = {
  url: string;
  /** The ports of the servers; tests may add and remove ports. */
  ports: Set<number>;
  /** The reason for each request that no server answered, except refused connections. */
  failures: string[];
  close(): Promise<void>;
};

export async function startRoundRobin(first: readonly number[]): Promise<RoundRobin> {
  // With FIFO, every connection is used regularly, so a stopping server can announce the close in a
  // response before the connection is idle for long.
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo' });
  const ports = new Set(first);
  const failures: string[] = [];
  let turn = 0;
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(incoming);
    turn += 1;
    const all = [...ports];
    const inTurn = all.map((_, at) => all[(turn + at) % all.length] ?? 0);
    for (const port of inTurn) {
      const failure = await forward({ port, agent, incoming, body }, response);
      if (failure === undefined) return;
      if (failure !== 'ECONNREFUSED') break;
    }
    response.writeHead(502).end();
  };
  const forward = (to: Forwarding, response: ServerResponse) =>
    exchange(to, response).catch((error: NodeJS.ErrnoException) => {
      const failure = error.code ?? error.message;
      if (failure !== 'ECONNREFUSED') failures.push(failure);
      return failure;
    });
  const server = createServer((incoming, response) => void pass(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ports,
    failures,
    close: async () => {
      agent.destroy();
      await closeHttp(server);
    },
  };
}

type Forwarding = { port: number; agent: Agent; incoming: IncomingMessage; body: Buffer };

function exchange(
  { port, agent, incoming, body }: Forwarding,
  response: ServerResponse,
): Promise<undefined> {
  const { method, url: path, headers } = incoming;
  const { connection: _, ...kept } = headers;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers: kept });
    sent.once('error', reject);
    sent.once('response', (answer) => {
      void buffer(answer).then((bytes) => {
        response.writeHead(answer.statusCode ?? 0, { 'content-type': 'application/json' });
        response.end(bytes);
        resolve(undefined);
      }, reject);
    });
    sent.end(body);
  });
}
