/** Checks of the broker that carries doorbells and calls, and of the layers between hostile images and this machine. */
import { openRabbitProbe, type RabbitProbe } from '../platform/queue/rabbitmq-probe.ts';
import { sandboxReport, tryDecoder } from '../worker/sandbox/sandbox-report.ts';
import { type Check, type Finding, ok, skipped, wrong } from './check.ts';
import type { Subject } from './subject.ts';

const BROKER = 'check TINTYPE_AMQP_URL and whether RabbitMQ runs';
const QUORUM = 'use RabbitMQ 3.10 or newer, and let the user configure, write and read `tintype.*`';

export const brokerChecks: readonly Check<Subject>[] = [
  {
    area: 'broker',
    name: 'login',
    run: (subject) => withProbe(subject, async ({ product }) => ok(product)),
    advice: BROKER,
  },
  {
    area: 'broker',
    name: 'quorum queue, publisher confirms',
    run: (subject) => withProbe(subject, probeQuorumQueue),
    advice: QUORUM,
  },
];

async function withProbe(
  { broker }: Subject,
  work: (probe: RabbitProbe) => Promise<Finding>,
): Promise<Finding> {
  if (broker === undefined) {
    const advice = 'set TINTYPE_AMQP_URL, for example amqp://tintype:password@mq.internal:5672';
    return wrong('TINTYPE_AMQP_URL is not set', advice);
  }
  if (broker === 'embedded') return skipped('the queue is inside the one process');
  const probe = await openRabbitProbe(broker);
  try {
    return await work(probe);
  } finally {
    await probe.close();
  }
}

async function probeQuorumQueue(probe: RabbitProbe): Promise<Finding> {
  await probe.probeQuorumQueue();
  return ok('declared, confirmed, read, deleted');
}

export const sandboxChecks: readonly Check<Subject>[] = [
  { area: 'decoder sandbox', name: 'layers', run: findLayers, advice: 'start it on Linux' },
  {
    area: 'decoder sandbox',
    name: 'decodes a picture',
    run: decodeSample,
    advice: 'reinstall the packages (npm ci); the message of the decoder is in this line',
  },
];

/**
 * A missing layer is only a warning: the others remain, and not every kernel supports all of them.
 */
async function findLayers(): Promise<Finding[]> {
  const layers = await sandboxReport();
  return layers.map(({ name, in_force, advice }) =>
    in_force
      ? { name, outcome: 'ok', says: 'in force' }
      : { name, outcome: 'warning', says: 'not in force', ...(advice && { advice }) },
  );
}

async function decodeSample(): Promise<Finding> {
  await tryDecoder();
  return ok('one pixel');
}
