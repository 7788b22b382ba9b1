// A broker with a memory alarm is connected and serves consumers, but reads nothing from publishers.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../../../runtime/platform/log.ts';
import { QueueBusy } from '../../../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../../../runtime/platform/queue/rabbitmq.ts';
import { QueueAway } from '../../../../runtime/platform/queue/rabbitmq-channel.ts';
import { openRabbitProbe } from '../../../../runtime/platform/queue/rabbitmq-probe.ts';
import { type RabbitServer, startRabbitServer } from '../../../support/rabbitmq-server.ts';

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
  await expect(call()).rejects.toBeInstanceOf(QueueBusy);
  await expect(call()).rejects.toBeInstanceOf(QueueBusy);
  const started = performance.now();
  for (let n = 0; n < 5; n += 1) {
    await expect(publisher.publish('ingest', { n })).rejects.toBeInstanceOf(QueueAway);
  }
  await expect(publisher.depths()).rejects.toBeInstanceOf(QueueAway);
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

it('the RabbitMQ probe reports a memory alarm', { timeout: 300_000 }, async () => {
  await server.alarm();
  const probe = await openRabbitProbe(server.url);
  await expect(probe.probeQuorumQueue()).rejects.toThrow(/accepts no messages.*memory/);
  await probe.close();
  await server.calm();
});

it('a doorbell fails at once while RabbitMQ is down, and succeeds after its return', {
  timeout: 300_000,
}, async () => {
  const queue = await createRabbitQueue({ url: server.url, log });
  await server.crash();
  const ring = () => queue.publish('ingest', {}).then(String, String);
  await ring();
  const started = performance.now();
  for (let n = 0; n < 5; n += 1) expect(await ring()).toContain('the broker is unavailable');
  expect(performance.now() - started).toBeLessThan(4000);
  await server.start();
  await expect.poll(ring, soon).toBe('undefined');
  await queue.close();
});
