/**
 * The API of a CDN on a free port. It records every request, and the test decides the responses. It parses HTTP itself,
 * because Node's HTTP server rejects the method BAN.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export type CdnSeen = {
  method: string;
  path: string;
  /** Names are in lower case. */
  headers: Record<string, string>;
  body: string;
};

export type CdnSays = { status: number; headers?: Record<string, string>; body?: string };

export type CdnServer = {
  url: string;
  seen: CdnSeen[];
  /** Return undefined to leave the request unanswered. */
  answer(says: (request: CdnSeen) => CdnSays | undefined): void;
  close(): Promise<void>;
};

export async function startCdnServer(): Promise<CdnServer> {
  const seen: CdnSeen[] = [];
  const sockets = new Set<Socket>();
  let says: (request: CdnSeen) => CdnSays | undefined = () => ({ status: 200 });
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', (part) => {
      text += part.toString('latin1');
      const request = parse(text);
      if (request === undefined) return;
      seen.push(request);
      const said = says(request);
      if (said !== undefined) socket.end(print(said));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer: (next) => {
      says = next;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns undefined until the request is complete. */
function parse(text: string): CdnSeen | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
  const body = text.slice(end + 4);
  const isWhole = body.length >= Number(headers['content-length'] ?? 0);
  return isWhole ? { method, path, headers, body } : undefined;
}

function print({ status, headers = {}, body = '' }: CdnSays): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status} Says\r\nconnection: close\r\ncontent-length: ${length}\r\n${lines.join('')}\r\n${body}`;
}
