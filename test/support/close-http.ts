/** Ends an HTTP server of a test at once, with the connections that its clients keep. */
import { once } from 'node:events';
import type { Server } from 'node:http';

export async function closeHttp(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
