import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createBrokerDepths } from '../../../operator/scaler/broker-depths.ts';
import { silentLog } from '../kube/silent-log.ts';

it('a broker that accepts a connection and stays silent can be closed before the attempt times out', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const depths = createBrokerDepths(silentLog);
  let isOver = false;
  const reading = depths.read('a', `amqp://127.0.0.1:${port}`).catch((error: unknown) => {
    isOver = true;
    return error;
  });
  await expect.poll(() => sockets.length).toBe(1);
  await depths.close('a');
  expect(isOver).toBe(false);
  silent.close();
  for (const socket of sockets) socket.destroy();
  expect(await reading).toBeInstanceOf(Error);
});
