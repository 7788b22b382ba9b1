import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { findFreePort } from '../../../../runtime/platform/http/free-port.ts';
import { LOOPBACK, reservePort } from '../../../../runtime/platform/http/listen.ts';

const any = { port: 0, option: '--port', host: LOOPBACK };

it('a held port stays taken before and after its server starts, until it is released', async () => {
  const held = await reservePort(any);
  const again = () => reservePort({ ...any, port: held.port });
  await expect(again()).rejects.toThrow(`port ${held.port} is taken: choose another with --port`);
  const early = connect(held.port, LOOPBACK);
  await once(early, 'close');
  const server = createServer((_, response) => response.end('served'));
  await held.serve(server);
  const answer = await fetch(`http://${LOOPBACK}:${held.port}`, {
    headers: { connection: 'close' },
  });
  expect(await answer.text()).toBe('served');
  await expect(again()).rejects.toThrow('is taken');
  await new Promise((resolve) => server.close(resolve));
  // On shutdown, a port is released after its server has been closed.
  held.release();
  const next = await again();
  next.release();
});

function hasNoIpv6({ code }: NodeJS.ErrnoException): boolean {
  expect(code).toMatch(/^(EADDRNOTAVAIL|EAFNOSUPPORT)$/);
  return false;
}

it('a port that another program uses on ::1 counts as taken', async () => {
  const port = await findFreePort();
  const other = createServer((_, response) => response.end('another'));
  const listens = once(other, 'listening').then(() => true, hasNoIpv6);
  other.listen({ port, host: '::1' });
  if (await listens) {
    await expect(reservePort({ ...any, port })).rejects.toThrow(`port ${port} is taken`);
    await new Promise((resolve) => other.close(resolve));
  }
  // The failed attempt did not keep the port.
  const held = await reservePort({ ...any, port });
  held.release();
});
