/** Ports: taken early, so that a taken one is the first thing that is said and nothing has been started yet. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Advice } from '../platform/advice.ts';

export type PortName = { port: number; option: string };

/** The port itself when it is free, any free one for 0. */
export async function findPort(wanted: PortName): Promise<number> {
  const probe = createServer();
  await listen(probe, wanted);
  const { port } = probe.address() as AddressInfo;
  await close(probe);
  return port;
}

/** On loopback only: a standalone is for the person who sits at this machine. */
export function listen(server: Server, { port, option }: PortName): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(portAdvice(error, { port, option }));
    });
    server.listen({ port, host: '127.0.0.1' }, () => resolve());
  });
}

/** Ends idle connections at once and waits for the answers that are under way. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function portAdvice(error: NodeJS.ErrnoException, { port, option }: PortName): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new Advice(
        `port ${port} is taken: choose another with ${option} PORT, or 0 for any free one`,
      );
    case 'EACCES':
      return new Advice(
        `port ${port} needs more rights than this user has: choose one above 1023 with ${option}`,
      );
    default:
      return error;
  }
}
