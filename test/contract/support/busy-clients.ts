/** Clients that send requests without pause, each over one kept-alive connection. */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export type Question = { method: string; path: string; body?: string };

export type BusyClients = {
  /** How often each status or error code occurred. */
  seen: Map<string, number>;
  /** Resolves when all clients have ended: after `stop`, or when their connection is refused. */
  ended: Promise<void>;
  count(): number;
  stop(): void;
};

type Options = {
  url: string;
  clients: number;
  headers: Record<string, string>;
  next(nth: number): Question;
};

export function startBusyClients({ url, clients, headers, next }: Options): BusyClients {
  const seen = new Map<string, number>();
  const state = { isStopped: false, asked: 0 };
  const work = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let how = ''; !state.isStopped && how !== 'ECONNREFUSED'; ) {
      state.asked += 1;
      how = await ask({ url, agent, headers, ...next(state.asked) });
      seen.set(how, (seen.get(how) ?? 0) + 1);
    }
    agent.destroy();
  };
  const ended = Promise.all(Array.from({ length: clients }, work)).then(() => undefined);
  return {
    seen,
    ended,
    count: () => [...seen.values()].reduce((sum, count) => sum + count, 0),
    stop: () => {
      state.isStopped = true;
    },
  };
}

type Asked = Question & { url: string; agent: Agent; headers: Record<string, string> };

/** Returns the status, or the error code of a failed request. */
function ask({ url, agent, headers, method, path, body = '' }: Asked): Promise<string> {
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve) => {
    const sent = request(new URL(path, url), {
      agent,
      method,
      headers: { ...headers, ...length },
    });
    const fail = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    sent.once('error', fail);
    sent.once('response', (answer) => {
      text(answer).then(() => resolve(String(answer.statusCode)), fail);
    });
    sent.end(body);
  });
}
