/** A client that keeps sending its body after it got the response, like clients that write more than they read. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

type Put = { url: string; headers: Record<string, string>; bytes: Buffer };

const STEPS = 8;
const STEP_MS = 20;

/**
 * Returns the status of the PUT, and of a GET after it on the same connection. Throws if the
 * connection is reset.
 */
export async function sendOn({ url, headers, bytes }: Put): Promise<number[]> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  const sentHeaders = Object.entries({ host, ...headers, 'content-length': String(bytes.length) });
  const head = sentHeaders.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`PUT ${pathname}${search} HTTP/1.1\r\n${head}\r\n`);
  let answers = '';
  for await (const chunk of socket) {
    if (answers === '') void sendRest(socket, bytes);
    answers += chunk;
  }
  return [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
}

async function sendRest(socket: NodeJS.WritableStream, bytes: Buffer): Promise<void> {
  const step = Math.ceil(bytes.length / STEPS);
  for (let sent = 0; sent < bytes.length; sent += step) {
    socket.write(bytes.subarray(sent, sent + step));
    await sleep(STEP_MS);
  }
  socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
}
