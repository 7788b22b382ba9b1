/** Shutdown of an HTTP server: clients that have connected get their response, even if not accepted yet. */
import { createServer } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { prepareToClose } from '../../../../runtime/platform/http/close-server.ts';
import { listen } from '../../../../runtime/platform/http/listen.ts';

const CLIENTS = 20;

/** For how long the event loop is busy with something else; it accepts one connection in each turn. */
const STARVED_MS = [
  { how: 'at once', starved_ms: 0 },
  { how: 'even if its event loop got no core for longer than it waits for calm', starved_ms: 700 },
];

it.each(STARVED_MS)(
  'a closing server still answers the connections that wait to be accepted, $how',
  async ({ starved_ms }) => {
    const server = createServer((_, response) => void response.end('answered'));
    const closing = prepareToClose(server);
    const port = await listen(server, { port: 0, option: 'port', host: '127.0.0.1' });
    const sockets = Array.from({ length: CLIENTS }, () => ask(port));
    // The clients connect now, but the server's event loop has not accepted them yet.
    await new Promise((resolve) => process.nextTick(resolve));
    const closed = closing.close({ deadline_ms: 10_000, quiet_ms: 1000 });
    starve(starved_ms);
    const answers = await Promise.all(sockets.map((socket) => text(socket).catch(codeOf)));
    await closed;
    expect(answers.map((answer) => answer.split('\r\n').at(0))).toEqual(
      Array.from({ length: CLIENTS }, () => 'HTTP/1.1 200 OK'),
    );
  },
);

function starve(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function ask(port: number): Socket {
  const socket = createConnection({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return socket;
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}
