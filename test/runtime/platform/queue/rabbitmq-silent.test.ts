// A broker that is connected but does not answer, as RabbitMQ 4 does for a queue that has lost its leader.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../../../runtime/platform/log.ts';
import { createRabbitQueue } from '../../../../runtime/platform/queue/rabbitmq.ts';
import { openManagedChannel } from '../../../../runtime/platform/queue/rabbitmq-channel.ts';
import { connectRabbit } from '../../../../runtime/platform/queue/rabbitmq-connection.ts';
import { type RabbitServer, startRabbitServer } from '../../../support/rabbitmq-server.ts';
import { startFaultProxy } from '../../../support/tcp-fault-proxy.ts';

const log = createLog({ level: 'error', name: 'test' });
const soon = { timeout: 60_000, interval: 20 };
let server: RabbitServer;

beforeAll(async () => {
  server = await startRabbitServer();
}, 300_000);
afterAll(() => server?.stop());

it('mend recreates a doorbell queue that confirms nothing', {
  timeout: 300_000,
}, async () => {
  const queue = await createRabbitQueue({ url: server.url, log });
  const seen: unknown[] = [];
  await server.freeze('tintype.ingest.doorbells');
  await queue.consume('ingest', { slots: 1 }, async (message) => void seen.push(message));
  await expect(queue.publish('ingest', { n: 1 })).rejects.toThrow('the broker is unavailable');
  expect(await queue.repair('ingest')).toBe('renewed');
  await queue.publish('ingest', { n: 2 });
  await expect.poll(() => seen, soon).toContainEqual({ n: 2 });
  await queue.close();
});

it('a connection that dies silently during its setup is established again', {
  timeout: 300_000,
}, async () => {
  const address = new URL(server.url);
  const proxy = await startFaultProxy({ port: Number(address.port) });
  address.port = String(proxy.port);
  const connection = await connectRabbit(address.href, log);
  let setups = 0;
  let attempts: number | undefined;
  await connection.whenConnected(async (model) => {
    setups += 1;
    if (setups !== 2) return;
    attempts = proxy.connections().total;
    proxy.set({ kind: 'stall' });
    await model.createChannel();
  });
  proxy.cut();
  await expect.poll(() => attempts, soon).toBeTypeOf('number');
  // The connection has given up that setup and retries.
  await expect.poll(() => proxy.connections().total, soon).toBeGreaterThan(attempts ?? 0);
  proxy.set({ kind: 'none' });
  proxy.cut();
  await expect.poll(() => connection.current(), soon).toBeDefined();
  expect(setups).toBeGreaterThan(2);
  await connection.close();
  await proxy.close();
});

it('a kept channel closes even if its connection is cut at the same time', async () => {
  const address = new URL(server.url);
  const proxy = await startFaultProxy({ port: Number(address.port) });
  address.port = String(proxy.port);
  const connection = await connectRabbit(address.href, log);
  const kept = await openManagedChannel({ connection, log }, async () => undefined);
  proxy.set({ kind: 'stall' });
  const closed = kept.close();
  proxy.cut();
  await closed;
  proxy.set({ kind: 'none' });
  await connection.close();
  await proxy.close();
});
