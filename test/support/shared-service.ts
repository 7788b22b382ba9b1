/**
 * What all test files of a run share: the main process of the run makes it at the first request, and each test file asks
 * for its share.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Offered = { url: string; stop(): Promise<void> };

/**
 * Answers each request at the URL with a share, and takes back what is deleted there. `end` stops
 * what was made for them.
 */
export async function offer(
  share: () => Promise<string>,
  end: () => Promise<void>,
  takeBack: () => Promise<void> = async () => undefined,
): Promise<Offered> {
  const server = createServer(({ method }, response) => {
    const answering = method === 'DELETE' ? takeBack() : share();
    answering.then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      await end();
    },
  };
}

/** Runs in a test file; throws why there is no share. */
export async function askFor(url: string): Promise<string> {
  const answer = await fetch(url);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

/** Runs in a test file that no longer needs its share. */
export async function giveBack(url: string): Promise<void> {
  const answer = await fetch(url, { method: 'DELETE' });
  if (!answer.ok) throw new Error(await answer.text());
}
