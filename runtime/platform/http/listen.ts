/** The ports that servers listen on, and the errors when one is not available. */
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';
import { Advice } from '../advice.ts';
import { findFreePort, isTakenAtIpv6 } from './free-port.ts';

/**
 * `option`: the option or the variable that sets the port; without a host, all addresses are
 * listened on.
 */
export type PortName = { port: number; option: string; host?: string };

/** A port that nobody else can take; connections before its server is there are closed. */
export type ReservedPort = {
  port: number;
  /** From now on `server` listens on the port, and closes it. */
  serve(server: Server): Promise<void>;
  /** For a port that got no server. */
  release(): void;
};

/**
 * The given port if it is free, for 0 any free port; taken early, before anything has been started.
 */
export async function reservePort(wanted: PortName): Promise<ReservedPort> {
  const holder = createServer((early) => early.destroy());
  const port = await listen(holder, { ...wanted, port: wanted.port || (await findFreePort()) });
  if (port === wanted.port && wanted.host === LOOPBACK && (await isTakenAtIpv6(port))) {
    holder.close();
    throw taken(wanted);
  }
  return {
    port,
    serve: (server) => new Promise((resolve) => server.listen(holder, resolve)),
    release: () => holder.close(),
  };
}

/** Returns the port, which differs from the requested one only for 0. */
export function listen(server: NetServer, { port, option, host }: PortName): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(portAdvice(error, { port, option }));
    });
    const place = host === undefined ? { port } : { port, host };
    server.listen(place, () => resolve(portOf(server)));
  });
}

/** Loopback only: for the person at this machine. */
export const LOOPBACK = '127.0.0.1';

function portOf(server: NetServer): number {
  return (server.address() as AddressInfo).port;
}

function portAdvice(error: NodeJS.ErrnoException, { port, option }: PortName): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return taken({ port, option });
    case 'EACCES':
      return new Advice(
        `port ${port} needs more rights than this user has: choose one above 1023 with ${option}`,
      );
    default:
      return error;
  }
}

function taken({ port, option }: PortName): Advice {
  return new Advice(`port ${port} is taken: choose another with ${option}, or 0 for any free one`);
}
