/** A model server on a free port. The test decides its responses, including invalid ones. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeHttp } from './close-http.ts';

export type PictureSeen = { headers: IncomingHttpHeaders; bytes: Buffer };
/** Ends the response, or leaves it open. */
export type ScannerAnswer = (response: ServerResponse, seen: PictureSeen) => void;

export type ScannerServer = {
  url: string;
  seen: PictureSeen[];
  answer(next: ScannerAnswer): void;
  close(): Promise<void>;
};

export const scores =
  (found: Record<string, number>): ScannerAnswer =>
  (response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ scores: found }));

export const says =
  (status: number, body = '', headers: Record<string, string> = {}): ScannerAnswer =>
  (response) =>
    response.writeHead(status, headers).end(body);

export const hangs: ScannerAnswer = () => undefined;

/** Sends a byte every 5 ms and never ends. */
export const drips: ScannerAnswer = (response) => {
  response.writeHead(200);
  const drop = setInterval(() => response.write(' '), 5);
  response.on('close', () => clearInterval(drop));
};

/** Sends as fast as the client reads, and never ends. */
export const floods: ScannerAnswer = (response) => {
  response.writeHead(200);
  const pour = () => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384, 32)));
  };
  response.on('drain', pour);
  pour();
};

export async function startScannerServer(): Promise<ScannerServer> {
  const seen: PictureSeen[] = [];
  let answer = scores({ nudity: 0 });
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const one = { headers: request.headers, bytes };
      seen.push(one);
      answer(response, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/scan`,
    seen,
    answer: (next) => {
      answer = next;
    },
    close: () => closeHttp(server),
  };
}
