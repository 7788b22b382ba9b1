import { once } from 'node:events';
import { connect } from 'amqplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServerUnavailable } from '../../../../runtime/platform/advice.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { QueueBusy } from '../../../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../../../runtime/platform/queue/rabbitmq.ts';
import { parseMessage, printMessage } from '../../../../runtime/platform/queue/rabbitmq-message.ts';
import { type RabbitServer, startRabbitServer } from '../../../support/rabbitmq-server.ts';
import { startFaultProxy } from '../../../support/tcp-fault-proxy.ts';
import { describeQueue } from './queue-contract.ts';

const WAITING_MAX = 3;
const soon = { timeout: 60_000, interval: 20 };
const lines: string[] = [];
const log = createLog({
  level: 'debug',
  name: 'test',
  destination: { write: (line: string) => lines.push(line) },
});
let server: RabbitServer | undefined;
let url = '';

beforeAll(async () => {
  server = await startRabbitServer();
  url = server.url;
});
afterAll(() => server?.stop());
beforeEach(async () => {
  await empty();
  lines.length = 0;
});

const open = () => createRabbitQueue({ url, log, calls_waiting_max: WAITING_MAX });

/** Deletes Tintype's queues from outside. */
async function empty(): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  for (const name of ['ingest.doorbells', 'render.doorbells', 'render.calls']) {
    await channel.deleteQueue(`tintype.${name}`);
  }
  await connection.close();
}

async function purge(): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  await channel.purgeQueue('tintype.ingest.doorbells');
  await connection.close();
}

/** Makes the doorbell queue reject messages, like a queue that has lost its leader. */
async function refuseDoorbells(): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  await channel.deleteQueue('tintype.ingest.doorbells');
  await channel.assertQueue('tintype.ingest.doorbells', {
    maxLength: 0,
    arguments: { 'x-overflow': 'reject-publish' },
  });
  await connection.close();
}

describeQueue('RabbitMQ', open, WAITING_MAX);

