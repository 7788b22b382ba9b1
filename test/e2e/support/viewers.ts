/**
 * Viewers that continuously request images through the ingress controller. Each request must succeed, whatever happens
 * to the pods.
 */
import { type Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export type Seen = { status: number; bytes: Buffer };

export type Viewed = {
  host: string;
  path: string;
  port: number;
  agent?: Agent;
  headers?: Record<string, string>;
};

export async function view({ host, path, port, agent, headers }: Viewed): Promise<Seen> {
  const { promise, resolve, reject } = Promise.withResolvers<Seen>();
  const options = { host: '127.0.0.1', port, path, agent, headers: { ...headers, host } };
  request(options, (response) => {
    buffer(response).then((bytes) => resolve({ status: response.statusCode ?? 0, bytes }), reject);
  })
    .on('error', reject)
    .end();
  return promise;
}

export type Watching = {
  /** The number of requests so far. */
  count(): number;
  /** Stops the viewers. Returns the number of requests and a description of each failure. */
  end(): Promise<{ asked: number; wrong: string[] }>;
};

/** `next` chooses each request. Viewers are concurrent, and pause between their requests. */
export function watch(
  next: (index: number) => Viewed,
  { viewers, pause_ms }: { viewers: number; pause_ms: number },
): Watching {
  let asked = 0;
  let isOver = false;
  const wrong: string[] = [];
  const one = async () => {
    while (!isOver) {
      const input = next(asked);
      asked += 1;
      const seen = await view(input).catch((error: unknown) => ({ status: error, bytes: '' }));
      if (seen.status !== 200) wrong.push(sayOf(input, seen));
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
    }
  };
  const watching = Array.from({ length: viewers }, one);
  return {
    count: () => asked,
    end: async () => {
      isOver = true;
      await Promise.all(watching);
      return { asked, wrong };
    },
  };
}

/**
 * Includes the time, to find the request in the server's log, and the beginning of the response.
 */
function sayOf({ host, path }: Viewed, { status, bytes }: { status: unknown; bytes: unknown }) {
  return `${new Date().toISOString()} ${host}${path}: ${status} ${String(bytes).slice(0, 200)}`;
}
