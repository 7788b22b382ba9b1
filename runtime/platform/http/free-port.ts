/**
 * A port of loopback that nobody listens on now; another program can still take it before we do. It is below those from
 * which the kernel takes the ports of outgoing connections, of which a busy machine makes thousands in that while.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const FIRST = 20_000;
/** Linux takes from 32768 on, others from 49152. */
const END = 32_768;
const ATTEMPTS_MAX = 100;

export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port between ${FIRST} and ${END} is free`);
}

export async function isFree(port: number): Promise<boolean> {
  return (await tryPort(port, '127.0.0.1')) === undefined && !(await isTakenAtIpv6(port));
}

/** By another program, which browsers would meet in place of whoever listens at 127.0.0.1: localhost is ::1 to them first. */
export async function isTakenAtIpv6(port: number): Promise<boolean> {
  // Any other failure is of a machine without IPv6.
  return (await tryPort(port, '::1')) === 'EADDRINUSE';
}

/** Why nothing can listen there now; undefined where it can. */
function tryPort(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    server.listen({ port, host, ipv6Only: true }, () => server.close(() => resolve(undefined)));
  });
}
