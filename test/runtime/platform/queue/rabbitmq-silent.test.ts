// A broker that is connected but silent: a memory alarm makes it read nothing from publishers, and it answers nothing
// for a queue that has lost its leader, as RabbitMQ 4.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../../../runtime/platform/log.ts';
import { QueueBusy } from '../../../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../../../runtime/platform/queue/rabbitmq.ts';
import {
  openManagedChannel,
  QueueAway,
} from '../../../../runtime/platform/queue/rabbitmq-channel.ts';
import { connectRabbit } from '../../../../runtime/platform/queue/rabbitmq-connection.ts';
import { runTintype } from '../../../contract/support/tintype.ts';
import { type RabbitServer, startRabbitServer } from '../../../support/rabbitmq-server.ts';
import { startFaultProxy } from '../../../support/tcp-fault-proxy.ts';

const NEVER_MS = 600_000;
const soon = { timeout: 60_000, interval: 50 };
const lines: string[] = [];
const log = createLog({
  level: 'info',
  name: 'test',
  destination: { write: (line: string) => lines.push(line) },
});
let server: RabbitServer;

beforeAll(async () => {
  server = await startRabbitServer();
}, 300_000);
afterAll(() => server?.stop());

it('a RabbitMQ memory alarm fails calls and doorbells at once and is logged once per connection', {
  timeout: 300_000,
}, async () => {
  const caller = await createRabbitQueue({ url: server.url, log });
  const publisher = await createRabbitQueue({ url: server.url, log });
  const worker = await createRabbitQueue({ url: server.url, log });
  await worker.serve('render', { slots: 1, waiting_max: 1 }, async () => 'rendered');
  await server.alarm();
  const call = () => caller.call('render', {}, { deadline_ms: NEVER_MS });
  // The broker reports the alarm at the first message. No call waits for its deadline.
  const refused = expect.objectContaining({
    message: expect.stringMatching(/^the broker accepts no messages \(.*memory/),
  });
  for (const _ of [1, 2]) {
    const error = await call().catch((caught: unknown) => caught);
    expect([error, error]).toEqual([expect.any(QueueBusy), refused]);
  }
  const started = performance.now();
  for (let n = 0; n < 5; n += 1) {
    await expect(publisher.publish('ingest', { n })).rejects.toBeInstanceOf(QueueAway);
  }
  await expect(publisher.depths()).rejects.toEqual(refused);
  await expect(publisher.repair('ingest')).rejects.toBeInstanceOf(QueueAway);
  expect(performance.now() - started).toBeLessThan(4000);
  const reported = () => lines.filter((line) => line.includes('the broker accepts no messages'));
  expect(reported()).toHaveLength(2);
  expect(reported()[0]).toContain('memory');
  await server.calm();
  await expect.poll(() => call().catch(String), soon).toBe('rendered');
  await expect
    .poll(() => publisher.publish('ingest', {}).then(String, String), soon)
    .toBe('undefined');
  expect(await publisher.repair('ingest')).toBe('sound');
  expect(lines.join('')).toContain('the broker accepts messages again');
  await Promise.all([caller.close(), publisher.close(), worker.close()]);
});

it('tintype doctor reports a memory alarm of RabbitMQ, and ends', {
  timeout: 300_000,
}, async () => {
  await server.alarm();
  const { code, stdout } = await runTintype(['doctor', '--json', '--data', '/nowhere'], {
    env: { TINTYPE_AMQP_URL: server.url },
    inside: ['timeout', '100'],
  });
  await server.calm();
  expect(code).toBe(1);
  expect(stdout).toMatch(/The broker accepts no messages \([^)]*memory/);
});

it('a doorbell fails at once while RabbitMQ is down, and succeeds after its return', {
  timeout: 300_000,
}, async () => {
  const address = new URL(server.url);
  const proxy = await startFaultProxy({ port: Number(address.port) });
  address.port = String(proxy.port);
  const queue = await createRabbitQueue({ url: address.href, log });
  proxy.set({ kind: 'refuse' });
  proxy.cut();
  const ring = () => queue.publish('ingest', {}).then(String, String);
  await ring();
  const started = performance.now();
  for (let n = 0; n < 5; n += 1) expect(await ring()).toContain('the broker is unavailable');
  expect(performance.now() - started).toBeLessThan(4000);
  proxy.set({ kind: 'none' });
  await expect.poll(ring, soon).toBe('undefined');
  await queue.close();
  await proxy.close();
});

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
