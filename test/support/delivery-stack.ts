/**
 * The storage and queue that a delivery server and its render worker share: by default a folder and an in-process
 * queue; after `onRealServers`, a bucket of versitygw and two connections to RabbitMQ. The same suites run on both.
 */
import { randomBytes } from 'node:crypto';
import { createLog } from '../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../runtime/platform/queue/in-process.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../runtime/platform/queue/rabbitmq.ts';
import type { Bucket } from '../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../runtime/platform/storage/s3.ts';
import { makeFolderBuckets } from './folder-buckets.ts';
import { type RealServers, useRealServers } from './real-servers.ts';
import { createBucket } from './s3-server.ts';

export type DeliveryStack = {
  content: Bucket;
  /** The delivery server's queue. */
  asking: Queue;
  /** The worker's queue. */
  answering: Queue;
  closeQueues(): Promise<void>;
  /** Call it after everything that stores objects has stopped. */
  remove(): void;
};

/** Low, so that a test can fill the queue. */
export const CALLS_WAITING_MAX = 8;

let open: () => Promise<DeliveryStack> = openEmbedded;

export const openStack = (): Promise<DeliveryStack> => open();

async function openEmbedded(): Promise<DeliveryStack> {
  const storage = makeFolderBuckets();
  const queue = createInProcessQueue();
  return {
    content: storage.buckets.content,
    asking: queue,
    answering: queue,
    closeQueues: () => queue.close(),
    remove: storage.remove,
  };
}

/**
 * Runs every delivery server of this test file on real servers. Returns a function that lists the
 * keys in their buckets. Delivery servers that render must run one at a time, because they share a
 * queue of the broker.
 */
export function onRealServers(): () => Promise<string[]> {
  const { started, keys } = useRealServers(() => {
    open = openEmbedded;
  });
  open = () => openOnServers(started());
  return keys;
}

async function openOnServers({ broker, access, made }: RealServers): Promise<DeliveryStack> {
  const name = await createBucket(access, `delivery-${randomBytes(4).toString('hex')}`);
  made.push(name);
  const log = createLog({ level: 'silent', name: 'test' });
  const terms = { url: broker.url, log, calls_waiting_max: CALLS_WAITING_MAX };
  const [asking, answering] = [await createRabbitQueue(terms), await createRabbitQueue(terms)];
  return {
    content: createS3Bucket(access, name),
    asking,
    answering,
    closeQueues: async () => {
      await answering.close();
      await asking.close();
    },
    remove: () => undefined,
  };
}
