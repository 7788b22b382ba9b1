import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readInHand } from '../../../operator/scaler/scrape-pod.ts';

const bodies: Record<string, string> = {
  busy: 'tintype_queue_in_hand{work="ingest"} 2\ntintype_queue_in_hand{work="render"} 1\n',
  idle: 'tintype_queue_in_hand{work="ingest"} 0\n',
  other: 'up 1\n',
  endless: `tintype_queue_in_hand{work="ingest"} 2\n${'# a comment\n'.repeat(100_000)}`,
};
const server = createServer(({ url = '' }, response) => {
  const body = bodies[url.slice(1)];
  response.writeHead(body === undefined ? 500 : 200).end(body);
});
let origin: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

it.each([
  ['busy', 3],
  ['idle', 0],
  ['other', undefined],
  ['endless', undefined],
  ['failing', undefined],
])('readInHand of a pod that is %s returns %s', async (name, in_hand) => {
  expect(await readInHand(`${origin}/${name}`)).toBe(in_hand);
});
