/**
 * The object storage for pods. A test can slow down reads of uploads to a byte at a time, as over a bad connection, to
 * keep real workers busy.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeHttp } from '../../support/close-http.ts';

export type SlowStorage = {
  endpoint: string;
  /** Slows down every later read of this bucket. */
  slow(bucket: string): void;
  /** The keys of the reads that are slow at the moment, oldest first. */
  reading(): string[];
  /** Lets these and all later reads continue at full speed, except those of the keys in `but`. */
  release(options?: { but: readonly string[] }): void;
  close(): Promise<void>;
};

type Reading = { path: string; isOver: AbortController };

type State = { target: string; bucket: string | undefined; readings: Set<Reading> };

export async function startSlowStorage(target: string): Promise<SlowStorage> {
  const state: State = { target, bucket: undefined, readings: new Set() };
  const server = createServer((incoming, answer) => {
    pass(state, incoming, answer).catch(() => answer.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    slow: (bucket) => {
      state.bucket = bucket;
    },
    reading: () => [...state.readings].map(({ path }) => path),
    release: ({ but } = { but: [] }) => {
      state.bucket = undefined;
      for (const { path, isOver } of state.readings) if (!but.includes(path)) isOver.abort();
    },
    close: () => closeHttp(server),
  };
}

async function pass(state: State, incoming: IncomingMessage, answer: ServerResponse) {
  const { method, url = '/', headers } = incoming;
  const sent = request(new URL(url, state.target), { method, headers });
  incoming.pipe(sent);
  const [reply]: IncomingMessage[] = await once(sent, 'response');
  if (reply === undefined) throw new Error('no answer');
  answer.writeHead(reply.statusCode ?? 0, reply.headers);
  const path = new URL(url, state.target).pathname;
  if (method === 'GET' && path.startsWith(`/${state.bucket}/`))
    await drip(state, path, { reply, answer });
  else reply.pipe(answer);
}

const BYTE_EVERY_MS = 1000;

async function drip(
  { readings }: State,
  path: string,
  { reply, answer }: { reply: IncomingMessage; answer: ServerResponse },
): Promise<void> {
  const bytes = await buffer(reply);
  const reading = { path, isOver: new AbortController() };
  const { signal } = reading.isOver;
  answer.once('close', () => reading.isOver.abort());
  readings.add(reading);
  let at = 0;
  for (; at < bytes.length && !signal.aborted; at += 1) {
    answer.write(bytes.subarray(at, at + 1));
    await sleep(BYTE_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  readings.delete(reading);
  answer.end(bytes.subarray(at));
}
