/** Ports that servers listen on, and what is said where one cannot be had. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Advice } from '../advice.ts';
import { findFreePort } from './free-port.ts';

/** `option` is the word or the variable that names the port; without a host every address is listened on. */
export type PortName = { port: number; option: string; host?: string };

/** The port itself when it is free, any free one for 0; asked early, before anything has been started. */
export async function findPort(wanted: PortName): Promise<number> {
  if (wanted.port === 0) return findFreePort();
  const probe = createServer();
  const port = await listen(probe, wanted);
  await close(probe);
  return port;
}

/** Returns the port, which is another one than was asked for where that was 0. */
export function listen(server: Server, { port, option, host }: PortName): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(portAdvice(error, { port, option }));
    });
    const place = host === undefined ? { port } : { port, host };
    server.listen(place, () => resolve(portOf(server)));
  });
}

/** On loopback only: for the person who sits at this machine. */
export const LOOPBACK = '127.0.0.1';

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function portAdvice(error: NodeJS.ErrnoException, { port, option }: PortName): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new Advice(
        `port ${port} is taken: choose another with ${option}, or 0 for any free one`,
      );
    case 'EACCES':
      return new Advice(
        `port ${port} needs more rights than this user has: choose one above 1023 with ${option}`,
      );
    default:
      return error;
  }
}
