// A channel that is closed while it is being reopened must not stay open: nobody would consume its messages.
import { once } from 'node:events';
import type { ConfirmChannel } from 'amqplib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../../../runtime/platform/log.ts';
import { openManagedChannel } from '../../../../runtime/platform/queue/rabbitmq-channel.ts';
import {
  connectRabbit,
  type RabbitConnection,
} from '../../../../runtime/platform/queue/rabbitmq-connection.ts';
import { takeVirtualHost } from '../../../support/shared-broker.ts';

const log = createLog({ level: 'silent', name: 'test' });
let connection: RabbitConnection | undefined;

beforeAll(async () => {
  connection = await connectRabbit((await takeVirtualHost()).url, log);
});
afterAll(() => connection?.close());

it('closing a kept channel also closes the channel that is opened in its place', async () => {
  if (connection === undefined) throw new Error('there is a connection from the beginning on');
  const again = Promise.withResolvers<ConfirmChannel>();
  const gate = Promise.withResolvers<void>();
  let opened = 0;
  const kept = await openManagedChannel({ connection, log }, async (channel) => {
    opened += 1;
    if (opened === 1) return;
    again.resolve(channel);
    await gate.promise;
  });
  await kept.current()?.close();
  const second = await again.promise;
  const ended = once(second, 'close');
  await kept.close();
  gate.resolve();
  await ended;
  expect(kept.current()).toBeUndefined();
});