describe('the RabbitMQ queue', () => {
  it('fails while the broker is down, then recovers publishers, consumers, callers and servers, and keeps confirmed doorbells', async () => {
    const queue = await open();
    const seen: unknown[] = [];
    await queue.consume('ingest', { slots: 1 }, async (message) => void seen.push(message));
    await queue.serve('render', { slots: 1, waiting_max: 1 }, async () => 'rendered');
    await queue.publish('ingest', { n: 1 });
    await expect.poll(() => seen, soon).toEqual([{ n: 1 }]);
    for (let n = 0; n < 50; n += 1) await queue.publish('render', { n });

    await server?.kill();
    await expect(queue.publish('ingest', {})).rejects.toThrow();
    await expect(queue.call('render', 1, { deadline_ms: 500 })).rejects.toThrow();
    await server?.start();

    const ring = () => queue.publish('ingest', { n: 2 }).then(String, String);
    await expect.poll(ring, soon).toBe('undefined');
    await expect.poll(() => seen, soon).toContainEqual({ n: 2 });
    const ask = () => queue.call('render', 1, { deadline_ms: 2000 }).catch(() => undefined);
    await expect.poll(ask, soon).toBe('rendered');
    const confirmed = new Set<number>();
    await queue.consume('render', { slots: 4 }, async (message) => {
      confirmed.add((message as { n: number }).n);
    });
    await expect.poll(() => confirmed.size, soon).toBe(50);
    await queue.close();
  }, 300_000);

  it('continues after its queues are purged or deleted', async () => {
    const queue = await open();
    const seen: unknown[] = [];
    await queue.consume('ingest', { slots: 1 }, async (message) => void seen.push(message));
    await purge();
    await queue.publish('ingest', { n: 1 });
    await expect.poll(() => seen, soon).toEqual([{ n: 1 }]);
    await empty();
    const ring = () =>
      queue.publish('ingest', { n: 2 }).then(
        () => seen.length > 1,
        () => false,
      );
    await expect.poll(ring, soon).toBe(true);
    await queue.close();
  }, 300_000);

  it('logs and drops an unreadable doorbell without losing the next one', async () => {
    const queue = await open();
    const seen: unknown[] = [];
    await queue.consume('ingest', { slots: 1 }, async (message) => void seen.push(message));
    const connection = await connect(url);
    const channel = await connection.createConfirmChannel();
    for (const text of ['', 'no', '{}', '\u0000\u0000\u0000\u0002{}']) {
      channel.sendToQueue('tintype.ingest.doorbells', Buffer.from(text));
    }
    await channel.waitForConfirms();
    await connection.close();
    await queue.publish('ingest', { n: 1 });
    await expect.poll(() => seen, soon).toEqual([{ n: 1 }]);
    expect(lines.filter((line) => line.includes('the handler of a doorbell failed'))).toHaveLength(
      4,
    );
    await queue.close();
  });

  it('redelivers a doorbell to another consumer if the first loses its connection', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(url).port) });
    const first = await createRabbitQueue({
      url: Object.assign(new URL(url), { port: proxy.port }).href,
      log,
      calls_waiting_max: WAITING_MAX,
    });
    const second = await open();
    const { promise: opened, resolve: openGate } = Promise.withResolvers<void>();
    const seen: string[] = [];
    await first.consume('ingest', { slots: 1 }, async () => {
      seen.push('first');
      await opened;
    });
    await first.publish('ingest', {});
    await expect.poll(() => seen, soon).toEqual(['first']);
    await second.consume('ingest', { slots: 1 }, async () => void seen.push('second'));
    proxy.set({ kind: 'refuse' });
    proxy.cut();
    await expect.poll(() => seen, soon).toEqual(['first', 'second']);
    openGate();
    await Promise.all([first.close(), second.close()]);
    await proxy.close();
  }, 300_000);

  it.each([
    [
      'a wrong password',
      (right: string) => right.replace('guest:guest', 'guest:wrong'),
      /password/,
    ],
    ['a virtual host that is none', (right: string) => `${right}/none`, /virtual host/],
    ['a port where nothing listens', () => 'amqp://guest:guest@127.0.0.1:1', /TINTYPE_AMQP_URL/],
    ['a host that is none', () => 'amqp://guest:guest@broker.invalid', /host/],
  ])('says what to do about %s', async (name, wrong, expectedAdvice) => {
    const opened = createRabbitQueue({ url: wrong(url), log });
    await expect(opened).rejects.toMatchObject({ name: 'Advice' });
    await expect(opened).rejects.toThrow(expectedAdvice);
    // `ServerUnavailable` lets a starting process wait; other errors, which somebody must fix, end it.
    const isUnavailable = await opened.catch(
      (error: unknown) => error instanceof ServerUnavailable,
    );
    expect(isUnavailable).toBe(!/password|virtual host/.test(name));
  });
});

