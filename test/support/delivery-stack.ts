/**
 * What a delivery server and its render worker share: a folder and a queue of this process, or, in a test file that
 * calls `onRealServers`, a bucket of versitygw and a connection to RabbitMQ each. Suites run unchanged on both.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { createLog } from '../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../runtime/platform/queue/in-process.ts';
import type { Queue } from '../../runtime/platform/queue/queue.ts';
import { createRabbitQueue } from '../../runtime/platform/queue/rabbitmq.ts';
import type { Bucket } from '../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../runtime/platform/storage/s3.ts';
import type { S3Access } from '../../runtime/platform/storage/s3-client.ts';
import { makeFolderBuckets } from './folder-buckets.ts';
import { type RabbitServer, startRabbitServer } from './rabbitmq-server.ts';
import { connectS3, createBucket, listKeys, type S3Server, startS3Server } from './s3-server.ts';

export type DeliveryStack = {
  content: Bucket;
  /** Of the delivery server. */
  asking: Queue;
  /** Of the worker. */
  answering: Queue;
  closeQueues(): Promise<void>;
  /** When nobody stores anything any more. */
  remove(): void;
};

export type StackKind = 'embedded' | 'servers';
type Stacks = { kind: StackKind; open(): Promise<DeliveryStack> };

/** As many calls as a test can wait for to see a full queue. */
export const CALLS_WAITING_MAX = 8;

let stacks: Stacks = { kind: 'embedded', open: openEmbedded };

export const stackKind = (): StackKind => stacks.kind;
export const openStack = (): Promise<DeliveryStack> => stacks.open();

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

type Servers = { s3: S3Server; rabbit: RabbitServer; access: S3Access; made: string[] };

/**
 * Every delivery server of this test file runs on real servers, one at a time of those that render: they share the
 * broker's queue. Returns the keys of what lies in their buckets.
 */
export function onRealServers(): () => Promise<string[]> {
  let servers: Servers | undefined;
  const started = () => {
    if (servers === undefined) throw new Error('the servers are there from beforeAll on');
    return servers;
  };
  stacks = { kind: 'servers', open: () => openOnServers(started()) };
  beforeAll(async () => {
    const s3 = await startS3Server();
    const rabbit = await startRabbitServer().catch(async (error: unknown) => {
      await s3.stop();
      throw error;
    });
    servers = { s3, rabbit, access: connectS3(s3), made: [] };
  });
  afterAll(async () => {
    stacks = { kind: 'embedded', open: openEmbedded };
    servers?.access.client.destroy();
    await Promise.all([servers?.s3.stop(), servers?.rabbit.stop()]);
  });
  return async () => {
    const { access, made } = started();
    return (await Promise.all(made.map((name) => listKeys(access, name)))).flat();
  };
}

async function openOnServers({ rabbit, access, made }: Servers): Promise<DeliveryStack> {
  const name = await createBucket(access, `delivery-${randomBytes(4).toString('hex')}`);
  made.push(name);
  const log = createLog({ level: 'silent', name: 'test' });
  const terms = { url: rabbit.url, log, calls_waiting_max: CALLS_WAITING_MAX };
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
