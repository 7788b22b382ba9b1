/**
 * Finds a loopback port on which nobody listens now; another program can still take it first. It lies below the range
 * from which the kernel takes ports for outgoing connections, of which a busy machine opens thousands meanwhile.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const FIRST = 20_000;
/** Linux's range begins at 32768, that of other systems at 49152. */
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

/**
 * Whether another program listens on ::1. Browsers try ::1 first for localhost, and would reach
 * that program instead of ours on 127.0.0.1.
 */
export async function isTakenAtIpv6(port: number): Promise<boolean> {
  // Any other failure means that the machine has no IPv6.
  return (await tryPort(port, '::1')) === 'EADDRINUSE';
}

/** The error code when nothing can listen on the port now; undefined when it is free. */
function tryPort(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    server.listen({ port, host, ipv6Only: true }, () => server.close(() => resolve(undefined)));
  });
}