describe('the RabbitMQ queue on a running broker', () => {
  it('rejects only the doorbell whose queue was deleted, and accepts the next one', async () => {
    const queue = await open();
    const connection = await connect(url);
    const channel = await connection.createChannel();
    await channel.deleteQueue('tintype.ingest.doorbells');
    await connection.close();
    const [lost, other] = await Promise.allSettled([
      queue.publish('ingest', { n: 1 }),
      queue.publish('render', { n: 2 }),
    ]);
    expect(lost).toMatchObject({ status: 'rejected' });
    expect(other).toMatchObject({ status: 'fulfilled' });
    const ring = () => queue.publish('ingest', { n: 3 }).then(String, String);
    await expect.poll(ring, soon).toBe('undefined');
    await queue.close();
  });

  it('rejects a call as busy if its queue was deleted', async () => {
    const queue = await open();
    const connection = await connect(url);
    const channel = await connection.createChannel();
    await channel.deleteQueue('tintype.render.calls');
    await connection.close();
    const asked = queue.call('render', {}, { deadline_ms: 20_000 });
    await expect(asked).rejects.toBeInstanceOf(QueueBusy);
    await queue.close();
  });

  it('recreates a queue that rejects its doorbells, and leaves a sound one unchanged', async () => {
    const queue = await open();
    const seen: unknown[] = [];
    await queue.consume('ingest', { slots: 1 }, async (message) => void seen.push(message));
    expect(await queue.repair('ingest')).toBe('sound');
    await refuseDoorbells();
    await expect(queue.publish('ingest', { n: 1 })).rejects.toThrow('the next sweep renews it');
    expect(await queue.repair('ingest')).toBe('renewed');
    expect(await queue.repair('ingest')).toBe('sound');
    await queue.publish('ingest', { n: 2 });
    await expect.poll(() => seen, soon).toContainEqual({ n: 2 });
    expect(lines.join('')).toContain('a doorbell queue was broken and has been recreated');
    await queue.close();
  });

  it('reports how many messages wait and how many consumers listen', async () => {
    const queue = await open();
    await queue.publish('ingest', {});
    await queue.publish('ingest', {});
    await queue.serve('render', { slots: 1, waiting_max: 1 }, async () => null);
    await expect
      .poll(() => queue.depths(), soon)
      .toEqual([
        { queue: 'tintype.ingest.doorbells', waiting: 2, listeners: 0 },
        { queue: 'tintype.render.doorbells', waiting: 0, listeners: 0 },
        { queue: 'tintype.render.calls', waiting: 0, listeners: 1 },
      ]);
    await queue.close();
  });

  it('never starts a call whose caller gave up while it waited', async () => {
    const queue = await open();
    const ran: unknown[] = [];
    await queue.serve('render', { slots: 1, waiting_max: 1 }, async (payload, signal) => {
      ran.push(payload);
      if (payload === 'first') await once(signal, 'abort');
    });
    const callers = [new AbortController(), new AbortController()] as const;
    const ask = (payload: string, { signal }: AbortController) =>
      queue.call('render', payload, { deadline_ms: 20_000, signal });
    const first = ask('first', callers[0]);
    await expect.poll(() => ran, soon).toEqual(['first']);
    const given = ask('given', callers[1]);
    await expect.poll(async () => (await queue.depths())[2]?.waiting, soon).toBe(1);
    // Messages of one caller stay in order: the second call is canceled before the first is.
    callers[1].abort(new Error('gone'));
    callers[0].abort(new Error('gone too'));
    await expect(given).rejects.toThrow('gone');
    await expect(first).rejects.toThrow('gone too');
    await ask('last', new AbortController());
    expect(ran).toEqual(['first', 'last']);
    await queue.close();
  });

  it('rejects calls and doorbells at once when it closes', async () => {
    const queue = await open();
    const closed = queue.close();
    const asked = [];
    for (let turn = 0; turn < 20; turn += 1) {
      asked.push(queue.call('render', turn, { deadline_ms: 50 }).catch(String));
      await Promise.resolve();
    }
    await closed;
    expect(await Promise.all(asked)).toContainEqual(
      expect.stringMatching(/^QueueBusy: the broker is unavailable/),
    );
    await expect(queue.call('render', 1, { deadline_ms: 50 })).rejects.toBeInstanceOf(QueueBusy);
    await expect(queue.publish('ingest', {})).rejects.toThrow('the broker is unavailable');
  });

  it('names a queue that exists with other settings, and says what to do', async () => {
    const connection = await connect(url);
    const channel = await connection.createChannel();
    await channel.deleteQueue('tintype.render.calls');
    await channel.assertQueue('tintype.render.calls', { durable: true });
    await connection.close();
    const opened = open();
    await expect(opened).rejects.toMatchObject({ name: 'Advice' });
    await expect(opened).rejects.toThrow(/tintype\.render\.calls .* Delete it/);
  });
});

describe('a message', () => {
  it('parses as it was printed, including bytes, and is rejected if it is not whole', () => {
    const values = [
      null,
      3,
      'text ü',
      [1, { a: null }],
      { a: 1 },
      { bytes: Buffer.from([0, 255, 10]), more: Buffer.alloc(0), text: 'x' },
    ];
    for (const value of values) expect(parseMessage(printMessage(value))).toEqual(value);
    expect(() => parseMessage(Buffer.from('nonsense'))).toThrow();
    const whole = printMessage({ bytes: Buffer.alloc(9) });
    expect(() => parseMessage(whole.subarray(0, -1))).toThrow('not whole');
    expect(() => parseMessage(Buffer.concat([whole, whole]))).toThrow('not whole');
  });
});
