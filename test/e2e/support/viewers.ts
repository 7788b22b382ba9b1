/** Whoever asks through the ingress controller, all the time: whatever happens meanwhile, each gets what was asked for. */
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
  /** How many were answered so far. */
  count(): number;
  /** Ends; how many were asked, and what was wrong with those that were no success. */
  end(): Promise<{ asked: number; wrong: string[] }>;
};

/** `next` names what each asks for; so many ask at a time, each with a pause between. */
export function watch(
  next: (index: number) => Viewed,
  { viewers, pause_ms }: { viewers: number; pause_ms: number },
): Watching {
  let asked = 0;
  let isOver = false;
  const wrong: string[] = [];
  const one = async () => {
    while (!isOver) {
      const wish = next(asked);
      asked += 1;
      const seen = await view(wish).catch((error: unknown) => ({ status: error, bytes: '' }));
      if (seen.status !== 200) wrong.push(sayOf(wish, seen));
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

/** When, so that it is found in the logs of who answered, and how that put it. */
function sayOf({ host, path }: Viewed, { status, bytes }: { status: unknown; bytes: unknown }) {
  return `${new Date().toISOString()} ${host}${path}: ${status} ${String(bytes).slice(0, 200)}`;
}
