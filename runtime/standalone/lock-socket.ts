/** A socket that one process at a time can listen on: a lock that is released when the process ends for any reason. */
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';

/** Undefined when another process holds it. */
export async function holdSocket(address: string): Promise<Server | undefined> {
  try {
    return await listenAt(address);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  }
  if (await isHeard(address)) return undefined;
  // The socket file of a killed process stays behind.
  await rm(address, { force: true });
  return listenAt(address);
}

function listenAt(address: string): Promise<Server> {
  const server = createServer((connection) => connection.destroy()).unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => resolve(server));
  });
}

function isHeard(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
  });
}
